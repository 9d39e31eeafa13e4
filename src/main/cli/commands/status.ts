import type { StatusDocument } from '../../../actors/control/index.ts';
import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { statusText } from '../render/status.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'show the daemon at a glance: queues, pools, memory, dead letters',
  usage: '',
  about: 'Exit code 0 says that a daemon answers, 69 that none does.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri status', 'for a person'],
    ['colibri status --json | jq .memory.rss', 'for a script'],
  ],
  async run(context) {
    const document = (await (await context.client()).get('/status')) as StatusDocument;
    const { isTTY, columns } = context.io;
    context.show(document, (status) => statusText(status, { isTTY, columns, paint: context.paint }));
    return ExitCode.Done;
  },
};
