/** Times as people write them: durations (`1m30s`), instants (`2026-12-24T18:00:00Z`), dates (`2026-12-24`). Pure. */

/** Ten years: nobody waits longer for a run on purpose. */
export const MAX_DELAY_MS = 3650 * 86_400_000;

/** The last instant that a Date can hold (ECMA-262, time values); the first one is as far before 1970. */
const MAX_INSTANT_MS = 8.64e15;

/** Whether it can be shown and kept: neither infinite nor out of the range of dates. */
export function isInstant(atMs: unknown): atMs is number {
  return typeof atMs === 'number' && Math.abs(atMs) <= MAX_INSTANT_MS;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)\s*)+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const ORDER = ['d', 'h', 'm', 's', 'ms'];

/**
 * Milliseconds of `500ms`, `5s`, `1m30s`, `1h 15m`, `1.5h`, `1d`, or of a number of seconds as text. Units come
 * from long to short, each at most once. Null for anything else.
 */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000;
  if (trimmed.length > 100 || !WHOLE.test(trimmed)) return null;
  let totalMs = 0;
  let last = -1;
  for (const [, amount, unit] of trimmed.matchAll(PART)) {
    const rank = ORDER.indexOf(unit!);
    if (rank <= last) return null;
    last = rank;
    totalMs += Number(amount) * UNIT_MS[unit!]!;
  }
  // 1.1 × 1000 is not a whole number in binary; a microsecond is below what any timer keeps.
  return Math.round(totalMs * 1000) / 1000;
}

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(Z|z|[+-]\d{2}:?\d{2})?$/;

/** Ms since 1970 of an ISO 8601 instant with its zone, or what is wrong with it. */
export function parseInstant(text: string): { readonly atMs: number } | { readonly problem: string } {
  const parts = INSTANT.exec(text.trim());
  if (parts === null) return { problem: 'an instant such as 2026-12-24T18:00:00Z' };
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const zone = parts[8];
  if (zone === undefined) {
    return { problem: 'an instant with its zone, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00' };
  }
  const millis = Math.floor(Number(`0.${parts[7] ?? '0'}`) * 1000);
  const localMs = Date.UTC(year!, month! - 1, day!, hour!, minute!, second!, millis);
  const back = new Date(localMs);
  const exists =
    back.getUTCMonth() === month! - 1 &&
    back.getUTCDate() === day &&
    hour! < 24 &&
    minute! < 60 &&
    second! < 60;
  if (!exists) return { problem: 'a date and time that exist' };
  const offset = offsetMinutes(zone);
  if (offset === null) return { problem: 'an offset from -14:00 to +14:00' };
  return { atMs: localMs - offset * 60_000 };
}

const DAY_MS = 86_400_000;

/** Days since 1970 of a date without a zone such as `2026-12-24`; null: there is no such date. */
export function parseLocalDate(text: string): number | null {
  const trimmed = text.trim();
  if (!/^\d{4}-\d{2}-\d{2}$/.test(trimmed)) return null;
  const ms = Date.parse(`${trimmed}T00:00:00Z`);
  // Some readers take 30 February for 2 March.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== trimmed) return null;
  return ms / DAY_MS;
}

function offsetMinutes(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  if (minutes > 14 * 60 || Number(digits.slice(2)) > 59) return null;
  return zone.startsWith('-') ? -minutes : minutes;
}
