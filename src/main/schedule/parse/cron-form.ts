/**
 * The form of each field of a cron expression, looked at before cron-parser reads it: the library takes `janfeb` for
 * December and `5#2.5` for a week of the month, and of what it refuses it does not say how to write it.
 */
import { describeValue } from '../../../actors/kernel/check-schema.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** How many values there are, and of what: a step begins anew with each. */
  readonly round: string;
  readonly size: number;
  /** The first name stands for `min`. */
  readonly names: readonly string[];
  /** What it takes beside `*`, numbers, names, ranges and steps. */
  readonly special: RegExp | null;
  readonly specialWords: string;
}

const NOTHING = { names: [], special: null, specialWords: '' } as const;
const WEEKDAY = `(?:[0-7]|${WEEKDAYS.join('|')})`;

const FIELDS: readonly Field[] = [
  { name: 'seconds', min: 0, max: 59, round: 'seconds of a minute', size: 60, ...NOTHING },
  { name: 'minutes', min: 0, max: 59, round: 'minutes of an hour', size: 60, ...NOTHING },
  { name: 'hours', min: 0, max: 23, round: 'hours of a day', size: 24, ...NOTHING },
  {
    name: 'days of the month',
    min: 1,
    max: 31,
    round: 'days of a month',
    size: 31,
    names: [],
    special: /^L$/,
    specialWords: ', L',
  },
  {
    name: 'months',
    min: 1,
    max: 12,
    round: 'months of a year',
    size: 12,
    names: MONTHS,
    special: null,
    specialWords: ', names',
  },
  {
    name: 'weekdays',
    min: 0,
    max: 7,
    round: 'days of a week',
    size: 7,
    names: WEEKDAYS,
    special: new RegExp(`^${WEEKDAY}(?:L|#[1-5])$`, 'i'),
    specialWords: ', names, 5L, 5#2',
  },
];

/** What is wrong with the first field that is not as it should be; null: nothing. `atoms`: 5, or 6. */
export function formProblem(atoms: readonly string[]): string | null {
  const skipped = FIELDS.length - atoms.length;
  for (const [index, atom] of atoms.entries()) {
    const field = FIELDS[index + skipped]!;
    const items = atom.split(',');
    if (items.length > 1 && atom.includes('#')) {
      return `# stands alone with one weekday, got ${describeValue(atom)}`;
    }
    for (const item of items) {
      const problem = itemProblem(field, item);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** One item of a list: `*`, `?`, a value, a range, each also with a step, or what only this field takes. */
function itemProblem(field: Field, item: string): string | null {
  if (field.special?.test(item) === true && !/l$/.test(item)) return null;
  const [range = '', step, ...rest] = item.split('/');
  const [from = '', to, ...more] = range === '*' || range === '?' ? [String(field.min)] : range.split('-');
  const [low, high] = [valueIn(field, from), to === undefined ? null : valueIn(field, to)];
  if (rest.length > 0 || more.length > 0 || low === null || (to !== undefined && high === null)) {
    return unknownItem(field, item);
  }
  if (high !== null && low > high)
    return `the range ${range} goes backwards; write ${turned(field, low, high)}`;
  if (step === undefined) return null;
  if (!/^\d{1,4}$/.test(step) || Number(step) === 0)
    return `a step is a number from 1 on, got ${describeValue(item)}`;
  if (Number(step) > field.size) {
    const round = `the ${field.size} ${field.round}`;
    return `a step of ${Number(step)} is longer than ${round}, and each begins anew; use every for such an interval`;
  }
  return null;
}

/** The number that a number or a name stands for; null: none of the field. */
function valueIn(field: Field, text: string): number | null {
  const named = field.names.indexOf(text.toLowerCase());
  if (named !== -1) return named + field.min;
  if (!/^\d{1,2}$/.test(text)) return null;
  const value = Number(text);
  return value >= field.min && value <= field.max ? value : null;
}

function unknownItem(field: Field, item: string): string {
  if (field.special !== null) {
    if (/^(?:\d+|L)W$|^WL$/i.test(item))
      return 'W, the weekday nearest to a day, is not known; name the days';
    if (/^L-\d+$/i.test(item)) return 'days before the last one are not known; L is the last day itself';
    if (/^L$/i.test(item)) return 'L stands behind a weekday: 5L is the last Friday of the month';
    if (/l$/.test(item)) return `L is written large, got ${describeValue(item)}`;
  }
  const known = `*, numbers from ${field.min} to ${field.max}${field.specialWords}`;
  return `${field.name} are ${known}, in lists, ranges and steps, got ${describeValue(item)}`;
}

/** A range over the end of a field, as two. Of the weekdays 7 stands for the end. */
function turned(field: Field, low: number, high: number): string {
  const last = field.size - 1 + field.min;
  if (field.max > last && high === field.min) return `${low}-${field.max}`;
  if (low > last) return `${field.min}-${high}`;
  const upper = low === last ? `${low}` : `${low}-${last}`;
  return `${upper},${high === field.min ? `${high}` : `${field.min}-${high}`}`;
}
