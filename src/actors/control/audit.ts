/**
 * The audit trail: who changed what, when, and what came of it. Every route that changes something goes through
 * `audited`. Entries are bounded, whatever a request holds; inputs of runs are not in them.
 */
import { toErrorData } from '../kernel/index.ts';
import type { AuditEntry } from '../records.ts';
import { type AuditDocument, auditDocument } from './documents.ts';
import type { RouteContext, RouteRequest } from './route.ts';

type Fields = AuditEntry['fields'];

/** Characters kept of one text. */
const TEXT_LIMIT = 500;
/** Elements kept of one list. */
export const LIST_LIMIT = 20;
/** Entries that are looked through for those about one run. */
export const TRAIL_SEARCHED = 1000;
/** Of them, shown. */
const SHOWN_OF_RUN = 20;

export interface Deed {
  readonly action: string;
  /** Task or run, or the file of a backup; null: none, or several. */
  readonly target: string | null;
  readonly fields: Fields;
}

/**
 * Does the work and writes down what came of it, not what was asked for: a refused command has done nothing. The time
 * is that of the request.
 */
export async function audited<T>(
  by: { readonly request: RouteRequest; readonly context: RouteContext; readonly deed: Deed },
  work: () => Promise<T>,
  outcome: (answer: T) => Fields = () => ({}),
): Promise<T> {
  const { request, context, deed } = by;
  const atMs = context.wallMs();
  const write = (came: Fields): Promise<void> =>
    context.audit({
      atMs,
      actor: request.user,
      action: deed.action,
      target: deed.target === null ? null : deed.target.slice(0, TEXT_LIMIT),
      fields: bounded({ ...deed.fields, ...came }),
    });
  let answer: T;
  try {
    answer = await work();
  } catch (error) {
    await write({ answer: 'refused', code: toErrorData(error, 'internal').code });
    throw error;
  }
  await write({ answer: 'accepted', ...outcome(answer) });
  return answer;
}

/** What has been done with a run, oldest first, as far as the last `TRAIL_SEARCHED` entries tell. */
export async function deedsOn(run: string, store: RouteContext['store']): Promise<readonly AuditDocument[]> {
  // A run is shown also where the trail cannot be read.
  const entries = await store.ask('audit-list', { limit: TRAIL_SEARCHED }).catch(() => []);
  return entries
    .filter((entry) => entry.fields.answer === 'accepted' && isAbout(entry, run))
    .slice(0, SHOWN_OF_RUN)
    .reverse()
    .map(auditDocument);
}

function isAbout({ target, fields }: AuditEntry, run: string): boolean {
  const lists = [fields.runs, fields.made].filter((list) => Array.isArray(list));
  return target === run || fields.run === run || lists.some((list) => list.includes(run));
}

/** Null says nothing, and is left out. */
function bounded(fields: Fields): Fields {
  const kept = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, boundedValue(value)]));
}

function boundedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, TEXT_LIMIT);
  if (!Array.isArray(value)) return value;
  const first = value.slice(0, LIST_LIMIT).map(boundedValue);
  return value.length <= LIST_LIMIT ? first : [...first, `… and ${value.length - LIST_LIMIT} more`];
}
