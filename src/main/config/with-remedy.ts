/** The message of a problem of the schema, with what a user can do about it. */
import { describeValue, nearestName, type SchemaProblem } from '../../actors/kernel/check-schema.ts';
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import { pathText } from './places.ts';

const NOTHING_ADDED: ReadonlySet<string> = new Set();

/** `added`: texts of the paths of keys that no user wrote; see `ResolveOptions`. */
export function withRemedy(
  problem: SchemaProblem,
  schema: JsonSchema,
  added: ReadonlySet<string> = NOTHING_ADDED,
): string {
  const { message, onKey } = problem;
  if (onKey) return message.includes('did you mean') ? message : keyThatIsThere(problem, schema, added);
  if (!/^expected a string\b/.test(message)) return message;
  if (message.endsWith(', got null')) return `${message}; remove the key, or give it a value`;
  if (/^expected a string or a number\b/.test(message)) return message;
  // YAML makes numbers and booleans of some texts: 1.10, on-call numbers, true.
  return /, got (?:-?[\d.e+]+|true|false)$/.test(message) ? `${message}; put it in quotes` : message;
}

/**
 * A misspelt key beside the right one: the checker suggests, and lists, only keys that are missing. The right one has been
 * written, so this one cannot be meant for it; or it was put in for the user, who then does mean it.
 */
function keyThatIsThere(
  { message, path }: SchemaProblem,
  schema: JsonSchema,
  added: ReadonlySet<string>,
): string {
  const key = String(path.at(-1));
  const around = path.slice(0, -1);
  const nearest = nearestName(key, Object.keys(schemaAt(schema, around)?.properties ?? {}));
  if (nearest === undefined) return message;
  const isAdded = added.has(pathText([...around, nearest]));
  const remedy = isAdded ? `did you mean ${JSON.stringify(nearest)}?` : besideRight(JSON.stringify(nearest));
  return `unknown key ${describeValue(key)}; ${remedy}`;
}

/** `right`: the key that is written as it should be, in quotes. */
export function besideRight(right: string): string {
  return `${right} is there beside it; remove one of the two`;
}

/** Of a part of the value; undefined where it is behind a choice. */
function schemaAt(schema: JsonSchema, path: SchemaProblem['path']): JsonSchema | undefined {
  let part: JsonSchema | undefined = schema;
  for (const step of path) {
    if (part === undefined) return undefined;
    const { properties, additionalProperties, items }: JsonSchema = part;
    if (typeof step === 'number') part = items;
    else if (properties !== undefined && Object.hasOwn(properties, step)) part = properties[step];
    else part = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  }
  return part;
}
