/**
 * The routes of the control socket: each asks the actor that knows and answers with a document. No state here.
 *
 *   GET  /version  /status  /size  /tasks  /runs?task&state&limit  /runs/ID  /dead?task&limit
 *   POST /trigger {task, payload?, wait?, force?}  /runs/ID/cancel  /dead/replay  /dead/purge {runs|task|all}
 *        /reload  /stop
 */
import { type ActorRef, assertNever, ColibriError, didYouMean, toErrorData } from '../kernel/index.ts';
import type { ConfigProblem, DeadLetterChoice, RunsMessages, RunView, StoreMessages } from '../protocol.ts';
import { deadLetterDocument, runDocument, statusDocument, taskDocument } from './documents.ts';
import { parseDeadChoice, parseDeadFilter, parseRunFilter, parseTrigger } from './requests.ts';
import { sizeDocument } from './size-document.ts';

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
    path: '/size',
    answer: async (_request, { runs }) => sizeDocument(await runs.ask('size', null)),
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
    answer: ({ run }, context) => audited(context, 'cancel', { run }, () => cancel(run, context)),
  },
  { method: 'POST', path: '/trigger', answer: trigger },
  {
    method: 'GET',
    path: '/dead',
    async answer({ query }, { runs }) {
      const filter = parseDeadFilter(query);
      const letters = await runs.ask('dead-list', filter);
      if (letters.length === 0) await expectTask(filter.task, runs);
      return { dead_letters: letters.map(deadLetterDocument) };
    },
  },
  {
    method: 'POST',
    path: '/dead/replay',
    answer({ body }, context) {
      const choice = parseDeadChoice(body);
      return audited(
        context,
        'dead replay',
        { ...choice },
        () => replay(choice, context),
        ({ runs, refused, unknown }) => ({ replayed: runs.length, refused, unknown }),
      );
    },
  },
  {
    method: 'POST',
    path: '/dead/purge',
    answer({ body }, context) {
      const choice = parseDeadChoice(body);
      return audited(
        context,
        'dead purge',
        { ...choice },
        () => purge(choice, context),
        ({ purged, unknown }) => ({ purged, unknown }),
      );
    },
  },
  { method: 'POST', path: '/reload', answer: reload },
  {
    method: 'POST',
    path: '/stop',
    answer: (_request, context) =>
      audited(context, 'stop', {}, async () => {
        context.onStop();
        return { stopping: true };
      }),
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
  if (merged.length === 0) await expectTask(filter.task, runs);
  return { runs: merged.slice(0, filter.limit).map(runDocument) };
}

async function showRun({ run }: RouteRequest, { runs, store }: RouteContext): Promise<unknown> {
  // A run that ends between the two questions has left the first for the second.
  const view = (await runs.ask('show-live', { run })) ?? (await store.ask('show', { run }));
  if (view === null) throw unknownRun(run);
  return runDocument(view);
}

async function cancel(run: string, { runs, store }: RouteContext): Promise<unknown> {
  try {
    return { run, state: (await runs.ask('cancel', { run })).state };
  } catch (error) {
    if (!(error instanceof ColibriError) || error.code !== 'no-such-run') throw error;
    const ended = await store.ask('show', { run });
    if (ended === null) throw unknownRun(run);
    const got = `${JSON.stringify(run)}, which is over (${ended.state})`;
    throw new ColibriError('no-such-run', `expected a run that is not over, got ${got}`);
  }
}

function unknownRun(run: string): ColibriError {
  return new ColibriError(
    'no-such-run',
    `expected the id of a known run, got ${JSON.stringify(run)}; \`colibri runs\` lists the last ones`,
  );
}

interface Replayed {
  /** The new ids. */
  readonly runs: readonly string[];
  readonly refused: number;
  /** Given ids that are no dead letters. */
  readonly unknown: readonly string[];
}

interface Purged {
  readonly purged: number;
  readonly unknown: readonly string[];
}

/** Named runs are asked about one by one: only so does the answer say which of them are no dead letters. */
async function replay(choice: DeadLetterChoice, { runs }: RouteContext): Promise<Replayed> {
  if (choice.runs === null) {
    const reply = await runs.ask('dead-replay', choice);
    if (reply.runs.length + reply.refused === 0) await expectTask(choice.task, runs);
    return { ...reply, unknown: [] };
  }
  const sum = { runs: [] as string[], refused: 0, unknown: [] as string[] };
  for (const run of new Set(choice.runs)) {
    const reply = await runs.ask('dead-replay', { runs: [run], task: null });
    sum.runs.push(...reply.runs);
    sum.refused += reply.refused;
    if (reply.runs.length + reply.refused === 0) sum.unknown.push(run);
  }
  return sum;
}

async function purge(choice: DeadLetterChoice, { runs }: RouteContext): Promise<Purged> {
  if (choice.runs === null) {
    const { purged } = await runs.ask('dead-purge', choice);
    if (purged === 0) await expectTask(choice.task, runs);
    return { purged, unknown: [] };
  }
  const sum = { purged: 0, unknown: [] as string[] };
  for (const run of new Set(choice.runs)) {
    const { purged } = await runs.ask('dead-purge', { runs: [run], task: null });
    sum.purged += purged;
    if (purged === 0) sum.unknown.push(run);
  }
  return sum;
}

/**
 * For a question about a task that found nothing. What is found is shown whatever its task: it may have left
 * the config since.
 */
async function expectTask(task: string | null, runs: RouteContext['runs']): Promise<void> {
  if (task === null) return;
  const names = (await runs.ask('view', null)).tasks.map(({ name }) => name);
  if (!names.includes(task)) throw unknownTask(task, names);
}

function unknownTask(task: string, names: readonly string[]): ColibriError {
  const remedy = didYouMean(task, names) || '; `colibri tasks` lists them';
  return new ColibriError(
    'no-such-task',
    `expected the name of a task in the config, got ${JSON.stringify(task)}${remedy}`,
  );
}

/** Writes down what came of it, not what was asked for: a refused command has done nothing. */
async function audited<T>(
  { audit }: RouteContext,
  command: string,
  fields: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
  outcome: (answer: T) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<T> {
  try {
    const answer = await work();
    audit(command, { ...fields, answer: 'accepted', ...outcome(answer) });
    return answer;
  } catch (error) {
    audit(command, { ...fields, answer: 'refused', code: toErrorData(error, 'internal').code });
    throw error;
  }
}

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

/** The daemon writes down itself what came of it. */
async function reload(_request: RouteRequest, { runs }: RouteContext): Promise<unknown> {
  const reply = await runs.ask('reload', null, { timeoutMs: RELOAD_MS });
  switch (reply.outcome) {
    case 'unchanged':
      return { changed: false, config_version: reply.version, tasks: reply.tasks };
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

/** Who waits, waits as long as the run takes; and a full queue that blocks holds the answer back until it is accepted. */
async function trigger({ body }: RouteRequest, context: RouteContext): Promise<unknown> {
  const request = parseTrigger(body);
  const { task, force } = request;
  return audited(context, 'trigger', { task, force }, async () => {
    try {
      const { run, ended } = await context.runs.ask('trigger', request, { timeoutMs: null });
      return { run, ended: ended === null ? null : runDocument(ended) };
    } catch (error) {
      if (error instanceof ColibriError && error.code === 'no-such-task')
        await expectTask(task, context.runs);
      throw error;
    }
  });
}
