/**
 * Ways into plain data, as a user writes them: `orders[0].customer["full name"]`. Only own properties are seen, so nothing of
 * the language itself can be reached. Pure.
 */
import { describeValue, type SchemaPath } from '../kernel/check-schema.ts';

/** Steps of one way. */
export const MAX_PATH_STEPS = 32;

const STEP = /\.([A-Za-z0-9_-]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** `text` begins with a name; what is wrong with it otherwise is a sentence. */
export function parseValuePath(text: string): { readonly path: SchemaPath } | { readonly problem: string } {
  const dotted = `.${text}`;
  const path: (string | number)[] = [];
  let at = 0;
  while (at < dotted.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(dotted);
    const key = match === null ? undefined : keyOf(match);
    if (match === null || key === undefined) {
      const rest = JSON.stringify(dotted.slice(Math.max(1, at), at + 40));
      return { problem: `expected a path such as orders[0].amount or ["any key"], got ${rest}` };
    }
    path.push(key);
    at = STEP.lastIndex;
    if (path.length > MAX_PATH_STEPS) {
      return { problem: `expected a path of at most ${MAX_PATH_STEPS} steps, got more` };
    }
  }
  return { path };
}

function keyOf([, name, index, quoted]: RegExpExecArray): string | number | undefined {
  if (name !== undefined) return name;
  if (index !== undefined) return Number(index);
  try {
    return JSON.parse(quoted!) as string;
  } catch {
    return undefined;
  }
}

/** The value there, and how many steps of the way exist: all of them where there is one. */
export function valueAtPath(
  root: unknown,
  path: SchemaPath,
): { readonly value: unknown; readonly found: number } {
  let value = root;
  for (const [found, step] of path.entries()) {
    const inner = typeof step === 'number' ? entryOf(value, step) : propertyOf(value, step);
    if (inner === undefined) return { value: undefined, found };
    value = inner;
  }
  return { value, found: path.length };
}

function entryOf(value: unknown, index: number): unknown {
  return Array.isArray(value) && index < value.length ? value[index] : undefined;
}

function propertyOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** What is at the last step of a way that goes no further, and why it does not. `found`: steps of the way that exist. */
export function describeLack(root: unknown, path: SchemaPath, found: number): string {
  const { value } = valueAtPath(root, path.slice(0, found));
  const key = path[found];
  if (Array.isArray(value))
    return typeof key === 'number' ? `a list of ${value.length}` : describeValue(value);
  if (typeof value !== 'object' || value === null) return describeValue(value);
  if (typeof key !== 'string') return 'an object';
  return Object.keys(value).length === 0 ? 'an empty object' : `an object without ${valuePathText([key])}`;
}

/** `orders[0].customer`; keys that are no plain names in quotes. */
export function valuePathText(path: SchemaPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z0-9_-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step.length > 64 ? `${step.slice(0, 64)}…` : step)}]`;
  }
  return text;
}
