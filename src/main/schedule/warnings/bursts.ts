/**
 * A rate of firing that looks like a mistake: a star for each second or each minute, left of single minutes, hours or days.
 * Six fields where five were meant look like that (60 times in each of four minutes an hour, in place of four times), and
 * `* 2 * * *` for "at two".
 *
 * No mistake is what fires evenly (`* * * * * *`), in steps of seconds or minutes, within a range (`* 9-17 * * *`: each
 * minute of the working hours), or what is written out: `0-59` says that each one is meant.
 */
import type { CronFields } from '../../config/config.ts';
import type { CronSpec } from '../shifts.ts';
import { isUnion } from './day-unions.ts';
import { counted, type Schedules, type ScheduleWarning } from './warning.ts';

export function* bursts({ tasks }: Schedules): Iterable<ScheduleWarning> {
  for (const [task, { schedule }] of tasks.entries()) {
    const message = schedule?.kind === 'cron' ? burstMessage(schedule) : null;
    if (message !== null) yield { task, message };
  }
}

/** Positions of the fields, the seconds first. */
const SECONDS = 0;
const MINUTES = 1;
const HOURS = 2;
const DAYS = 3;

/** Null: nothing looks wrong. */
function burstMessage({ expression, fields }: CronSpec): string | null {
  const atoms = expression.split(/\s+/);
  // A word such as @hourly is meant.
  if (atoms.length < 5) return null;
  const written = atoms.length === 6 ? atoms : ['0', ...atoms];
  const first = [SECONDS, MINUTES].find((position) => written[position] === '*');
  if (first === undefined) return null;
  let edge = first + 1;
  while (edge < DAYS && written[edge] === '*') edge++;
  if (!isApart(fields, edge)) return null;
  const counts = [
    bits(fields.secondsLow) + bits(fields.secondsHigh),
    bits(fields.minutesLow) + bits(fields.minutesHigh),
    bits(fields.hours),
  ] as const;
  const isStar = (position: number) => position >= first && position < edge;
  const once = counts.map((count, position) => (isStar(position) ? 1 : count));
  const better = written.map((atom, position) => (isStar(position) ? '0' : atom));
  const text = JSON.stringify(better.slice(better[SECONDS] === '0' ? 1 : 0).join(' '));
  const five = atoms.length === 6 && better[SECONDS] === '0' ? 'the five fields ' : '';
  const day = edge === DAYS ? 'on each of its days' : 'a day';
  return (
    `expected runs at an even rate, got ${JSON.stringify(expression)}, which fires ${rateText(counts, first, edge)}: ` +
    `${times(product(counts))} ${day}; write ${five}${text} for ${times(product(once))} ${day}, or 0-59 in place of the ` +
    `first * if each ${first === SECONDS ? 'second' : 'minute'} is meant`
  );
}

/** Of the stars from `first` up to `edge`. */
function rateText(
  [second, minute, hour]: readonly [number, number, number],
  first: number,
  edge: number,
): string {
  const hours = edge === DAYS || hour === 24 ? 'each hour' : counted(hour, 'hour');
  if (first === MINUTES) {
    return `${times(second * minute)} in an hour, in ${edge === DAYS ? 'each hour of the day' : hours}`;
  }
  const minutes = edge === MINUTES ? counted(minute, 'minute') : 'each minute';
  return `${times(second)} in a minute, in ${minutes} of ${hours}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : counted(count, 'time');
}

function product(counts: readonly number[]): number {
  return counts.reduce((all, count) => all * count, 1);
}

/** Whether no two of the values stand beside each other, as in a range. */
function isApart(fields: CronFields, position: number): boolean {
  switch (position) {
    case MINUTES: {
      const { minutesLow: low, minutesHigh: high } = fields;
      const joints = (low >>> 29) & high & 1 || (high >>> 29) & low & 1;
      return joints === 0 && !hasNeighbours(low) && !hasNeighbours(high);
    }
    case HOURS:
      return !hasNeighbours(fields.hours) && ((fields.hours >>> 23) & fields.hours & 1) === 0;
    default: {
      // Of a union another warning says what it comes to.
      if (isUnion(fields)) return false;
      if (fields.weekdays === 0 && fields.lastWeekdays === 0) return !hasNeighbours(fields.days);
      return fields.nthWeek !== 0 || fields.weekdays === 0 || bits(fields.weekdays) === 1;
    }
  }
}

function hasNeighbours(set: number): boolean {
  return (set & (set >>> 1)) !== 0;
}

function bits(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}
