/**
 * Day of the month and weekday are both given. POSIX (crontab) makes a union of them: a day counts that is either. Many
 * take it for both at once, such as a Friday that is the 13th. What it comes to is shown by dates.
 */
import type { CronFields } from '../../config/config.ts';
import { DAY_MS } from '../cron-calendar.ts';
import { occurrencesOf } from '../occurrences.ts';
import type { CronSpec } from '../shifts.ts';
import type { TimeZones, ZoneSpan } from '../time-zones.ts';
import { dateText, type Schedules, type ScheduleWarning } from './warning.ts';

const DATES = 5;

export function* dayUnions({ tasks, nowMs, zones }: Schedules): Iterable<ScheduleWarning> {
  for (const [task, { schedule }] of tasks.entries()) {
    if (schedule?.kind !== 'cron' || !isUnion(schedule.fields)) continue;
    const dates = nextDates(schedule, nowMs, zones);
    if (dates.length === 0) continue;
    const message =
      `expected days of the month or weekdays, got both in ${JSON.stringify(schedule.expression)}: a day counts that is ` +
      `either, as in POSIX, so the next dates are ${dates.join(', ')}; write * in one of the two if only the other is meant`;
    yield { task, message };
  }
}

export function isUnion(fields: CronFields): boolean {
  const byDay = fields.days !== 0 || fields.lastDay;
  const byWeekday = fields.weekdays !== 0 || fields.lastWeekdays !== 0;
  return byDay && byWeekday;
}

function nextDates(schedule: CronSpec, nowMs: number, zones: TimeZones): readonly string[] {
  const zone = zones.zone(schedule.timeZone);
  const occurrences = occurrencesOf(schedule, zones);
  const dates: string[] = [];
  let at = occurrences.next(nowMs);
  // A date comes again where the clocks go back over midnight: once more is enough for any zone.
  for (let looks = 0; at !== null && dates.length < DATES && looks <= DATES; looks++) {
    const span = zone.spanAt(at);
    const date = dateText(at + span.offsetMs);
    if (!dates.includes(date)) dates.push(date);
    at = occurrences.next(endOfDay(at, span) - 1);
  }
  return dates;
}

/** The first instant of the next local day. */
function endOfDay(atMs: number, span: ZoneSpan): number {
  const endLocalMs = (Math.floor((atMs + span.offsetMs) / DAY_MS) + 1) * DAY_MS;
  const endMs = endLocalMs - span.offsetMs;
  return endMs < span.endMs ? endMs : Math.max(span.endMs, endLocalMs - span.afterMs);
}
