/**
 * What comes in at the control socket, checked: query parameters, JSON bodies, the name of the user. Unknown keys are
 * refused, so that a misspelt `"tsak"` never means "all".
 */
import { isAbsolute } from 'node:path';
import { ColibriError } from '../kernel/index.ts';
import { MAX_DELAY_MS, parseInstant } from '../kernel/parse-time.ts';
import type { DeadLetterChoice, DeadLetterFilter, RerunChoice, RunFilter, TriggerBody } from '../protocol.ts';
import { RUN_STATES, type RunState } from '../runs/run-states.ts';
import { MOMENT_FORM, parseMoment } from './moment.ts';

export const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 50;
/** A path of Linux, with its end. */
const MAX_PATH_BYTES = 4096;

/** Carries who asks, as the client says: `name (uid)`. The socket lets in one user only: it is a note, and no proof. */
export const USER_HEADER = 'x-colibri-user';
export const MAX_USER_LENGTH = 100;
/** Of a client that does not say. */
const UNKNOWN_USER = 'unknown';

export function parseRunFilter(query: URLSearchParams): RunFilter {
  allowOnly([...query.keys()], ['task', 'state', 'limit'], 'query');
  const state = query.get('state');
  if (state !== null && !isRunState(state)) {
    throw invalid(`state: expected one of ${RUN_STATES.join(', ')}, got ${JSON.stringify(state)}`);
  }
  return { task: query.get('task'), state, limit: parseLimit(query) };
}

export interface ShowQuery {
  /** The commands that it was given are wanted too. */
  readonly commands: boolean;
  /** The answer is to come when the run is over. */
  readonly wait: boolean;
}

export function parseShow(query: URLSearchParams): ShowQuery {
  allowOnly([...query.keys()], ['commands', 'wait'], 'query');
  const isOn = (key: keyof ShowQuery): boolean => {
    const value = query.get(key);
    if (value !== null && value !== 'true') throw invalid(`${key}: expected true, got ${shown(value)}`);
    return value !== null;
  };
  return { commands: isOn('commands'), wait: isOn('wait') };
}

export function parseDeadFilter(query: URLSearchParams, nowMs: number): DeadLetterFilter {
  allowOnly([...query.keys()], ['task', 'since', 'until', 'limit'], 'query');
  const range = parseRange(query.get('since') ?? undefined, query.get('until') ?? undefined, nowMs);
  return { task: query.get('task'), ...range, limit: parseLimit(query) };
}

export function parseAuditLimit(query: URLSearchParams): number {
  allowOnly([...query.keys()], ['limit'], 'query');
  return parseLimit(query);
}

/** Absolute: the daemon has a working directory of its own. */
export function parseBackup(body: unknown): string {
  const { file } = objectOf(body, ['file']);
  const fits = typeof file === 'string' && isAbsolute(file) && !file.includes('\0');
  if (!fits) throw invalid(`file: expected an absolute path, got ${shown(file)}`);
  if (Buffer.byteLength(file) >= MAX_PATH_BYTES) {
    throw invalid(
      `file: expected a path of less than ${MAX_PATH_BYTES} bytes, got ${Buffer.byteLength(file)}`,
    );
  }
  return file;
}

/** Of the header: printable ASCII, so that it can stand in a line of the log and on any terminal. */
export function parseUser(header: string | readonly string[] | undefined): string {
  if (header === undefined || header === '') return UNKNOWN_USER;
  if (typeof header === 'string' && header.length <= MAX_USER_LENGTH && /^[\x20-\x7e]+$/.test(header))
    return header;
  throw invalid(
    `${USER_HEADER}: expected at most ${MAX_USER_LENGTH} characters of printable ASCII, got ${shown(header)}`,
  );
}

export function parseTrigger(body: unknown, nowMs: number): TriggerBody {
  const object = objectOf(body, ['task', 'payload', 'wait', 'force', 'due_at']);
  const { task, wait = false, force = false, due_at: dueAt = null } = object;
  if (typeof task !== 'string' || task === '') throw invalid(`task: expected a name, got ${shown(task)}`);
  if (typeof wait !== 'boolean') throw invalid(`wait: expected true or false, got ${shown(wait)}`);
  if (typeof force !== 'boolean') throw invalid(`force: expected true or false, got ${shown(force)}`);
  const payload = 'payload' in object ? JSON.stringify(object.payload) : null;
  return { task, payload, wait, force, dueAtMs: dueAt === null ? null : parseDueAt(dueAt, nowMs) };
}

