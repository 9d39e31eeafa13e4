/**
 * The routes of the control socket: each asks the actor that knows and answers with a document. No state here.
 *
 *   GET  /version  /status  /size  /tasks  /runs?task&state&limit  /runs/ID?commands&wait  /dead?task&since&until&limit
 *        /audit?limit
 *   POST /trigger {task, payload?, wait?, force?}  /runs/ID/cancel  /dead/replay  /dead/purge {runs|task|since|until|all}
 *        /backup {file}  /reload  /stop
 */
import { assertNever, ColibriError } from '../kernel/index.ts';
import type { ConfigProblem } from '../protocol.ts';
import { audited } from './audit.ts';
import { DEAD_ROUTES } from './dead-routes.ts';
import { statusDocument, taskDocument } from './documents.ts';
import { FLOW_ROUTES } from './flow-routes.ts';
import type { Route, RouteContext } from './route.ts';
import { RUN_ROUTES } from './run-routes.ts';
import { sizeDocument } from './size-document.ts';
import { STORE_ROUTES } from './store-routes.ts';

export const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/version',
    async answer(_request, { runs }) {
      const view = await runs.ask('view', null);
      return { version: view.version, pid: view.pid, config_version: view.configVersion };
    },
  },
  {
    method: 'GET',
    path: '/status',
    answer: async (_request, { runs, wallMs }) => statusDocument(await runs.ask('view', null), wallMs()),
  },
  {
    method: 'GET',
    path: '/size',
    answer: async (_request, { runs }) => sizeDocument(await runs.ask('size', null)),
  },
  {
    method: 'GET',
    path: '/tasks',
    answer: async (_request, { runs }) => ({ tasks: (await runs.ask('view', null)).tasks.map(taskDocument) }),
  },
  ...RUN_ROUTES,
  ...FLOW_ROUTES,
  ...DEAD_ROUTES,
  ...STORE_ROUTES,
  {
    method: 'POST',
    path: '/reload',
    answer(request, context) {
      const deed = { action: 'reload', target: null, fields: {} };
      return audited({ request, context, deed }, () => reload(context));
    },
  },
  {
    method: 'POST',
    path: '/stop',
    answer(request, context) {
      const deed = { action: 'stop', target: null, fields: {} };
      return audited({ request, context, deed }, async () => {
        context.onStop();
        return { stopping: true };
      });
    },
  },
];

/** As long as a large file may take to be read and checked beside everything else. */
const RELOAD_MS = 60_000;

/** The config has problems; the document names each with its place. */
export class ConfigRefused extends ColibriError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(
      'config-invalid',
      `expected a config without problems, got ${problems.length}; nothing has changed`,
    );
    this.problems = problems;
  }
}

async function reload({ runs }: RouteContext): Promise<unknown> {
  const reply = await runs.ask('reload', null, { timeoutMs: RELOAD_MS });
  switch (reply.outcome) {
    case 'unchanged':
      return { changed: false, config_version: reply.version, tasks: reply.tasks };
    case 'taken-up': {
      const { version, tasks, changes, more } = reply;
      return { changed: true, config_version: version, tasks, changes, more };
    }
    case 'invalid':
      throw new ConfigRefused(reply.problems);
    case 'differs': {
      const more = reply.more === 0 ? '' : ` and ${reply.more} more`;
      throw new ColibriError(
        'restart-needed',
        `expected the config in use, got another one: ${reply.changes.join(', ')}${more}; nothing has changed, restart the daemon to take it up`,
      );
    }
    default:
      return assertNever(reply, 'outcome of a reload');
  }
}
