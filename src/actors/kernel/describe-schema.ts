/** What a schema asks for and what a value is, in words, for messages of the form *expected …, got …*. */
import type { JsonSchema } from './json-schema.ts';

/** The longest excerpt of a value in a message, in UTF-16 code units. */
const LONGEST_EXCERPT = 80;

/**
 * "a positive integer", "one of "a", "b"", "a string or null". With the value that was got, lengths are named
 * only where they are what is wrong.
 */
export function describeSchema(schema: JsonSchema, got?: unknown): string {
  if (schema.const !== undefined) return describeValue(schema.const);
  if (schema.enum !== undefined) {
    const members = schema.enum.map(describeValue);
    return members.length === 1 ? members[0]! : `one of ${members.join(', ')}`;
  }
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((branch) => describeSchema(branch, got)).join(' or ');
  if (schema.type === undefined) return 'any value';
  const types: readonly string[] = typeof schema.type === 'string' ? [schema.type] : schema.type;
  return types.map((type) => describeType(type, schema, got)).join(' or ');
}

/** The value as a user would recognise it: scalars as JSON, cut to a bound; the rest by its kind. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'string') {
    if (value.length <= LONGEST_EXCERPT) return JSON.stringify(value);
    return `${JSON.stringify(value.slice(0, LONGEST_EXCERPT))}… (${value.length} characters)`;
  }
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

function describeType(type: string, schema: JsonSchema, got: unknown): string {
  switch (type) {
    case 'integer':
      if (schema.minimum === 1 && schema.maximum === undefined) return 'a positive integer';
      return `an integer${describeRange(schema)}`;
    case 'number':
      return `a number${describeRange(schema)}`;
    case 'string':
      return describeString(schema, typeof got === 'string');
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${Array.isArray(got) ? describeCount(schema) : ''}`;
    case 'object':
      return 'an object';
    default:
      return type;
  }
}

function describeRange(schema: JsonSchema): string {
  const { minimum, exclusiveMinimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const low =
    exclusiveMinimum !== undefined ? `> ${exclusiveMinimum}` : minimum !== undefined ? `≥ ${minimum}` : '';
  const high = maximum === undefined ? '' : `≤ ${maximum}`;
  if (low === '' && high === '') return '';
  return low !== '' && high !== '' ? ` ${low} and ${high}` : ` ${low}${high}`;
}

function describeString(schema: JsonSchema, isString: boolean): string {
  if (schema.patternMeaning !== undefined) return schema.patternMeaning;
  if (schema.pattern !== undefined) return `a string that matches ${schema.pattern}`;
  const { minLength = 0, maxLength } = schema;
  if (!isString || (minLength === 0 && maxLength === undefined)) return 'a string';
  if (maxLength === undefined) return `a string of at least ${minLength} characters`;
  if (minLength === 0) return `a string of at most ${maxLength} characters`;
  return `a string of ${minLength} to ${maxLength} characters`;
}

function describeCount(schema: JsonSchema): string {
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && maxItems !== undefined) return ` of ${minItems} to ${maxItems} entries`;
  if (minItems !== undefined) return ` of at least ${minItems} ${minItems === 1 ? 'entry' : 'entries'}`;
  return maxItems === undefined ? '' : ` of at most ${maxItems} entries`;
}
