/** Checks of what reaches the store from other threads: cheap, by hand, on the fields that are relied on. */
import type { StoreMessages } from '../protocol.ts';

export const storeChecks: { readonly [K in keyof StoreMessages]?: (body: unknown) => boolean } = {
  open: (body) => isObject(body) && typeof body.boot === 'string' && typeof body.kept === 'number',
  record: isRecord,
  list: (body) => isObject(body) && isName(body.task) && isName(body.state) && isLimit(body.limit),
  show: (body) => isObject(body) && typeof body.run === 'string',
  'audit-list': (body) => isObject(body) && isLimit(body.limit),
  delayed: (body) =>
    isObject(body) &&
    isObject(body.after) &&
    typeof body.after.dueAtMs === 'number' &&
    typeof body.after.position === 'number',
  'delayed-run': (body) => isObject(body) && typeof body.run === 'string',
  'flow-steps': (body) => isObject(body) && areTexts(body.flows) && typeof body.after === 'number',
  results: (body) =>
    isObject(body) &&
    areTexts(body.runs) &&
    (body.mostLength === undefined || typeof body.mostLength === 'number'),
  'kept-results': (body) => isObject(body) && areTexts(body.runs),
  'result-part': (body) => isObject(body) && typeof body.file === 'string' && Array.isArray(body.path),
  'judge-result': (body) => isObject(body) && typeof body.file === 'string' && isObject(body.expectation),
  audit: (body) =>
    isObject(body) &&
    typeof body.atMs === 'number' &&
    typeof body.actor === 'string' &&
    typeof body.action === 'string' &&
    isObject(body.fields),
  backup: (body) => isObject(body) && typeof body.file === 'string',
};

function isRecord(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { first, events, dropped } = body;
  return Number.isSafeInteger(first) && Array.isArray(events) && events.every(isEvent) && areTexts(dropped);
}

/** Null: any. */
function isName(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

/** SQLite takes no other number for a limit, and a negative one for none. */
function isLimit(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isEvent(event: unknown): boolean {
  if (!isObject(event)) return false;
  const { run, task, state, attempt, atMs } = event;
  return (
    typeof run === 'string' &&
    typeof task === 'string' &&
    typeof state === 'string' &&
    typeof attempt === 'number' &&
    typeof atMs === 'number'
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
