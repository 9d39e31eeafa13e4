/**
 * Whether the fields of a cron expression name a local time: each field is asked by itself, by the calendar of
 * `Date`. It shares nothing with the search in `cron-calendar.ts`, whose answers it checks.
 */
import type { CronFields } from '../config/config.ts';
import { DAY_MS } from './cron-calendar.ts';

/** `localMs`: local time counted as if it were UTC, in whole seconds. */
export function matchesFields(fields: CronFields, localMs: number): boolean {
  const date = new Date(localMs);
  return (
    hasOfSixty(fields.secondsLow, fields.secondsHigh, date.getUTCSeconds()) &&
    hasOfSixty(fields.minutesLow, fields.minutesHigh, date.getUTCMinutes()) &&
    has(fields.hours, date.getUTCHours()) &&
    has(fields.months, date.getUTCMonth()) &&
    matchesDay(fields, date)
  );
}

function matchesDay(fields: CronFields, date: Date): boolean {
  const day = date.getUTCDate();
  if (has(fields.days, day - 1)) return true;
  if (fields.lastDay && !isSameMonth(date, 1)) return true;
  const weekday = date.getUTCDay();
  if (has(fields.weekdays, weekday) && (fields.nthWeek === 0 || Math.ceil(day / 7) === fields.nthWeek)) {
    return true;
  }
  return has(fields.lastWeekdays, weekday) && !isSameMonth(date, 7);
}

function isSameMonth(date: Date, daysLater: number): boolean {
  return new Date(date.getTime() + daysLater * DAY_MS).getUTCMonth() === date.getUTCMonth();
}

function hasOfSixty(low: number, high: number, value: number): boolean {
  return value < 30 ? has(low, value) : has(high, value - 30);
}

function has(bits: number, position: number): boolean {
  return ((bits >>> position) & 1) === 1;
}
