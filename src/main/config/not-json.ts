/** What JSON cannot hold, or would empty in silence, in a tree of data; `toJSON` is left to say what it likes. */
import { describeValue, lostKind } from '../../actors/kernel/index.ts';

const MAX_LEVELS = 64;

export interface NotJson {
  readonly path: readonly (string | number)[];
  /** What stands there, as a message goes on after `got`. */
  readonly got: string;
}

/** The first such value, or null. `undefined` is left out of JSON and no problem. */
export function findNotJson(value: unknown, path: readonly (string | number)[] = []): NotJson | null {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean')
    return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path, got: String(value) };
  if (typeof value !== 'object') return { path, got: describeValue(value) };
  const kind = lostKind(value);
  if (kind !== null) return { path, got: kind };
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return null;
  if (value instanceof Error) return { path, got: 'an Error, which JSON writes as {}; take its message' };
  if (path.length >= MAX_LEVELS) return { path: path.slice(0, 8), got: `more than ${MAX_LEVELS} levels` };
  const entries: Iterable<[string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [key, inner] of entries) {
    const found = findNotJson(inner, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}
