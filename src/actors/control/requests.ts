/**
 * What comes in at the control socket, checked: query parameters and JSON bodies. Unknown keys are refused, so
 * that a misspelt `"tsak"` never means "all".
 */
import { ColibriError } from '../kernel/index.ts';
import type { DeadLetterChoice, RunFilter } from '../protocol.ts';
import { RUN_STATES, type RunState } from '../runs/run-states.ts';

export const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 50;

export interface TriggerRequest {
  readonly task: string;
  /** JSON text; null: none given. */
  readonly payload: string | null;
  readonly wait: boolean;
  readonly force: boolean;
}

export function parseRunFilter(query: URLSearchParams): RunFilter {
  allowOnly([...query.keys()], ['task', 'state', 'limit'], 'query');
  const state = query.get('state');
  if (state !== null && !isRunState(state)) {
    throw invalid(`state: expected one of ${RUN_STATES.join(', ')}, got ${JSON.stringify(state)}`);
  }
  return { task: query.get('task'), state, limit: parseLimit(query) };
}

export function parseDeadFilter(query: URLSearchParams): { task: string | null; limit: number } {
  allowOnly([...query.keys()], ['task', 'limit'], 'query');
  return { task: query.get('task'), limit: parseLimit(query) };
}

export function parseTrigger(body: unknown): TriggerRequest {
  const object = objectOf(body, ['task', 'payload', 'wait', 'force']);
  const { task, wait = false, force = false } = object;
  if (typeof task !== 'string' || task === '') throw invalid(`task: expected a name, got ${shown(task)}`);
  if (typeof wait !== 'boolean') throw invalid(`wait: expected true or false, got ${shown(wait)}`);
  if (typeof force !== 'boolean') throw invalid(`force: expected true or false, got ${shown(force)}`);
  const payload = 'payload' in object ? JSON.stringify(object.payload) : null;
  return { task, payload, wait, force };
}

/** Exactly one of `runs`, `task` and `all: true`: purging everything must be said in so many words. */
export function parseDeadChoice(body: unknown): DeadLetterChoice {
  const { runs, task, all } = objectOf(body, ['runs', 'task', 'all']);
  const given = [runs, task, all].filter((value) => value !== undefined).length;
  if (given !== 1) throw invalid(`expected exactly one of runs, task and all, got ${given} of them`);
  if (all !== undefined) {
    if (all !== true) throw invalid(`all: expected true, got ${shown(all)}`);
    return { runs: null, task: null };
  }
  if (task !== undefined) {
    if (typeof task !== 'string') throw invalid(`task: expected a name, got ${shown(task)}`);
    return { runs: null, task };
  }
  if (!Array.isArray(runs) || runs.length === 0 || !runs.every((run) => typeof run === 'string')) {
    throw invalid(`runs: expected a list of run ids, got ${shown(runs)}`);
  }
  return { runs, task: null };
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
