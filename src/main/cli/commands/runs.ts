import { MAX_LIMIT, type RunDocument } from '../../../actors/control/index.ts';
import { didYouMean } from '../../../actors/kernel/index.ts';
import { RUN_STATES } from '../../../actors/runs/run-states.ts';
import { usage } from '../args.ts';
import { type Command, listOptions } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { runList } from '../render/lists.ts';

export const runsCommand: Command = {
  name: 'runs',
  summary: 'list runs, the newest first',
  usage: '[--task TASK] [--state STATE] [--limit N]',
  about: `Live runs and those that ended. States: ${RUN_STATES.join(', ')}.`,
  flags: [
    { name: 'task', value: 'TASK', summary: 'only of this task' },
    { name: 'state', value: 'STATE', summary: 'only in this state' },
    {
      name: 'limit',
      short: 'n',
      value: 'N',
      summary: `at most so many (default 50, at most ${MAX_LIMIT})`,
      range: [1, MAX_LIMIT],
    },
  ],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri runs --state failed', 'what went wrong'],
    ['colibri runs --task backup -n 5', 'the last five backups'],
  ],
  async run(context) {
    const state = context.args.text('state');
    if (state !== null && !(RUN_STATES as readonly string[]).includes(state)) {
      throw usage(
        `--state: expected one of ${RUN_STATES.join(', ')}, got ${JSON.stringify(state)}${didYouMean(state, RUN_STATES)}`,
      );
    }
    const query = { task: context.args.text('task'), state, limit: context.args.text('limit') };
    const document = (await (await context.client()).get('/runs', query)) as { runs: readonly RunDocument[] };
    context.show(document, ({ runs }) => runList(runs, listOptions(context)));
    return ExitCode.Done;
  },
};
