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
  const { range, step, low, high, wellFormed } = partsOf(field, item);
  if (!wellFormed || low === null) return unknownItem(field, item);
  if (high !== null && low > high)
    return `the range ${range} goes backwards; write ${turned(field, low, high)}`;
  if (step === undefined) return null;
  if (!/^\d{1,9}$/.test(step) || Number(step) === 0)
    return `a step is a number from 1 to 999999999, got ${describeValue(item)}`;
  return null;
}

interface Parts {
  readonly range: string;
  readonly step: string | undefined;
  /** Null: it stands for no value of the field. */
  readonly low: number | null;
  /** Null: there is none. */
  readonly high: number | null;
  readonly wellFormed: boolean;
}

function partsOf(field: Field, item: string): Parts {
  const [range = '', step, ...rest] = item.split('/');
  const [from = '', to, ...more] = range === '*' || range === '?' ? [String(field.min)] : range.split('-');
  const high = to === undefined ? null : valueIn(field, to);
  const wellFormed = rest.length === 0 && more.length === 0 && (to === undefined || high !== null);
  return { range, step, low: valueIn(field, from), high, wellFormed };
}

/** A step that its field ends before: what is left is its first value. */
export interface LoneStep {
  /** As it is written. */
  readonly item: string;
  readonly field: string;
  readonly round: string;
  readonly value: number;
}

/** The first one of an expression that has been parsed; null: there is none. */
export function loneStep(expression: string): LoneStep | null {
  const atoms = expression.trim().split(/\s+/);
  const skipped = FIELDS.length - atoms.length;
  // A word such as @hourly.
  if (skipped > 1) return null;
  for (const [index, atom] of atoms.entries()) {
    const field = FIELDS[index + skipped]!;
    for (const item of atom.split(',')) {
      const { step, low, high } = partsOf(field, item);
      if (step === undefined || low === null) continue;
      const second = low + Number(step);
      // Of the weekdays 7 is Sunday again.
      const again = field.max - field.min === field.size && low === field.min && second === field.max;
      if (second > (high ?? field.max) || again) {
        return { item, field: field.name, round: field.round, value: low };
      }
    }
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
