/**
 * Why a schedule has no occurrence after an instant: for what warns of one that never runs, and for what shows the next
 * ones. Pure and bounded: at most four searches, each of a bounded number of steps (see `cron-occurrences.ts`).
 *
 * The causes are asked for from the widest on. What is left of the instants without bounds and with every gap shifted ends
 * before `stop_at`, or by the policy for gaps, or else by excluded dates.
 */
import { assertNever } from '../../actors/kernel/index.ts';
import type { ScheduleBounds, ScheduleSpec } from '../config/config.ts';
import { DAY_MS, MAX_YEARS } from './cron-calendar.ts';
import type { Occurrences } from './cron-occurrences.ts';
import { occurrencesOf } from './occurrences.ts';
import type { TimeZones } from './time-zones.ts';

export const EndCause = {
  /** Of `at`: it has one instant. */
  Once: 'once',
  Stopped: 'stopped',
  Excluded: 'excluded',
  /** `dst.gap: skip` leaves out each of its local times. */
  Skipped: 'skipped',
} as const;
export type EndCause = (typeof EndCause)[keyof typeof EndCause];

export interface ScheduleEnd {
  readonly cause: EndCause;
  /** The instant that does not count, or has been: of `at` its own, else the first one to come; null: none was found. */
  readonly wouldBeMs: number | null;
}

/** The rarest date comes within it. What comes later does so by excluded dates alone, and is none to people. */
const LOOK_AHEAD_MS = MAX_YEARS * 366 * DAY_MS;

/** The next occurrence; null: there is none, or none within 41 years. `occurrences`: those of the schedule. */
export function nextInSight(
  { kind, bounds }: ScheduleSpec,
  occurrences: Occurrences,
  afterMs: number,
): number | null {
  const at = occurrences.next(afterMs);
  if (at === null || kind === 'at') return at;
  return at - startOf(bounds, afterMs) > LOOK_AHEAD_MS ? null : at;
}

/** Null: there is an occurrence after that instant. */
export function endAfter(schedule: ScheduleSpec, afterMs: number, zones: TimeZones): ScheduleEnd | null {
  if (nextInSight(schedule, occurrencesOf(schedule, zones), afterMs) !== null) return null;
  const { bounds, ...free } = schedule;
  if (free.kind === 'at' && free.atMs <= afterMs) return { cause: EndCause.Once, wouldBeMs: free.atMs };
  const fromMs = startOf(bounds, afterMs);
  const stopMs = bounds?.stopAtMs ?? Number.POSITIVE_INFINITY;
  const next = (spec: ScheduleSpec) => occurrencesOf(spec, zones).next(fromMs);
  const ends = (atMs: number | null) => atMs === null || atMs >= stopMs;
  const shifted = free.kind === 'cron' ? { ...free, dst: { ...free.dst, gap: 'shift' as const } } : free;
  const wouldBeMs = next(shifted);
  if (ends(wouldBeMs)) return { cause: EndCause.Stopped, wouldBeMs };
  return { cause: ends(next(free)) ? EndCause.Skipped : EndCause.Excluded, wouldBeMs };
}

/** Occurrences after it count. */
function startOf(bounds: ScheduleBounds | undefined, afterMs: number): number {
  return Math.max(afterMs, (bounds?.startAtMs ?? Number.NEGATIVE_INFINITY) - 1);
}

/** The cause in words: `stop_at is 2027-01-01T00:00:00Z, the next would be at 2028-02-29T00:00:00Z`. */
export function endReason(schedule: ScheduleSpec, { cause, wouldBeMs }: ScheduleEnd): string {
  const stopAtMs = schedule.bounds?.stopAtMs ?? null;
  const stop = stopAtMs === null ? null : instantText(stopAtMs);
  const until = stop === null ? `in the next ${MAX_YEARS} years` : `before stop_at, ${stop},`;
  switch (cause) {
    case EndCause.Once:
      return `it runs once${wouldBeMs === null ? '' : `, at ${instantText(wouldBeMs)}`}`;
    case EndCause.Stopped: {
      const next = wouldBeMs === null ? '' : `, the next would be at ${instantText(wouldBeMs)}`;
      return `${stop === null ? 'no date is left' : `stop_at is ${stop}`}${next}`;
    }
    case EndCause.Excluded:
      return schedule.kind === 'at' ? 'its date is excluded' : `each of its dates ${until} is excluded`;
    case EndCause.Skipped:
      return `the clocks skip its local time whenever it comes ${until} and dst.gap is skip`;
    default:
      return assertNever(cause, 'cause of an end');
  }
}

/** `2027-01-01T00:00:00Z`. */
export function instantText(atMs: number): string {
  return new Date(atMs).toISOString().replace('.000Z', 'Z');
}
