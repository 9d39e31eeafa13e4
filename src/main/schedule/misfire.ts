/**
 * Which occurrences run when the scheduler comes late: after a suspend, a stall or a step of the clock. Pure, and
 * bounded: however long the time away, few more occurrences are computed than may run.
 *
 * An occurrence is late when a later one is due too, or when it is overdue by more than the grace.
 * - `run-once`: of all that are due, the newest runs
 * - `run-all`: all within the grace run, oldest first, at most `max` (the newest of them)
 * - `skip`: only one that is not late runs
 *
 * What comes late under `run-all` is a *catch-up*: all of it is to run, one behind the other.
 */
import { assertNever } from '../../actors/kernel/index.ts';
import type { MisfirePolicy } from '../config/config.ts';
import { JUMP_MS } from './clock-watch.ts';
import type { Occurrences } from './cron-occurrences.ts';

/** Without a grace of its own, `skip` takes an occurrence for late after this time. */
export const SKIP_GRACE_MS = 60_000;

/** Occurrences looked at one by one beyond those that may run. */
const MAX_LOOK = 50;

export interface DueOccurrences {
  /** To be run, oldest first. */
  readonly run: readonly number[];
  /** Each of them is to run: they came together, or as late as nothing but a jump of the clocks makes them. */
  readonly catchUp: boolean;
  /** Due, but not run. Where `more` is true there were more than these. */
  readonly missed: number;
  readonly more: boolean;
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
  const limit = MAX_LOOK + (policy.policy === 'run-all' ? policy.max : 1);
  const due: number[] = [];
  // Back from now: what runs is always among the newest.
  let at = occurrences.prev(Math.floor(nowMs) + 1);
  while (at !== null && at >= firstMs && due.length < limit) {
    due.push(at);
    at = occurrences.prev(at);
  }
  const more = at !== null && at >= firstMs;
  due.reverse();
  const run = choose(due, nowMs, policy);
  return {
    run,
    catchUp: policy.policy === 'run-all' && (run.length > 1 || nowMs - (run[0] ?? nowMs) >= JUMP_MS),
    missed: due.length - run.length,
    more,
    next: occurrences.next(nowMs),
  };
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
