/** Reading and changing a tree of plain data by path. The tree is the loader's own copy. */
import type { SchemaPath } from '../../actors/kernel/check-schema.ts';

export type RawObject = Record<string, unknown>;

export function isObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the path; undefined where there is none. */
export function valueAt(root: unknown, path: SchemaPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** Sets the value, making the objects on the way; false where something else than an object is in the way. */
export function setAt(root: RawObject, path: SchemaPath, value: unknown): boolean {
  let holder: unknown = root;
  for (const [depth, step] of path.entries()) {
    if (typeof step === 'number') {
      if (!Array.isArray(holder) || step >= holder.length) return false;
      if (depth === path.length - 1) holder[step] = value;
      else holder = holder[step];
      continue;
    }
    if (!isObject(holder)) return false;
    if (depth === path.length - 1) {
      putKey(holder, step, value);
    } else {
      const inner = Object.hasOwn(holder, step) ? holder[step] : undefined;
      if (inner === undefined || inner === null) putKey(holder, step, {});
      holder = holder[step];
    }
  }
  return path.length > 0;
}

/** Takes the value away. An entry of a list leaves a hole (undefined), so that the others keep their index. */
export function removeAt(root: RawObject, path: SchemaPath): void {
  const holder = valueAt(root, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof last === 'number') {
    if (Array.isArray(holder) && last < holder.length) holder[last] = undefined;
  } else if (last !== undefined && isObject(holder)) {
    delete holder[last];
  }
}

/** A copy that shares nothing with the given value and has only plain data in it: objects, lists, scalars. */
export function copyTree(value: unknown): unknown {
  return copyPart(value, new Set());
}

/** What refers back to an object that holds it is left as it is, without end: it is refused where it is looked at. */
function copyPart(value: unknown, holders: Set<object>): unknown {
  if (!Array.isArray(value) && !isObject(value)) return value;
  if (holders.has(value)) return value;
  if (holders.size > 128) return undefined;
  holders.add(value);
  let copy: unknown[] | RawObject;
  if (Array.isArray(value)) copy = value.map((item) => copyPart(item, holders));
  else {
    copy = {};
    for (const key of Object.keys(value)) putKey(copy, key, copyPart(value[key], holders));
  }
  holders.delete(value);
  return copy;
}

/** Sets an own key, `__proto__` too. */
export function putKey(holder: RawObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    holder[key] = value;
  }
}
