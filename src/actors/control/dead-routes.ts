/** Routes about dead letters: list, replay, purge. */
import type { DeadLetterChoice } from '../protocol.ts';
import { audited, type Deed } from './audit.ts';
import { deadLetterDocument } from './documents.ts';
import { expectTask } from './not-found.ts';
import { parseDeadChoice, parseDeadFilter } from './requests.ts';
import type { Route, RouteContext } from './route.ts';

export const DEAD_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/dead',
    async answer({ query }, { runs, wallMs }) {
      const filter = parseDeadFilter(query, wallMs());
      const letters = await runs.ask('dead-list', filter);
      if (letters.length === 0) await expectTask(filter.task, runs);
      return { dead_letters: letters.map(deadLetterDocument) };
    },
  },
  {
    method: 'POST',
    path: '/dead/replay',
    answer(request, context) {
      const choice = parseDeadChoice(request.body, context.wallMs());
      return audited(
        { request, context, deed: deedOf('dead replay', choice) },
        () => replay(choice, context),
        ({ runs, refused, unknown }) => ({ replayed: runs.length, refused, unknown, made: runs }),
      );
    },
  },
  {
    method: 'POST',
    path: '/dead/purge',
    answer(request, context) {
      const choice = parseDeadChoice(request.body, context.wallMs());
      return audited(
        { request, context, deed: deedOf('dead purge', choice) },
        () => purge(choice, context),
        ({ purged, unknown }) => ({ purged, unknown }),
      );
    },
  },
];

function deedOf(action: string, { runs, task, sinceMs, untilMs }: DeadLetterChoice): Deed {
  const single = runs?.length === 1 ? (runs[0] ?? null) : null;
  const iso = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());
  return { action, target: task ?? single, fields: { runs, task, since: iso(sinceMs), until: iso(untilMs) } };
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
    const reply = await runs.ask('dead-replay', { ...choice, runs: [run] });
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
    const { purged } = await runs.ask('dead-purge', { ...choice, runs: [run] });
    sum.purged += purged;
    if (purged === 0) sum.unknown.push(run);
  }
  return sum;
}
