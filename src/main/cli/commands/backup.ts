import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { oneLine } from '../render/text.ts';
import { byteText } from '../render/time.ts';

interface BackedUp {
  readonly file: string;
  readonly bytes: number;
}

export const backupCommand: Command = {
  name: 'backup',
  summary: 'copy the journal while the daemon goes on',
  usage: 'FILE',
  about:
    'Writes a consistent copy of all that is kept: runs, dead letters, schedules, the audit trail. Work goes on meanwhile. ' +
    'FILE must not exist, its folder must, and the user of the daemon must be able to write there. To go back to a copy, ' +
    'stop the daemon and put it in the place of `journal.db` in the state directory, with no `journal.db-wal` or ' +
    '`journal.db-shm` beside it. With `store.kind` memory there is nothing to copy.',
  flags: [],
  positionals: { name: 'FILE', min: 1, max: 1 },
  examples: [
    ['colibri backup /var/backups/colibri.db', 'a copy of now'],
    ['colibri backup "colibri-$(date +%F).db" --json', 'for a script: { file, bytes }'],
  ],
  async run(context) {
    // The daemon has a working directory of its own.
    const file = resolve(context.io.cwd, context.args.positionals[0]!);
    const client = await context.client();
    const document = (await client.post('/backup', { body: { file }, timeoutMs: null })) as BackedUp;
    context.show(document, ({ bytes }) => `copied to ${oneLine(file)}, ${byteText(bytes)}\n`);
    return ExitCode.Done;
  },
};
