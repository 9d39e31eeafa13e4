/**
 * Guards: what the result of a step has to be like for the steps behind it to go on. Checked at load, asked once for each result;
 * the answer is a sentence for the failure. Pure.
 */
import { checkSchema, describeValue, type SchemaPath } from '../kernel/check-schema.ts';
import type { JsonSchema } from '../kernel/json-schema.ts';
import type { FlowProblem } from './flow-problem.ts';
import { checkUserSchema } from './user-schema.ts';
import { parseValuePath, valueAtPath, valuePathText } from './value-path.ts';

/** `expect:` as it is written; every key may be left out. */
export interface RawExpectation {
  readonly schema?: JsonSchema;
  /** The list whose rows count, within the result; without it the result itself. */
  readonly rows?: string;
  readonly min_rows?: number;
  readonly max_rows?: number;
  /** The number that `max_change_percent` looks at, within the result; without it the number of rows. */
  readonly value?: string;
  readonly max_change_percent?: number;
}

export interface Expectation {
  readonly schema: JsonSchema | null;
  readonly rows: SchemaPath;
  readonly minRows: number | null;
  readonly maxRows: number | null;
  /** Null: the number of rows. */
  readonly value: SchemaPath | null;
  readonly maxChangePercent: number | null;
}

const COUNT: JsonSchema = { type: 'integer', minimum: 0 };
const PATH: JsonSchema = { type: 'string', minLength: 1, maxLength: 500 };

/** Of `expect:` in a config. */
export const EXPECTATION_SCHEMA: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'What the result of the step has to be like.',
  properties: {
    schema: { type: 'object', description: 'The subset of JSON Schema that handlers use too.' },
    rows: {
      ...PATH,
      description: 'The list that is counted, within the result; default: the result itself.',
    },
    min_rows: { ...COUNT, description: 'Rows at least.' },
    max_rows: { ...COUNT, description: 'Rows at most.' },
    value: {
      ...PATH,
      description: 'The number that is compared, within the result; default: the number of rows.',
    },
    max_change_percent: {
      type: 'number',
      minimum: 0,
      description: 'How far it may be from that of the last run of the step that was as expected.',
    },
  },
};

/** `raw` fits `EXPECTATION_SCHEMA`. The expectation counts only if there are no problems. */
export function parseExpectation(raw: RawExpectation): {
  readonly expectation: Expectation;
  readonly problems: readonly FlowProblem[];
} {
  const problems: FlowProblem[] = [];
  const wayTo = (key: 'rows' | 'value'): SchemaPath => {
    const text = raw[key];
    if (text === undefined) return [];
    const parsed = parseValuePath(text);
    if ('path' in parsed) return parsed.path;
    problems.push({ path: [key], message: parsed.problem });
    return [];
  };
  const { schema = null, min_rows: minRows = null, max_rows: maxRows = null } = raw;
  if (schema !== null) checkUserSchema(schema, ['schema'], problems);
  if (minRows !== null && maxRows !== null && minRows > maxRows) {
    problems.push({ path: ['max_rows'], message: `expected at least min_rows (${minRows}), got ${maxRows}` });
  }
  const counts = minRows !== null || maxRows !== null || raw.max_change_percent !== undefined;
  if (raw.rows !== undefined && !counts) {
    problems.push({
      path: ['rows'],
      message: 'expected min_rows, max_rows or max_change_percent beside it, got none',
    });
  }
  if (raw.value !== undefined && raw.max_change_percent === undefined) {
    problems.push({ path: ['value'], message: 'expected max_change_percent beside it, got none' });
  }
  const expectation: Expectation = {
    schema,
    rows: wayTo('rows'),
    minRows,
    maxRows,
    value: raw.value === undefined ? null : wayTo('value'),
    maxChangePercent: raw.max_change_percent ?? null,
  };
  return { expectation, problems };
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
  const more = problems.length === 1 ? '' : `, and ${problems.length - 1} more`;
  return `${placeText(first.path)}: ${first.message}${more}`;
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
    `good run, got ${got}, ${percent} %`
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
