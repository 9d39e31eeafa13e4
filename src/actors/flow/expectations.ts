/** Guards as they are written: what the result of a step has to be like for the steps behind it to go on. Checked at load. Pure. */
import type { SchemaPath } from '../kernel/check-schema.ts';
import type { JsonSchema } from '../kernel/json-schema.ts';
import type { Expectation } from '../results/expectation.ts';
import { parseValuePath } from '../results/value-path.ts';
import type { FlowProblem } from './flow-problem.ts';
import { checkUserSchema } from './user-schema.ts';

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
