/**
 * A schema as a user writes it, checked before anything is checked by it: the subset that `checkSchema` knows and nothing else, so
 * that a misspelt word is not a check that never fails. Pure.
 */
import { checkSchema, describeValue, type SchemaPath } from '../kernel/check-schema.ts';
import type { JsonSchema } from '../kernel/json-schema.ts';
import type { FlowProblem } from './flow-problem.ts';

const SCALAR: JsonSchema = { type: ['string', 'number', 'boolean', 'null'] };
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const COUNT: JsonSchema = { type: 'integer', minimum: 0 };
const COUNTS = ['minItems', 'maxItems', 'minLength', 'maxLength'];
const LIMITS = ['minimum', 'exclusiveMinimum', 'maximum'];

/** One level of a schema; those below are looked at one by one. */
const NODE: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    type: { anyOf: [{ enum: TYPES }, { type: 'array', minItems: 1, items: { enum: TYPES } }] },
    description: { type: 'string' },
    enum: { type: 'array', minItems: 1, items: SCALAR },
    const: SCALAR,
    properties: { type: 'object' },
    required: { type: 'array', items: { type: 'string' } },
    additionalProperties: { type: ['boolean', 'object'] },
    items: { type: 'object' },
    anyOf: { type: 'array', minItems: 1 },
    pattern: { type: 'string' },
    ...Object.fromEntries(COUNTS.map((key) => [key, COUNT])),
    ...Object.fromEntries(LIMITS.map((key) => [key, { type: 'number' } satisfies JsonSchema])),
  },
};

/** Levels of a user's schema: a level of data may take two of them. */
const MAX_SCHEMA_DEPTH = 64;

/** Adds what is wrong with the schema, each at its place below `path`. */
export function checkUserSchema(schema: unknown, path: SchemaPath, problems: FlowProblem[]): void {
  if (path.length > MAX_SCHEMA_DEPTH) {
    problems.push({ path, message: `expected at most ${MAX_SCHEMA_DEPTH} levels of nesting, got more` });
    return;
  }
  const own = checkSchema(NODE, schema);
  for (const { path: inner, message } of own) problems.push({ path: [...path, ...inner], message });
  if (own.length > 0) return;
  const node = schema as JsonSchema;
  if (node.pattern !== undefined && !isPattern(node.pattern)) {
    const message = `expected a regular expression, got ${describeValue(node.pattern)}`;
    problems.push({ path: [...path, 'pattern'], message });
  }
  // `checkSchema` looks at nothing else where there is a choice.
  const beside = Object.keys(node).find((key) => key !== 'anyOf' && key !== 'description');
  if (node.anyOf !== undefined && beside !== undefined) {
    const message = `expected anyOf with nothing beside it, got ${describeValue(beside)}; put it into each of its schemas`;
    problems.push({ path: [...path, beside], message });
  }
  const { properties = {}, items, anyOf = [], additionalProperties: others } = node;
  for (const [key, inner] of Object.entries(properties)) {
    checkUserSchema(inner, [...path, 'properties', key], problems);
  }
  for (const [index, branch] of anyOf.entries()) checkUserSchema(branch, [...path, 'anyOf', index], problems);
  if (items !== undefined) checkUserSchema(items, [...path, 'items'], problems);
  if (typeof others === 'object') checkUserSchema(others, [...path, 'additionalProperties'], problems);
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}
