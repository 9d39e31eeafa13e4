import { type SizeDocument, sizeDocument } from '../../../actors/control/index.ts';
import { ColibriError } from '../../../actors/kernel/index.ts';
import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { sizeText } from '../render/size.ts';

export const sizeCommand: Command = {
  name: 'size',
  summary: 'show who holds memory, what each may hold, and how sizes follow from rates',
  usage: '',
  about:
    'The memory ledger: the bound of each queue, buffer and thread beside what it holds, and their sums beside the ' +
    'budget; the capacity of the ready queue from rates, the slots of the io pool from times, with what was measured in ' +
    'the last minute. Without a daemon: the bounds alone, from the config.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri size', 'for a person'],
    [`colibri size --json | jq '.rows[] | {name, bound_bytes, measured_bytes}'`, 'for a script'],
  ],
  async run(context) {
    const { deps, io, paint } = context;
    const file = await context.configFile();
    const { config } = await deps.loadConfig(file);
    let document: SizeDocument;
    try {
      document = (await context.clientAt(config.stateDir).get('/size')) as SizeDocument;
    } catch (error) {
      if (!(error instanceof ColibriError) || error.code !== 'no-daemon') throw error;
      document = sizeDocument(await deps.sizeOf(config));
    }
    context.show(document, (size) => sizeText(size, { file, isTTY: io.isTTY, columns: io.columns, paint }));
    return ExitCode.Done;
  },
};
