/** The instants at which a task will be due, as people look at them: local time beside the instant. Pure. */
import type { ScheduleSpec } from '../config/config.ts';
import { firstLocal } from './cron-calendar.ts';
import { occurrencesOf } from './occurrences.ts';
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

export function previewOf({ schedule, splayMs, afterMs, count }: PreviewOptions): Preview[] {
  const timeZone = schedule.kind === 'cron' ? schedule.timeZone : schedule.bounds?.timeZone;
  const zone = timeZone ?? Temporal.Now.timeZoneId();
  const occurrences = occurrencesOf(schedule, new TimeZones());
  const found: Preview[] = [];
  let at = occurrences.next(afterMs - splayMs);
  while (at !== null && found.length < count) {
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
    found.push({
      atMs: at + splayMs,
      local: local.toString({ timeZoneName: 'never', fractionalSecondDigits: at % 1000 === 0 ? 0 : 3 }),
      weekday: WEEKDAYS[local.dayOfWeek - 1]!,
      shifted:
        schedule.kind === 'cron' && !isLocalTimeOf(schedule.fields, at + local.offsetNanoseconds / 1e6),
    });
    at = occurrences.next(at);
  }
  return found;
}

function isLocalTimeOf(fields: Parameters<typeof firstLocal>[0], localMs: number): boolean {
  return firstLocal(fields, localMs) === localMs;
}
