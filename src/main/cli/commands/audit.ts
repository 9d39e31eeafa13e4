import { type AuditDocument, MAX_LIMIT } from '../../../actors/control/index.ts';
import { type Command, listOptions } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { auditList } from '../render/audit.ts';

export const auditCommand: Command = {
  name: 'audit',
  summary: 'list the commands that changed something: who, when, what came of it',
  usage: '[--limit N]',
  about:
    'Each command that changes something, with its user, its time, and whether it was accepted or refused. The user is ' +
    'what the client says of itself: who may open the control socket may say anything.',
  flags: [
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
    ['colibri audit -n 10', 'the last ten'],
    [`colibri audit --json | jq '.audit[] | select(.action == "dead purge")'`, 'who purged dead letters'],
  ],
  async run(context) {
    const query = { limit: context.args.text('limit') };
    const document = (await (await context.client()).get('/audit', query)) as {
      readonly audit: readonly AuditDocument[];
    };
    context.show(document, ({ audit }) => auditList(audit, listOptions(context)));
    return ExitCode.Done;
  },
};
