/**
 * A schedule that is right and from which no occurrence is to come: all of them are excluded, `stop_at` is before the next
 * one, or `dst.gap: skip` leaves each of them out. Only those that have bounds or that policy are looked at, each by a few
 * bounded searches, and at most `MAX_LOOKED` of them: some 10 µs each, at the start of the daemon too. What has passed, an `at` or a `stop_at`, is told where it is read: it is normal once the task has run.
 */
import { assertNever } from '../../../actors/kernel/index.ts';
import type { ScheduleSpec } from '../../config/config.ts';
import { MAX_YEARS, SECOND_MS } from '../cron-calendar.ts';
import { EndCause, endAfter, instantText, type ScheduleEnd } from '../schedule-end.ts';
import { goesByClocks } from '../shifts.ts';
import type { TimeZones } from '../time-zones.ts';
import { dateText, type Schedules, type ScheduleWarning, zoneText } from './warning.ts';

/** Tasks that are looked at ahead. */
export const MAX_LOOKED = 2000;

export function* neverRuns({ tasks, nowMs, zones }: Schedules): Iterable<ScheduleWarning> {
  let looked = 0;
  for (const [task, { schedule }] of tasks.entries()) {
    if (schedule === null || !mayEnd(schedule, nowMs)) continue;
    if (looked++ === MAX_LOOKED) return;
    const end = endAfter(schedule, nowMs, zones);
    if (end === null || end.cause === EndCause.Once) continue;
    yield { task, message: messageOf(schedule, end, zones), ...KEYS[end.cause] };
  }
}

/** Where the warning stands; without, at the schedule itself. */
const KEYS = {
  [EndCause.Stopped]: { key: 'stop_at' },
  [EndCause.Excluded]: { key: 'exclude' },
  [EndCause.Skipped]: {},
} as const;

function mayEnd(schedule: ScheduleSpec, nowMs: number): boolean {
  const { kind, bounds } = schedule;
  if ((bounds?.stopAtMs ?? Number.POSITIVE_INFINITY) <= nowMs) return false;
  if (kind === 'at' && schedule.atMs <= nowMs) return false;
  return bounds !== undefined || (goesByClocks(schedule) && schedule.dst.gap === 'skip');
}

function messageOf(schedule: ScheduleSpec, { cause, wouldBeMs }: ScheduleEnd, zones: TimeZones): string {
  const { stopAtMs = null, startAtMs = null } = schedule.bounds ?? {};
  const until =
    stopAtMs === null ? `of the next ${MAX_YEARS} years` : `before stop_at, ${instantText(stopAtMs)}`;
  switch (cause) {
    case EndCause.Once:
    case EndCause.Stopped: {
      const between = startAtMs === null ? 'before stop_at' : 'between start_at and stop_at';
      const next = wouldBeMs === null ? '' : `, for the next would be at ${instantText(wouldBeMs)}`;
      return `expected an occurrence to come ${between}, got none${next}: the task does not run by its schedule any more; set stop_at later, or remove it`;
    }
    case EndCause.Excluded: {
      if (schedule.kind === 'at')
        return excludedInstant(schedule.atMs, schedule.bounds?.timeZone ?? null, zones);
      return `expected dates that leave an occurrence, got each date ${until} on which it would run: the task does not run by its schedule; remove some of them`;
    }
    case EndCause.Skipped: {
      const zone = schedule.kind === 'cron' ? zoneText(schedule.timeZone) : '';
      return `expected a local time that exists when it comes, got one that the clocks of ${zone} skip each time ${until}: the task does not run, by dst.gap: skip; set dst: { gap: shift }, or choose a time of day that the clocks do not skip`;
    }
    default:
      return assertNever(cause, 'cause of an end');
  }
}

function excludedInstant(atMs: number, timeZone: string | null, zones: TimeZones): string {
  const { offsetMs } = zones.zone(timeZone).spanAt(Math.floor(atMs / SECOND_MS) * SECOND_MS);
  return (
    `expected an instant whose date is not excluded, got at: ${instantText(atMs)}, which is on ${dateText(atMs + offsetMs)} ` +
    `in ${timeZone ?? Temporal.Now.timeZoneId()}: the task does not run; remove that date, or set another instant`
  );
}
