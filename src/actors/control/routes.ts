/**
 * The routes of the control socket: each asks the actor that knows and answers with a document. No state here.
 *
 *   GET  /version  /status  /tasks  /runs?task&state&limit  /runs/ID  /dead?task&limit
 *   POST /trigger {task, payload?, wait?, force?}  /runs/ID/cancel  /dead/replay  /dead/purge {runs|task|all}  /stop
 */
import { type ActorRef, ColibriError } from '../kernel/index.ts';
import type { RunsMessages, RunView, StoreMessages } from '../protocol.ts';
import { deadLetterDocument, runDocument, statusDocument, taskDocument } from './documents.ts';
import { parseDeadChoice, parseDeadFilter, parseRunFilter, parseTrigger } from './requests.ts';

/** Whom the routes ask, and the seats of what they cannot do themselves. */
export interface RouteContext {
  readonly runs: ActorRef<RunsMessages>;
  readonly store: ActorRef<StoreMessages>;
  readonly wallMs: () => number;
  /** Begins the orderly stop of the daemon; returns at once. */
  readonly onStop: () => void;
  /** Writes down what a user has done. */
  readonly audit: (command: string, fields: Readonly<Record<string, unknown>>) => void;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** `:run` stands for one segment. */
  readonly path: string;
  readonly answer: (request: RouteRequest, context: RouteContext) => Promise<unknown>;
}

export interface RouteRequest {
  readonly query: URLSearchParams;
  /** Of the path; empty where it has none. */
  readonly run: string;
  /** Parsed JSON; null for a GET or an empty body. */
  readonly body: unknown;
}

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
    path: '/tasks',
    answer: async (_request, { runs }) => ({ tasks: (await runs.ask('view', null)).tasks.map(taskDocument) }),
  },
  { method: 'GET', path: '/runs', answer: listRuns },
  { method: 'GET', path: '/runs/:run', answer: showRun },
  {
    method: 'POST',
    path: '/runs/:run/cancel',
    async answer({ run }, { runs, audit }) {
      audit('cancel', { run });
      return { run, state: (await runs.ask('cancel', { run })).state };
    },
  },
  { method: 'POST', path: '/trigger', answer: trigger },
  {
    method: 'GET',
    path: '/dead',
    async answer({ query }, { runs }) {
      const letters = await runs.ask('dead-list', parseDeadFilter(query));
      return { dead_letters: letters.map(deadLetterDocument) };
    },
  },
  {
    method: 'POST',
    path: '/dead/replay',
    async answer({ body }, { runs, audit }) {
      const choice = parseDeadChoice(body);
      audit('dead replay', { ...choice });
      return runs.ask('dead-replay', choice);
    },
  },
  {
    method: 'POST',
    path: '/dead/purge',
    async answer({ body }, { runs, audit }) {
      const choice = parseDeadChoice(body);
      audit('dead purge', { ...choice });
      return runs.ask('dead-purge', choice);
    },
  },
  {
    method: 'POST',
    path: '/stop',
    async answer(_request, { onStop, audit }) {
      audit('stop', {});
      onStop();
      return { stopping: true };
    },
  },
];

/** Live runs from their owner, ended ones from the store; a run that both know is live. Newest first. */
async function listRuns({ query }: RouteRequest, { runs, store }: RouteContext): Promise<unknown> {
  const filter = parseRunFilter(query);
  const [live, ended] = await Promise.all([runs.ask('live', filter), store.ask('list', filter)]);
  const byId = new Map<string, RunView>();
  for (const view of ended) byId.set(view.run, view);
  for (const view of live) byId.set(view.run, view);
  const merged = [...byId.values()].sort((a, b) => b.createdAtMs - a.createdAtMs || (a.run < b.run ? -1 : 1));
  return { runs: merged.slice(0, filter.limit).map(runDocument) };
}

async function showRun({ run }: RouteRequest, { runs, store }: RouteContext): Promise<unknown> {
  // A run that ends between the two questions has left the first for the second.
  const view = (await runs.ask('show-live', { run })) ?? (await store.ask('show', { run }));
  if (view === null) {
    throw new ColibriError(
      'no-such-run',
      `expected the id of a known run, got ${JSON.stringify(run)}; \`colibri runs\` lists the last ones`,
    );
  }
  return runDocument(view);
}

async function trigger({ body }: RouteRequest, { runs, audit }: RouteContext): Promise<unknown> {
  const request = parseTrigger(body);
  audit('trigger', { task: request.task, force: request.force });
  // Who waits, waits as long as the run takes; and a full queue that blocks holds the answer back until it is accepted.
  const reply = await runs.ask('trigger', request, { timeoutMs: null });
  return { run: reply.run, ended: reply.ended === null ? null : runDocument(reply.ended) };
}
