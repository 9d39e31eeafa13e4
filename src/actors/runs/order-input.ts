/** The input of a run as text: pure. */

/**
 * Lays one JSON object over another without parsing either: of a key that comes twice the last one counts
 * (ECMA-262, JSON.parse). A value that is no object replaces the base whole.
 */
export function layInput(base: string, over: string | null): string {
  if (over === null) return base;
  const text = over.trim();
  if (!text.startsWith('{')) return text;
  if (base === '{}') return text;
  const inside = text.slice(1, -1).trim();
  return inside === '' ? base : `${base.slice(0, -1)},${inside}}`;
}
