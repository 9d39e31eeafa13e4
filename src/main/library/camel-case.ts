/**
 * Options in camelCase are the config file's keys in another spelling: their types are made of the file's, and the tree
 * that the loader takes is made of what was written. Names that a user chose (groups) and data (`with`) stay as they are.
 */
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';

export type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** All keys optional, however deep: what is left out has the file's default. */
export type InCamelCase<T> = T extends readonly (infer Item)[]
  ? readonly InCamelCase<Item>[]
  : T extends object
    ? {
        readonly [Key in keyof T as Key extends string ? CamelCase<Key> : Key]?:
          | InCamelCase<T[Key]>
          | undefined;
      }
    : T;

export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** What was written, as the loader takes it. */
export interface FileForm {
  readonly tree: unknown;
  /** Keys that are spelled as in the file: a program spells them another way, and may have done so beside them. */
  readonly snakeKeys: readonly { readonly key: string; readonly isBesideRight: boolean }[];
  /** Key of the file → as it was written. */
  readonly written: ReadonlyMap<string, string>;
}

/** Keys that are undefined are left out: they say nothing. */
export function inFileForm(schema: JsonSchema, options: unknown): FileForm {
  const snakeKeys: { key: string; isBesideRight: boolean }[] = [];
  const written = new Map<string, string>();
  return { tree: convert(schema, options), snakeKeys, written };

  function convert(part: JsonSchema, value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => convert(part.items ?? {}, item));
    if (typeof value !== 'object' || value === null) return value;
    const { properties, additionalProperties: others } = part;
    if (properties === undefined && typeof others !== 'object') return value;
    const pairs = Object.entries(value).flatMap(([key, inner]) => {
      if (inner === undefined) return [];
      if (properties === undefined) return [[key, convert(others as JsonSchema, inner)]];
      if (key.includes('_')) {
        snakeKeys.push({ key, isBesideRight: Object.hasOwn(value, toCamelCase(key)) });
        return [];
      }
      const name = toSnakeCase(key);
      written.set(name, key);
      return [[name, convert(Object.hasOwn(properties, name) ? properties[name]! : {}, inner)]];
    });
    return Object.fromEntries(pairs);
  }
}

/** Keys of the file within a message, spelled as a program spells them. */
export function inCamelCase(message: string, keys: { has(name: string): boolean }): string {
  return message.replaceAll(/[a-z]+(?:_[a-z0-9]+)+/g, (name) => (keys.has(name) ? toCamelCase(name) : name));
}

/** Every key that a schema names, however deep. */
export function keysOf(schema: JsonSchema, found = new Set<string>()): ReadonlySet<string> {
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    found.add(key);
    keysOf(inner, found);
  }
  if (typeof schema.additionalProperties === 'object') keysOf(schema.additionalProperties, found);
  if (schema.items !== undefined) keysOf(schema.items, found);
  return found;
}
