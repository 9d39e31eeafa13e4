/** A moment as a user names it: an instant, or a span of time that means so long ago. Pure. */

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/i;
const SPAN =
  /^(?:(\d{1,9}(?:\.\d{1,9})?)d)?(?:(\d{1,9}(?:\.\d{1,9})?)h)?(?:(\d{1,9}(?:\.\d{1,9})?)m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?$/;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1000] as const;

/** What fits, for a sentence that says so. */
export const MOMENT_FORM =
  'an instant with its zone, such as 2026-12-24T18:00:00Z, or how long ago, such as 90s, 2h or 1d12h';

/** Milliseconds since 1970; null for a text of another form, or a date that does not exist. */
export function parseMoment(text: string, nowMs: number): number | null {
  const trimmed = text.trim();
  const instantMs = parseInstant(trimmed);
  if (instantMs !== null || INSTANT.test(trimmed)) return instantMs;
  const parts = trimmed === '' ? null : SPAN.exec(trimmed);
  if (parts === null) return null;
  const agoMs = UNITS_MS.reduce((sum, unitMs, index) => sum + Number(parts[index + 1] ?? 0) * unitMs, 0);
  return Math.max(0, Math.round(nowMs - agoMs));
}

/** Milliseconds since 1970 of an instant with its zone; null for any other text. */
export function parseInstant(text: string): number | null {
  if (!INSTANT.test(text)) return null;
  const day = text.slice(0, 10);
  const atMs = Date.parse(text.toUpperCase());
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(atMs) || Number.isNaN(midnightMs)) return null;
  // The runtime takes February 30 for March 2.
  return new Date(midnightMs).toISOString().startsWith(day) ? atMs : null;
}
