/** What a trigger may say beside its input, and the message that it becomes. */
import { ColibriError, describeValue } from '../../actors/kernel/index.ts';
import { isInstant, MAX_DELAY_MS, parseInstant } from '../../actors/kernel/parse-time.ts';
import type { TriggerBody } from '../../actors/protocol.ts';
import { findNotJson } from '../config/index.ts';

export interface TriggerOptions {
  /** Wait for its end. */
  readonly wait?: boolean | undefined;
  /** Run also where overlap would skip it; not with a later time. */
  readonly force?: boolean | undefined;
  /** Begin so much later: at most ten years. */
  readonly inMs?: number | undefined;
  /** Begin at this instant, at once where it has passed: a date, ms since 1970, or a text with its zone such as `2026-12-24T18:00:00Z`. */
  readonly at?: Date | number | string | undefined;
}

interface Wanted extends TriggerOptions {
  readonly task: string;
  readonly input: unknown;
  readonly nowMs: number;
}

/** Throws `input-invalid`. */
export function triggerBody({ task, input, nowMs, wait, force, ...when }: Wanted): TriggerBody {
  const payload = payloadText(input);
  return { task, payload, force: force === true, wait: wait === true, dueAtMs: dueAtMs(when, nowMs) };
}

function payloadText(input: unknown): string | null {
  if (input === undefined) return null;
  const place = findNotJson(input);
  if (place === null) return JSON.stringify(input);
  const where = ['input', ...place.path].join('.');
  throw invalid(`expected ${where} to be a value that JSON can hold, got ${place.got}`);
}

function dueAtMs({ inMs, at }: Pick<TriggerOptions, 'inMs' | 'at'>, nowMs: number): number | null {
  if (inMs !== undefined && at !== undefined) throw invalid('expected either inMs or at, got both');
  if (inMs !== undefined) {
    if (typeof inMs === 'number' && inMs >= 0 && inMs <= MAX_DELAY_MS) return nowMs + inMs;
    const got = describeValue(inMs);
    throw invalid(`expected inMs to be a number of milliseconds from 0 to ten years, got ${got}`);
  }
  if (at === undefined) return null;
  if (typeof at === 'string') {
    const parsed = parseInstant(at);
    if ('problem' in parsed) throw invalid(`at: expected ${parsed.problem}, got ${describeValue(at)}`);
    return withinReach(parsed.atMs, nowMs, at);
  }
  return withinReach(at instanceof Date ? at.getTime() : at, nowMs, at);
}

/** What has passed means now. Beyond the range of dates no store keeps it, and nothing shows it. */
function withinReach(atMs: number, nowMs: number, at: unknown): number {
  if (isInstant(atMs) && atMs <= nowMs + MAX_DELAY_MS) return atMs;
  const got = at instanceof Date ? String(at) : describeValue(at);
  throw invalid(`expected at to be an instant at most ten years from now, in ms since 1970, got ${got}`);
}

function invalid(message: string): ColibriError {
  return new ColibriError('input-invalid', message);
}
