/**
 * Checks a value against a schema and reports every problem at once, each with the path of its place; fills
 * in defaults. Used for the config, for what handlers are given and for what crosses threads. The schema is
 * the project's own or a handler author's; the value may be anything. Neither is changed.
 *
 * Always holds: at most `MAX_PROBLEMS` problems, at most `MAX_DEPTH` levels, never throws on plain data, cyclic or not.
 */
import { describeSchema, describeValue } from './describe-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { didYouMean, nearestName } from './nearest-name.ts';

export { describeSchema, describeValue } from './describe-schema.ts';
export { didYouMean, nearestName } from './nearest-name.ts';

/** Keys and list indexes from the root to a place. */
export type SchemaPath = readonly (string | number)[];

export interface SchemaProblem {
  readonly path: (string | number)[];
  /** *expected …, got …*, without the path. */
  readonly message: string;
  /** The place is the key (it should not be there), not its value. */
  readonly onKey: boolean;
  /** True where a key is missing: the path is that of the object that should have it. */
  readonly missing?: boolean;
}

/** Levels below the root that are looked at; deeper ones are one problem. */
export const MAX_DEPTH = 64;

/** Problems kept of one check; the rest is not looked for. */
export const MAX_PROBLEMS = 1000;

export function checkSchema(schema: JsonSchema, value: unknown): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  check(schema, value, [], problems);
  return problems;
}

/**
 * The value with the defaults of the schema where it has nothing. What the schema does not describe is kept as
 * it is, and parts that need nothing are shared with the given value. Values that do not fit are kept too.
 */
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  return fill(schema, value === undefined ? schema.default : value, 0);
}

function check(
  schema: JsonSchema,
  value: unknown,
  path: (string | number)[],
  problems: SchemaProblem[],
): void {
  if (problems.length >= MAX_PROBLEMS) return;
  if (path.length > MAX_DEPTH) {
    add(problems, path, `expected at most ${MAX_DEPTH} levels of nesting, got more`);
    return;
  }
  if (schema.anyOf !== undefined) {
    checkAnyOf(schema, schema.anyOf, value, path, problems);
    return;
  }
  if (!fitsItself(schema, value)) {
    add(problems, path, mismatch(schema, value));
    return;
  }
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (let i = 0; i < value.length; i += 1) {
      path.push(i);
      check(schema.items, value[i], path, problems);
      path.pop();
    }
  } else if (isObject(value)) {
    checkKeys(schema, value, path, problems);
  }
}

function checkKeys(
  schema: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  path: (string | number)[],
  problems: SchemaProblem[],
): void {
  const properties = schema.properties ?? {};
  for (const key of Object.keys(value)) {
    const inner = Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
    path.push(key);
    if (inner === false) {
      const known = Object.keys(properties).filter((name) => !Object.hasOwn(value, name));
      const hint = didYouMean(key, known);
      add(
        problems,
        path,
        `unknown key ${describeValue(key)}${hint}${hint === '' ? listOf(Object.keys(properties)) : ''}`,
        true,
      );
    } else if (typeof inner === 'object' && value[key] !== undefined) {
      check(inner, value[key], path, problems);
    }
    path.pop();
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(value, key) && value[key] !== undefined) continue;
    const wanted = properties[key];
    const what = wanted === undefined || wanted.pattern !== undefined ? '' : ` (${describeSchema(wanted)})`;
    if (problems.length >= MAX_PROBLEMS) return;
    const message = `expected the key ${describeValue(key)}${what}, got none`;
    problems.push({ path: [...path], message, onKey: false, missing: true });
  }
}

/** A branch that the value nearly fits is reported by its own problems; else all branches are named. */
function checkAnyOf(
  schema: JsonSchema,
  branches: readonly JsonSchema[],
  value: unknown,
  path: (string | number)[],
  problems: SchemaProblem[],
): void {
  let nearest: SchemaProblem[] | undefined;
  for (const branch of branches) {
    const own: SchemaProblem[] = [];
    check(branch, value, path, own);
    if (own.length === 0) return;
    const descended = own.every((problem) => problem.path.length > path.length || problem.onKey);
    if (descended || (typeof value === 'object' && value !== null && fitsItself(branch, value))) {
      if (nearest === undefined || own.length < nearest.length) nearest = own;
    }
  }
  if (nearest === undefined) add(problems, path, mismatch(schema, value));
  else problems.push(...nearest.slice(0, MAX_PROBLEMS - problems.length));
}

/** Type, range and closed set of the value alone; nothing of what is inside an object or list. */
function fitsItself(schema: JsonSchema, value: unknown): boolean {
  if (schema.const !== undefined && value !== schema.const) return false;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
  if (schema.type !== undefined) {
    const types: readonly string[] = typeof schema.type === 'string' ? [schema.type] : schema.type;
    if (!types.some((type) => isOfType(type, value))) return false;
  }
  if (typeof value === 'number') return inRange(schema, value);
  if (typeof value === 'string') {
    if (value.length < (schema.minLength ?? 0)) return false;
    if (value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) return false;
    return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value);
  }
  if (Array.isArray(value)) {
    return (
      value.length >= (schema.minItems ?? 0) && value.length <= (schema.maxItems ?? Number.POSITIVE_INFINITY)
    );
  }
  return true;
}

function inRange(schema: JsonSchema, value: number): boolean {
  return (
    value >= (schema.minimum ?? Number.NEGATIVE_INFINITY) &&
    value <= (schema.maximum ?? Number.POSITIVE_INFINITY) &&
    value > (schema.exclusiveMinimum ?? Number.NEGATIVE_INFINITY)
  );
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function fill(schema: JsonSchema, value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH || value === undefined) return value;
  if (schema.anyOf !== undefined) {
    const branch = schema.anyOf.find((one) => checkSchema(one, value).length === 0);
    return branch === undefined ? value : fill(branch, value, depth + 1);
  }
  if (Array.isArray(value)) {
    const items = schema.items;
    return items === undefined ? value : value.map((item) => fill(items, item, depth + 1));
  }
  if (!isObject(value)) return value;
  let filled: Record<string, unknown> | undefined;
  const put = (key: string, inner: JsonSchema) => {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    const now = fill(inner, given === undefined ? inner.default : given, depth + 1);
    if (now === given) return;
    filled ??= { ...value };
    filled[key] = now;
  };
  const properties = schema.properties ?? {};
  for (const key of Object.keys(properties)) put(key, properties[key]!);
  if (typeof schema.additionalProperties === 'object') {
    // `__proto__` as a key would set the prototype of the copy; no default is worth that.
    for (const key of Object.keys(value)) {
      if (key !== '__proto__' && !Object.hasOwn(properties, key)) put(key, schema.additionalProperties);
    }
  }
  return filled ?? value;
}

function mismatch(schema: JsonSchema, value: unknown): string {
  const known = schema.enum?.filter((member) => typeof member === 'string') ?? [];
  const nearest = typeof value === 'string' ? nearestName(value, known) : undefined;
  const hint = nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  return `expected ${describeSchema(schema, value)}, got ${describeValue(value)}${hint}`;
}

function listOf(known: readonly string[]): string {
  if (known.length === 0) return '';
  const shown = known.slice(0, 12).join(', ');
  return `; expected ${known.length > 12 ? `one of ${shown}, …` : known.length === 1 ? shown : `one of ${shown}`}`;
}

function add(problems: SchemaProblem[], path: SchemaPath, message: string, onKey = false): void {
  if (problems.length < MAX_PROBLEMS) problems.push({ path: [...path], message, onKey });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
