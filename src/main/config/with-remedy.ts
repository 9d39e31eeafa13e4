/** The message of a problem of the schema, with what a user can do about it. */
import { describeValue, nearestName, type SchemaProblem } from '../../actors/kernel/check-schema.ts';
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';

export function withRemedy(problem: SchemaProblem, schema: JsonSchema): string {
  const { message, onKey, path } = problem;
  if (onKey) return message.includes('did you mean') ? message : keyThatIsThere(message, path, schema);
  if (!/^expected a string\b/.test(message)) return message;
  if (message.endsWith(', got null')) return `${message}; remove the key, or give it a value`;
  if (/^expected a string or a number\b/.test(message)) return message;
  // YAML makes numbers and booleans of some texts: 1.10, on-call numbers, true.
  return /, got (?:-?[\d.e+]+|true|false)$/.test(message) ? `${message}; put it in quotes` : message;
}

/** A misspelt key beside the right one: the checker suggests, and lists, only keys that are missing. */
function keyThatIsThere(message: string, path: SchemaProblem['path'], schema: JsonSchema): string {
  const key = String(path.at(-1));
  const nearest = nearestName(key, Object.keys(schemaAt(schema, path.slice(0, -1))?.properties ?? {}));
  if (nearest === undefined) return message;
  return `unknown key ${describeValue(key)}; did you mean ${JSON.stringify(nearest)}, which is there already?`;
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
