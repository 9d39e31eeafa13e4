import type { ShownRunDocument } from '../../../actors/control/index.ts';
import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { runDetails } from '../render/run.ts';

export const showCommand: Command = {
  name: 'show',
  summary: 'show all that is known of one run',
  usage: 'RUN',
  about:
    'State, times, input, result, error and the last attempts of the run; its progress while it is running; who triggered, ' +
    'cancelled or replayed it, as far as the audit trail reaches.',
  flags: [],
  positionals: { name: 'RUN', min: 1, max: 1 },
  examples: [
    ['colibri show RUN', 'an id as `colibri runs` lists it'],
    ['colibri show RUN --json | jq .result', 'its result'],
  ],
  async run(context) {
    const path = `/runs/${encodeURIComponent(context.args.positionals[0]!)}`;
    const document = (await (await context.client()).get(path, { commands: 'true' })) as ShownRunDocument;
    context.show(document, (run) => runDetails(run, { paint: context.paint, isTTY: context.io.isTTY }));
    return ExitCode.Done;
  },
};
