/** Routes about what is kept: a copy of it, and the trail of commands. */
import { audited } from './audit.ts';
import { auditDocument } from './documents.ts';
import { parseAuditLimit, parseBackup } from './requests.ts';
import type { Route, RouteContext, RouteRequest } from './route.ts';

export const STORE_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/backup', answer: backup },
  {
    method: 'GET',
    path: '/audit',
    async answer({ query }, { store }) {
      const entries = await store.ask('audit-list', { limit: parseAuditLimit(query) });
      return { audit: entries.map(auditDocument) };
    },
  },
];

/** Takes as long as the disks do. */
async function backup(request: RouteRequest, context: RouteContext): Promise<unknown> {
  const file = parseBackup(request.body);
  const deed = { action: 'backup', target: file, fields: { file } };
  return audited(
    { request, context, deed },
    async () => ({ file, bytes: (await context.store.ask('backup', { file }, { timeoutMs: null })).bytes }),
    ({ bytes }) => ({ bytes }),
  );
}