/** Nothing: the whole flow; `failed: true`, or `from` with the name of a step. */
export function parseRerun(body: unknown): RerunChoice {
  const { failed, from } = body === null ? {} : objectOf(body, ['failed', 'from']);
  if (failed !== undefined && failed !== true) throw invalid(`failed: expected true, got ${shown(failed)}`);
  if (from === undefined) return { kind: failed === true ? 'failed' : 'whole' };
  if (failed !== undefined) throw invalid('expected one of failed and from, got both');
  if (typeof from !== 'string' || from === '')
    throw invalid(`from: expected the name of a step, got ${shown(from)}`);
  return { kind: 'step', step: from };
}

/** What has just passed means now: the request took its time. */
function parseDueAt(dueAt: unknown, nowMs: number): number {
  const parsed = parseInstant(typeof dueAt === 'string' ? dueAt : '');
  if ('problem' in parsed) throw invalid(`due_at: expected ${parsed.problem}, got ${shown(dueAt)}`);
  const { atMs } = parsed;
  if (atMs < nowMs - JUST_PASSED_MS || atMs > nowMs + MAX_DELAY_MS) {
    throw invalid(`due_at: expected an instant to come within ten years, got ${shown(dueAt)}`);
  }
  return atMs;
}

const JUST_PASSED_MS = 60_000;

/** Either `runs`, or `all: true`, or some of `task`, `since`, `until`: purging everything must be said in so many words. */
export function parseDeadChoice(body: unknown, nowMs: number): DeadLetterChoice {
  const { runs, task, since, until, all } = objectOf(body, ['runs', 'task', 'since', 'until', 'all']);
  const byKind = task !== undefined || since !== undefined || until !== undefined;
  const ways = [runs !== undefined, byKind, all !== undefined].filter(Boolean).length;
  if (ways !== 1) {
    throw invalid(`expected runs, or all, or some of task, since and until, got ${ways} of these three`);
  }
  if (byKind) {
    if (task !== undefined && typeof task !== 'string') {
      throw invalid(`task: expected a name, got ${shown(task)}`);
    }
    return { runs: null, task: task ?? null, ...parseRange(since, until, nowMs) };
  }
  if (all !== undefined) {
    if (all !== true) throw invalid(`all: expected true, got ${shown(all)}`);
    return { runs: null, ...EVERY };
  }
  if (!Array.isArray(runs) || runs.length === 0 || !runs.every((run) => typeof run === 'string')) {
    throw invalid(`runs: expected a list of run ids, got ${shown(runs)}`);
  }
  return { runs, ...EVERY };
}

const EVERY = { task: null, sinceMs: null, untilMs: null } as const;

function parseRange(
  since: unknown,
  until: unknown,
  nowMs: number,
): { readonly sinceMs: number | null; readonly untilMs: number | null } {
  const sinceMs = momentOf('since', since, nowMs);
  const untilMs = momentOf('until', until, nowMs);
  if (sinceMs !== null && untilMs !== null && sinceMs >= untilMs) {
    throw invalid(`since: expected a time before until, got ${shown(since)} and ${shown(until)}`);
  }
  return { sinceMs, untilMs };
}

function momentOf(name: string, value: unknown, nowMs: number): number | null {
  if (value === undefined) return null;
  const atMs = typeof value === 'string' ? parseMoment(value, nowMs) : null;
  if (atMs === null) throw invalid(`${name}: expected ${MOMENT_FORM}, got ${shown(value)}`);
  return atMs;
}

function parseLimit(query: URLSearchParams): number {
  const text = query.get('limit');
  if (text === null) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > MAX_LIMIT) {
    throw invalid(`limit: expected a whole number from 1 to ${MAX_LIMIT}, got ${JSON.stringify(text)}`);
  }
  return limit;
}

function objectOf(body: unknown, keys: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid(`body: expected a JSON object with ${keys.join(', ')}, got ${shown(body)}`);
  }
  allowOnly(Object.keys(body), keys, 'body');
  return Object.fromEntries(Object.entries(body));
}

function allowOnly(keys: readonly string[], known: readonly string[], where: string): void {
  for (const key of keys) {
    if (known.includes(key)) continue;
    throw invalid(`${where}: expected only ${known.join(', ')}, got ${JSON.stringify(key.slice(0, 64))}`);
  }
}

function isRunState(text: string): text is RunState {
  return (RUN_STATES as readonly string[]).includes(text);
}

function invalid(message: string): ColibriError {
  return new ColibriError('message-invalid', message);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
