/**
 * The local times that the fields of a cron expression name: a calendar without zones. Local times are counted as
 * if they were UTC, in ms ("local ms"). Pure and bounded: a search looks at one month after another of those that
 * the fields name, and within a month at bits. The calendar is the Gregorian one, before 1582 too.
 */
import type { CronFields } from '../config/config.ts';

export const SECOND_MS = 1000;
export const DAY_MS = 86_400_000;
/** The calendar comes again after so many years, with its weekdays. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097 * DAY_MS;
/** The rarest date, a 29 February on one weekday, comes every 28 years, around a year such as 2100 after 40. */
export const MAX_YEARS = 41;

const EVERY_HOUR = 0xffffff;

/** An expression that names every hour counts real time: no change of the clocks moves it. */
export function namesEveryHour({ hours }: CronFields): boolean {
  return hours === EVERY_HOUR;
}

/** The first local time at or after `fromMs` (whole seconds); null: the fields name no date that exists. */
export function firstLocal(fields: CronFields, fromMs: number): number | null {
  const dayMs = Math.floor(fromMs / DAY_MS) * DAY_MS;
  const date = new Date(dayMs);
  let year = date.getUTCFullYear();
  let month = date.getUTCMonth();
  const today = date.getUTCDate() - 1;
  let days = daysOf(fields, year, month);
  if (firstBit(days, today) === today) {
    const time = firstTime(fields, (fromMs - dayMs) / SECOND_MS);
    if (time !== -1) return dayMs + time * SECOND_MS;
  }
  days = withoutBelow(days, today + 1);
  for (const lastYear = year + MAX_YEARS; year <= lastYear; days = daysOf(fields, year, month)) {
    if (days !== 0) {
      return monthStart(year, month) + firstBit(days, 0) * DAY_MS + firstTime(fields, 0) * SECOND_MS;
    }
    month = firstBit(fields.months, month + 1);
    if (month !== -1) continue;
    month = firstBit(fields.months, 0);
    year++;
  }
  return null;
}

/** The last local time at or before `toMs` (whole seconds); null: the fields name no date that exists. */
export function lastLocal(fields: CronFields, toMs: number): number | null {
  const dayMs = Math.floor(toMs / DAY_MS) * DAY_MS;
  const date = new Date(dayMs);
  let year = date.getUTCFullYear();
  let month = date.getUTCMonth();
  const today = date.getUTCDate() - 1;
  let days = daysOf(fields, year, month);
  if (lastBit(days, today) === today) {
    const time = lastTime(fields, (toMs - dayMs) / SECOND_MS);
    if (time !== -1) return dayMs + time * SECOND_MS;
  }
  days = withoutAbove(days, today - 1);
  for (const firstYear = year - MAX_YEARS; year >= firstYear; days = daysOf(fields, year, month)) {
    if (days !== 0) {
      const time = lastTime(fields, DAY_MS / SECOND_MS - 1);
      return monthStart(year, month) + lastBit(days, 30) * DAY_MS + time * SECOND_MS;
    }
    month = lastBit(fields.months, month - 1);
    if (month !== -1) continue;
    month = lastBit(fields.months, 11);
    year--;
  }
  return null;
}

/** The days of a month that the fields name; bit 0 is the first. */
function daysOf(fields: CronFields, year: number, month: number): number {
  if (firstBit(fields.months, month) !== month) return 0;
  const startMs = monthStart(year, month);
  const length = (monthStart(year, month + 1) - startMs) / DAY_MS;
  const whole = 0x7fffffff >>> (31 - length);
  let days = fields.days;
  if (fields.lastDay) days |= 1 << (length - 1);
  if (fields.weekdays !== 0 || fields.lastWeekdays !== 0) {
    // 1 January 1970 was a Thursday.
    const first = (((startMs / DAY_MS + 4) % 7) + 7) % 7;
    const nth = fields.nthWeek === 0 ? whole : 0x7f << (7 * (fields.nthWeek - 1));
    days |= everyWeek(fields.weekdays, first) & nth;
    days |= everyWeek(fields.lastWeekdays, first) & (0x7f << (length - 7));
  }
  return days & whole;
}

/** `Date.UTC` takes the years from 0 to 99 for those of the last century: it is asked within one known cycle. */
function monthStart(year: number, month: number): number {
  const cycles = Math.floor(year / CYCLE_YEARS) - 5;
  return Date.UTC(year - cycles * CYCLE_YEARS, month, 1) + cycles * CYCLE_MS;
}

/** Days of the week, repeated over a month that begins with the weekday `first`. */
function everyWeek(weekdays: number, first: number): number {
  const week = ((weekdays >> first) | (weekdays << (7 - first))) & 0x7f;
  return week | (week << 7) | (week << 14) | (week << 21) | (week << 28);
}

/** The first time of day at or after `from`, in seconds after midnight; -1: none. */
function firstTime(fields: CronFields, from: number): number {
  const fromHour = Math.floor(from / 3600);
  const fromMinute = Math.floor(from / 60) % 60;
  let second = firstOfSixty(fields.secondsLow, fields.secondsHigh, from % 60);
  let minute = firstOfSixty(fields.minutesLow, fields.minutesHigh, fromMinute + (second === -1 ? 1 : 0));
  const hour = firstBit(fields.hours, fromHour + (minute === -1 ? 1 : 0));
  if (hour === -1) return -1;
  if (hour > fromHour) minute = firstOfSixty(fields.minutesLow, fields.minutesHigh, 0);
  if (hour > fromHour || minute > fromMinute) second = firstOfSixty(fields.secondsLow, fields.secondsHigh, 0);
  return hour * 3600 + minute * 60 + second;
}

/** The last time of day at or before `to`, in seconds after midnight; -1: none. */
function lastTime(fields: CronFields, to: number): number {
  const toHour = Math.floor(to / 3600);
  const toMinute = Math.floor(to / 60) % 60;
  let second = lastOfSixty(fields.secondsLow, fields.secondsHigh, to % 60);
  let minute = lastOfSixty(fields.minutesLow, fields.minutesHigh, toMinute - (second === -1 ? 1 : 0));
  const hour = lastBit(fields.hours, toHour - (minute === -1 ? 1 : 0));
  if (hour === -1) return -1;
  if (hour < toHour) minute = lastOfSixty(fields.minutesLow, fields.minutesHigh, 59);
  if (hour < toHour || minute < toMinute) second = lastOfSixty(fields.secondsLow, fields.secondsHigh, 59);
  return hour * 3600 + minute * 60 + second;
}

function firstOfSixty(low: number, high: number, from: number): number {
  const bit = from < 30 ? firstBit(low, from) : -1;
  if (bit !== -1) return bit;
  const upper = firstBit(high, Math.max(0, from - 30));
  return upper === -1 ? -1 : upper + 30;
}

function lastOfSixty(low: number, high: number, to: number): number {
  const upper = to < 30 ? -1 : lastBit(high, to - 30);
  return upper === -1 ? lastBit(low, Math.min(29, to)) : upper + 30;
}

/** Of sets with at most 31 bits, and positions from -1 to 31. */
function firstBit(bits: number, from: number): number {
  const rest = withoutBelow(bits, from);
  return 31 - Math.clz32(rest & -rest);
}

function lastBit(bits: number, to: number): number {
  return 31 - Math.clz32(withoutAbove(bits, to));
}

function withoutBelow(bits: number, from: number): number {
  return bits & (-1 << from);
}

function withoutAbove(bits: number, to: number): number {
  return bits & ((1 << (to + 1)) - 1);
}
