/** Cron expressions at random, each with what it means written down apart from any parser. */
import fc from 'fast-check';
import type { Wanted } from './cron-oracle.ts';

interface Part {
  readonly text: string;
  readonly has: (value: number) => boolean;
}

/** One of the forms of a field: all, one, a list, a range, a step. */
function part(min: number, max: number): fc.Arbitrary<Part> {
  const value = fc.integer({ min, max });
  const list = fc.uniqueArray(value, { minLength: 1, maxLength: 4 });
  return fc.oneof(
    fc.constant({ text: '*', has: () => true }),
    list.map((values) => ({ text: values.join(','), has: (one: number) => values.includes(one) })),
    fc.tuple(value, value).map(([a, b]) => {
      const [from, to] = a < b ? [a, b] : [b, a];
      return { text: `${from}-${to}`, has: (one: number) => one >= from && one <= to };
    }),
    fc.tuple(value, fc.integer({ min: 2, max: max - min })).map(([from, step]) => ({
      text: `${from}-${max}/${step}`,
      has: (one: number) => one >= from && one <= max && (one - from) % step === 0,
    })),
  );
}

const everyFewMinutes: fc.Arbitrary<Part> = fc
  .integer({ min: 2, max: 60 })
  .map((step) => ({ text: `*/${step}`, has: (one: number) => one % step === 0 }));
const minutes = fc.oneof({ weight: 4, arbitrary: part(0, 59) }, everyFewMinutes);

interface DayPart {
  readonly text: string;
  readonly has: (date: Date) => boolean;
}

const monthLength = (date: Date) =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();

const dayOfMonth: fc.Arbitrary<DayPart> = fc.oneof(
  // Only days that every month has, so that no expression is without a date.
  part(1, 28).map(({ text, has }) => ({ text, has: (date: Date) => has(date.getUTCDate()) })),
  fc.constant({ text: 'L', has: (date: Date) => date.getUTCDate() === monthLength(date) }),
);

const weekday = fc.integer({ min: 0, max: 6 });
const dayOfWeek: fc.Arbitrary<DayPart> = fc.oneof(
  part(0, 6).map(({ text, has }) => ({ text, has: (date: Date) => has(date.getUTCDay()) })),
  fc.tuple(weekday, fc.integer({ min: 1, max: 5 })).map(([day, nth]) => ({
    text: `${day}#${nth}`,
    has: (date: Date) => date.getUTCDay() === day && Math.ceil(date.getUTCDate() / 7) === nth,
  })),
  weekday.map((day) => ({
    text: `${day}L`,
    has: (date: Date) => date.getUTCDay() === day && date.getUTCDate() > monthLength(date) - 7,
  })),
);

/** Hours near midnight and the changes of the clocks come often. */
export function cronExpression(): fc.Arbitrary<Wanted> {
  const hours = fc.oneof(part(0, 3), part(0, 23));
  const date = fc.tuple(dayOfMonth, part(1, 12), dayOfWeek);
  return fc.tuple(minutes, hours, date).map(([minute, hour, [day, month, week]]) => ({
    expression: `${minute.text} ${hour.text} ${day.text} ${month.text} ${week.text}`,
    everyHour: Array.from({ length: 24 }, (_, one) => hour.has(one)).every(Boolean),
    interval: /^(?:\*|0-59)(?:\/\d+)?$/.test(minute.text),
    fits: (local) =>
      minute.has(local.getUTCMinutes()) &&
      hour.has(local.getUTCHours()) &&
      month.has(local.getUTCMonth() + 1) &&
      fitsDay(local, day, week),
  }));
}

function fitsDay(local: Date, day: DayPart, week: DayPart): boolean {
  if (day.text === '*') return week.has(local);
  if (week.text === '*') return day.has(local);
  return day.has(local) || week.has(local);
}
