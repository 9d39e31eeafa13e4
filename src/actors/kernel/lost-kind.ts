/** Values of which JSON would write next to nothing, in silence. */

/** What stands there and what one does, as a message goes on after `got`; null: JSON writes what there is to say. */
export function lostKind(value: object): string | null {
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    return 'an invalid Date, which JSON writes as null; take null or a text instead';
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function' || ArrayBuffer.isView(value)) return null;
  if (value instanceof Map || value instanceof Set) {
    return 'a Map or Set, which JSON writes as {}; turn it into an object or array';
  }
  if (value instanceof Promise) return 'a promise; await it first';
  // Of a function with a star nothing has run when it returns: a run with such a result would be a success that did nothing.
  if (Symbol.asyncIterator in value) {
    return 'a stream or an async generator, which nobody has read; make an array of what it gives';
  }
  if (Symbol.iterator in value && typeof (value as { next?: unknown }).next === 'function') {
    return 'an iterator, which nobody has read; make an array of what it gives';
  }
  if (Array.isArray(value) || Object.keys(value).length > 0) return null;
  if (value instanceof RegExp) return 'a RegExp, which JSON writes as {}; take its source';
  if (value instanceof WeakMap || value instanceof WeakSet) {
    return 'a WeakMap or WeakSet, which JSON writes as {}; take plain data';
  }
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return 'a buffer, which JSON writes as {}; write it to a file and take the path';
  }
  if (Symbol.iterator in value)
    return 'something to iterate over, which JSON writes as {}; make an array of it';
  return null;
}
