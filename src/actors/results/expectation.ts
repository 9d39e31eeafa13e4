/** Holds a result against what is expected of it, on the thread that has the result; the answer is a sentence for the failure. Pure. */
import { checkSchema, describeValue, type SchemaPath } from '../kernel/check-schema.ts';
import type { JsonSchema } from '../kernel/json-schema.ts';
import { valueAtPath, valuePathText } from './value-path.ts';

export interface Expectation {
  readonly schema: JsonSchema | null;
  readonly rows: SchemaPath;
  readonly minRows: number | null;
  readonly maxRows: number | null;
  /** Null: the number of rows. */
  readonly value: SchemaPath | null;
  readonly maxChangePercent: number | null;
}

/** Why the result is not as expected; null: it is. `lastGood`: what `measureOf` gave of the last one that was; null: there was none. */
export function unmetExpectation(
  expectation: Expectation,
  result: unknown,
  lastGood: number | null,
): string | null {
  return (
    unmetSchema(expectation, result) ??
    unmetRows(expectation, result) ??
    unmetChange(expectation, result, lastGood)
  );
}

/** The number that is compared with that of the next run; null: nothing is, or there is none. */
export function measureOf({ value, rows, maxChangePercent }: Expectation, result: unknown): number | null {
  if (maxChangePercent === null) return null;
  if (value === null) return rowsOf(rows, result);
  const found = valueAtPath(result, value).value;
  return typeof found === 'number' && Number.isFinite(found) ? found : null;
}

function unmetSchema({ schema }: Expectation, result: unknown): string | null {
  const problems = schema === null ? [] : checkSchema(schema, result);
  const [first] = problems;
  if (first === undefined) return null;
  // Keys that are missing in one place are problems of that place, each of them.
  const [own, ...others] = new Set(problems.map(({ path }) => placeText(path)));
  return `${own}: ${first.message}${othersText(others)}`;
}

/** Places named beside the first; of more, the number. */
const MAX_PLACES = 3;

function othersText(places: readonly string[]): string {
  if (places.length === 0) return '';
  const named = places.slice(0, MAX_PLACES).join(', ');
  const rest = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : '';
  return `; ${places.length === 1 ? 'nor does' : 'nor do'} ${named}${rest} fit the schema`;
}

function unmetRows({ rows, minRows, maxRows }: Expectation, result: unknown): string | null {
  if (minRows === null && maxRows === null) return null;
  const count = rowsOf(rows, result);
  if (count === null)
    return `${placeText(rows)}: expected a list, got ${describeValue(valueAtPath(result, rows).value)}`;
  if (minRows !== null && count < minRows)
    return `${placeText(rows)}: expected at least ${rowsText(minRows)}, got ${count}`;
  if (maxRows !== null && count > maxRows)
    return `${placeText(rows)}: expected at most ${rowsText(maxRows)}, got ${count}`;
  return null;
}

/** Of nothing no share can be said: after a last value of 0 anything is as expected; `min_rows` says what is too little. */
function unmetChange(expectation: Expectation, result: unknown, lastGood: number | null): string | null {
  const { maxChangePercent, value, rows } = expectation;
  if (maxChangePercent === null) return null;
  const now = measureOf(expectation, result);
  if (now === null) {
    const got = describeValue(valueAtPath(result, value ?? rows).value);
    return `${placeText(value ?? rows)}: expected ${value === null ? 'a list' : 'a number'}, got ${got}`;
  }
  if (lastGood === null || lastGood === 0) return null;
  const change = (Math.abs(now - lastGood) / Math.abs(lastGood)) * 100;
  if (change <= maxChangePercent) return null;
  const [from, got] = value === null ? [rowsText(lastGood), rowsText(now)] : [lastGood, now];
  const percent = change >= 1000 ? change.toFixed(0) : change.toFixed(1);
  return (
    `${placeText(value ?? rows)}: expected a change of at most ${maxChangePercent} % from the ${from} of the last ` +
    `good run, got ${got}, ${percent} %; if that is right, raise max_change_percent for one run`
  );
}

function rowsOf(rows: SchemaPath, result: unknown): number | null {
  const { value } = valueAtPath(result, rows);
  return Array.isArray(value) ? value.length : null;
}

function rowsText(count: number): string {
  return `${count} ${count === 1 ? 'row' : 'rows'}`;
}

function placeText(path: SchemaPath): string {
  return valuePathText(['result', ...path]);
}
