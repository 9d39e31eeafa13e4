/** What JSON cannot hold in a tree of data: infinite numbers, functions, class instances, too deep nesting. */
const MAX_LEVELS = 64;

/** The first such value with its path, or null. `undefined` is left out of JSON and no problem. */
export function findNotJson(
  value: unknown,
  path: readonly (string | number)[] = [],
): { readonly path: readonly (string | number)[]; readonly value: unknown } | null {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean')
    return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path, value };
  if (typeof value !== 'object' || path.length >= MAX_LEVELS) return { path, value };
  const entries: Iterable<[string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [key, inner] of entries) {
    const found = findNotJson(inner, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}
