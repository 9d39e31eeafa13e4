import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';

export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'cancel a run that waits or is running',
  usage: 'RUN',
  about:
    'A waiting run is taken out of its queue. A running one is told to stop, and after a short grace is ended by force. ' +
    'Prints `told to stop` for it, and for a waiting run the state that it is in now.',
  flags: [],
  positionals: { name: 'RUN', min: 1, max: 1 },
  examples: [['colibri cancel RUN', 'an id as `colibri runs` lists it']],
  async run(context) {
    const path = `/runs/${encodeURIComponent(context.args.positionals[0]!)}/cancel`;
    const document = (await (await context.client()).post(path)) as { run: string; state: string };
    context.show(document, ({ state }) => `${state === 'running' ? 'told to stop' : state}\n`);
    return ExitCode.Done;
  },
};
