import { type DeadLetterDocument, MAX_LIMIT } from '../../../actors/control/index.ts';
import { didYouMean } from '../../../actors/kernel/index.ts';
import { type ParsedArgs, usage } from '../args.ts';
import { type Command, type CommandContext, listOptions } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { deadLetterList } from '../render/lists.ts';
import { oneLine } from '../render/text.ts';

const ACTIONS = ['list', 'replay', 'purge'] as const;
type Action = (typeof ACTIONS)[number];

export const deadCommand: Command = {
  name: 'dead',
  summary: 'list, replay or purge dead letters: runs that failed for good',
  usage: 'list|replay|purge [RUN… | --task TASK | --all]',
  about:
    'replay makes a new run of each chosen dead letter with the same input; purge forgets them. Both say how many, and ' +
    'both want to be told which: run ids, a task, or --all.',
  flags: [
    { name: 'task', value: 'TASK', summary: 'those of this task' },
    { name: 'all', summary: 'all of them' },
    {
      name: 'limit',
      short: 'n',
      value: 'N',
      summary: 'list: at most so many (default 50)',
      range: [1, MAX_LIMIT],
    },
  ],
  positionals: { name: 'list, replay or purge', min: 1, max: Number.POSITIVE_INFINITY },
  examples: [
    ['colibri dead list', 'what waits for a decision'],
    ['colibri dead replay --task import', 'try all of one task again'],
    ['colibri dead purge --all', 'forget them'],
  ],
  async run(context) {
    const [given = '', ...runs] = context.args.positionals;
    const action = ACTIONS.find((name) => name === given);
    if (action === undefined) {
      throw usage(
        `expected list, replay or purge, got ${JSON.stringify(given)}${didYouMean(given, ACTIONS)}`,
      );
    }
    return action === 'list' ? list(context, runs) : change(context, action, runs);
  },
};

async function list(context: CommandContext, runs: readonly string[]): Promise<number> {
  if (runs.length > 0) throw usage('dead list: expected no run ids; `colibri show RUN` shows one');
  const query = { task: context.args.text('task'), limit: context.args.text('limit') };
  const client = await context.client();
  const document = (await client.get('/dead', query)) as { dead_letters: readonly DeadLetterDocument[] };
  context.show(document, ({ dead_letters }) => deadLetterList(dead_letters, listOptions(context)));
  return ExitCode.Done;
}

async function change(context: CommandContext, action: Action, runs: readonly string[]): Promise<number> {
  const body = choiceOf(context.args, action, runs);
  const client = await context.client();
  if (action === 'purge') {
    const document = (await client.post('/dead/purge', { body })) as Changed & { purged: number };
    context.show(document, ({ purged }) => `${purged} purged\n`);
    return tellUnknown(context, document) ? ExitCode.Failed : ExitCode.Done;
  }
  const document = (await client.post('/dead/replay', { body })) as Changed & {
    runs: readonly string[];
    refused: number;
  };
  context.show(document, () => {
    const refused =
      document.refused === 0 ? '' : `, ${document.refused} refused: no room, they stay dead letters`;
    return `${document.runs.length} replayed${refused}\n`;
  });
  const unknown = tellUnknown(context, document);
  return unknown || document.refused > 0 ? ExitCode.Failed : ExitCode.Done;
}

interface Changed {
  /** Ids of the request that are no dead letters. */
  readonly unknown: readonly string[];
}

/** With `--json` the document says it. */
function tellUnknown({ io, json }: CommandContext, { unknown }: Changed): boolean {
  if (unknown.length === 0) return false;
  const ids = unknown.map((run) => oneLine(JSON.stringify(run))).join(', ');
  if (!json) {
    io.stderr.write(
      `colibri: expected ids of dead letters, got ${ids}, which are none; \`colibri dead list\` lists them\n`,
    );
  }
  return true;
}

function choiceOf(args: ParsedArgs, action: Action, runs: readonly string[]): unknown {
  const task = args.text('task');
  const given = [runs.length > 0, task !== null, args.on('all')].filter(Boolean).length;
  if (given !== 1)
    throw usage(`dead ${action}: expected run ids, --task TASK or --all, got ${given} of them`);
  if (task !== null) return { task };
  return args.on('all') ? { all: true } : { runs };
}
