/** The instants at which a task will be due, as people look at them: local time beside the instant. Pure. */
import type { ScheduleSpec } from '../config/config.ts';
import { isCounted } from './counted-locals.ts';
import { occurrencesOf } from './occurrences.ts';
import { endAfter, nextInSight, type ScheduleEnd } from './schedule-end.ts';
import { TimeZones } from './time-zones.ts';

export interface PreviewOptions {
  readonly schedule: ScheduleSpec;
  /** The task's own: what `splayOf` makes of its name. */
  readonly splayMs: number;
  /** Those after this instant. */
  readonly afterMs: number;
  readonly count: number;
}

export interface Preview {
  readonly occurrences: readonly PreviewedOccurrence[];
  /** Why there are fewer than were asked for; null: there are not. */
  readonly end: ScheduleEnd | null;
}

export interface PreviewedOccurrence {
  /** With the task's splay. */
  readonly atMs: number;
  /** `2026-10-25T02:30:00+01:00`, of the occurrence itself. */
  readonly local: string;
  /** `Sun`. */
  readonly weekday: string;
  /** Its own local time does not exist that day: it runs at the first instant after the gap. */
  readonly shifted: boolean;
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

export function previewOf({ schedule, splayMs, afterMs, count }: PreviewOptions): Preview {
  const timeZone = schedule.kind === 'cron' ? schedule.timeZone : schedule.bounds?.timeZone;
  const zone = timeZone ?? Temporal.Now.timeZoneId();
  const zones = new TimeZones();
  const occurrences = occurrencesOf(schedule, zones);
  const found: PreviewedOccurrence[] = [];
  let lastMs = afterMs - splayMs;
  while (found.length < count) {
    const at = nextInSight(schedule, occurrences, lastMs);
    if (at === null) break;
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
    found.push({
      atMs: at + splayMs,
      local: local.toString({ timeZoneName: 'never', fractionalSecondDigits: at % 1000 === 0 ? 0 : 3 }),
      weekday: WEEKDAYS[local.dayOfWeek - 1]!,
      shifted: isShifted(schedule, at + local.offsetNanoseconds / 1e6),
    });
    lastMs = at;
  }
  return { occurrences: found, end: found.length === count ? null : endAfter(schedule, lastMs, zones) };
}

function isShifted(schedule: ScheduleSpec, localMs: number): boolean {
  if (schedule.kind !== 'cron') return false;
  return !isCounted(schedule.fields, schedule.bounds?.exclude ?? [], localMs);
}
