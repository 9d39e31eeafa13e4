/** The keys of a schema as the documents name them, with what their tables have to say of each. */
import { describeSchema } from '../../src/actors/kernel/check-schema.ts';
import type { JsonSchema } from '../../src/actors/kernel/json-schema.ts';

export interface DocumentedKey {
  /** `queues.ready.capacity`, `groups.NAME.concurrency`, `tasks[].name`. */
  readonly key: string;
  readonly type: string;
  /** Null: the schema names none. */
  readonly default: string | null;
}

/** Objects whose keys are listed are entered; everything else is a key of its own. */
export function keysOf(schema: JsonSchema, path = ''): DocumentedKey[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const key = path === '' ? name : `${path}.${name}`;
    const { additionalProperties: others, items } = inner;
    if (inner.properties !== undefined) return keysOf(inner, key);
    if (typeof others === 'object' && others.properties !== undefined) return keysOf(others, `${key}.NAME`);
    if (items?.properties !== undefined) return keysOf(items, `${key}[]`);
    return [{ key, type: describeSchema(inner).replaceAll('"', ''), default: defaultOf(inner) }];
  });
}

/** Keys that inherit have no default in the schema; their description ends with it. */
function defaultOf(schema: JsonSchema): string | null {
  if (schema.default !== undefined) {
    return typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default);
  }
  return / Default (\S+?)\.$/.exec(schema.description ?? '')?.[1] ?? null;
}
