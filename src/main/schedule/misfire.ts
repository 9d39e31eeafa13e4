/**
 * Which occurrences run when the scheduler comes late: after a suspend, a stall or a step of the clock. Pure.
 *
 * An occurrence is late when a later one is due too, or when it is overdue by more than the grace.
 * - `run-once`: of all that are due, the newest runs
 * - `run-all`: all within the grace run, oldest first, at most `max` (the newest of them)
 * - `skip`: only one that is not late runs
 */
import { assertNever } from '../../actors/kernel/index.ts';
import type { MisfirePolicy } from '../config/config.ts';
import type { Occurrences } from './cron.ts';

/** Without a grace of its own, `skip` takes an occurrence for late after this time. */
export const SKIP_GRACE_MS = 60_000;

/** Occurrences looked at one by one; of more, the first are only counted. */
const MAX_LOOK = 10_000;

export interface DueOccurrences {
  /** To be run, oldest first. */
  readonly run: readonly number[];
  /** Due, but not run. More than the bound are counted as the bound. */
  readonly missed: number;
  /** The first instant after now; null: there is none. */
  readonly next: number | null;
}

export function dueOccurrences(options: {
  readonly occurrences: Occurrences;
  /** The occurrence that the timer was set for. */
  readonly firstMs: number;
  readonly nowMs: number;
  readonly policy: MisfirePolicy;
}): DueOccurrences {
  const { occurrences, firstMs, nowMs, policy } = options;
  const due: number[] = [];
  let at: number | null = firstMs;
  for (let looked = 0; at !== null && at <= nowMs && looked < MAX_LOOK; looked++) {
    due.push(at);
    at = occurrences.next(at);
  }
  if (at !== null && at <= nowMs) {
    // Too many to look at: what is newest is what counts.
    const newest = newestBefore(occurrences, at, nowMs);
    due.push(newest);
    at = occurrences.next(nowMs);
  }
  const run = choose(due, nowMs, policy);
  return { run, missed: due.length - run.length, next: at };
}

function choose(due: readonly number[], nowMs: number, policy: MisfirePolicy): number[] {
  const newest = due.at(-1);
  if (newest === undefined) return [];
  const graceMs = policy.graceMs ?? (policy.policy === 'skip' ? SKIP_GRACE_MS : Number.POSITIVE_INFINITY);
  switch (policy.policy) {
    case 'run-once':
    case 'skip':
      return nowMs - newest <= graceMs ? [newest] : [];
    case 'run-all':
      return due.filter((at) => nowMs - at <= graceMs).slice(-policy.max);
    default:
      return assertNever(policy.policy, 'misfire policy');
  }
}

/** An occurrence close to `nowMs`, found by halving the time that is looked at: at most 64 steps. */
function newestBefore(occurrences: Occurrences, fromMs: number, nowMs: number): number {
  let newest = fromMs;
  let span = nowMs - fromMs;
  for (let step = 0; step < 64 && span >= 1; step++) {
    span /= 2;
    const found = occurrences.next(Math.max(newest, nowMs - span));
    if (found !== null && found <= nowMs) newest = found;
  }
  return newest;
}
