/** Cron expressions → their fields as bits, by cron-parser. What it gets wrong is kept from it: see `cron-form.ts`. */
import { type CronExpression, CronExpressionParser } from 'cron-parser';
import { describeValue } from '../../../actors/kernel/check-schema.ts';
import type { CronFields, ParsedCron } from '../../config/index.ts';
import { formProblem } from './cron-form.ts';

const WORDS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** How cron-parser says that no month of the expression is long enough. */
const TOO_SHORT = 'Invalid explicit day of month definition';

/** And that a field names a value more than once. */
const TWICE = /^\w+ Validation error, duplicate values found: /;

/** All minutes, or every so many of them: an interval, as in the crontab of Vixie cron, where `*` begins it. */
const INTERVAL = /^(?:[*?]|0-59)(?:\/\d+)?$/;

/** `expression`: 5 fields, 6 with seconds first, or @hourly and kin. Never throws for what a user wrote. */
export function parseCron(expression: string): ParsedCron {
  const text = expression.trim();
  const got = describeValue(expression);
  if (text.startsWith('@') && !WORDS.has(text)) {
    const remedy = text === '@reboot' ? '; use run_on_start: true' : '';
    return { problem: `expected one of ${[...WORDS.keys()].join(', ')}, got ${got}${remedy}` };
  }
  if (/^(?:cron_)?tz=/i.test(text)) {
    return { problem: `expected a cron expression without a time zone, got ${got}; use time_zone` };
  }
  const atoms = (WORDS.get(text) ?? text).split(/\s+/);
  const count = text === '' ? 0 : atoms.length;
  if (count !== 5 && count !== 6) {
    const fields = 'a cron expression of 5 fields, or 6 with seconds first';
    return { problem: `expected ${fields}, got ${count} in ${got}` };
  }
  if (/(?<![a-z])H(?![a-z])/i.test(text)) {
    return {
      problem: `expected a cron expression without H, got ${got}; to spread tasks over time use splay_seconds`,
    };
  }
  const form = formProblem(atoms);
  if (form !== null) return { problem: `expected a cron expression, got ${got}: ${form}` };
  try {
    // A zone is named, or the library would look for the machine's.
    const parsed = CronExpressionParser.parse(atoms.join(' '), { currentDate: new Date(0), tz: 'UTC' });
    return { fields: fieldsOf(parsed.fields, INTERVAL.test(atoms.at(-5)!)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== TOO_SHORT) {
      return {
        problem: `expected a cron expression, got ${got}: ${message.replace(TWICE, 'named twice: ')}`,
      };
    }
    return { problem: `expected a date that comes, got ${got}: no month it names has a day it names` };
  }
}

/**
 * Days of the month and weekdays unite, as in POSIX (crontab, "days"), where both are restricted. Where one is
 * `*` only the other counts: its set is left empty here, so that the daemon has nothing to do but unite.
 */
function fieldsOf(parsed: CronExpression['fields'], interval: boolean): CronFields {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = parsed;
  const onlyWeekdays = dayOfMonth.isWildcard && !dayOfWeek.isWildcard;
  const weekdays = dayOfWeek.isWildcard ? [] : dayOfWeek.values;
  return {
    secondsLow: bits(second.values, 0, 29),
    secondsHigh: bits(second.values, 30, 59),
    minutesLow: bits(minute.values, 0, 29),
    minutesHigh: bits(minute.values, 30, 59),
    interval,
    hours: bits(hour.values, 0, 23),
    days: onlyWeekdays ? 0 : bits(dayOfMonth.values, 1, 31),
    lastDay: dayOfMonth.hasLastChar,
    months: bits(month.values, 1, 12),
    // Sunday comes as 0, and as 7 only beside it.
    weekdays: bits(weekdays, 0, 6),
    nthWeek: dayOfWeek.nthDay,
    lastWeekdays: bits(
      // `5L`: the last Friday.
      weekdays.filter((day) => typeof day === 'string').map((day) => Number.parseInt(day, 10) % 7),
      0,
      6,
    ),
  };
}

/** The numbers from `low` to `high` among `values`, as a set whose bit 0 is `low`. */
function bits(values: readonly (number | string)[], low: number, high: number): number {
  let set = 0;
  for (const value of values) {
    if (typeof value === 'number' && value >= low && value <= high) set |= 1 << (value - low);
  }
  return set;
}
