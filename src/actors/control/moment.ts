/** A moment as a user names it: an instant, or a span of time that means so long ago. Pure. */
import { parseDuration, parseInstant } from '../kernel/parse-time.ts';

/** What fits, for a sentence that says so. */
export const MOMENT_FORM =
  'an instant with its zone, such as 2026-12-24T18:00:00Z, or how long ago, such as 90s, 2h or 1d12h';

/** Milliseconds since 1970; null for a text of another form, or a date that does not exist. */
export function parseMoment(text: string, nowMs: number): number | null {
  const trimmed = text.trim();
  const instant = parseInstant(trimmed);
  if ('atMs' in instant) return instant.atMs;
  // A number without a unit could mean anything.
  const agoMs = /^[\d.]*$/.test(trimmed) ? null : parseDuration(trimmed);
  return agoMs === null ? null : Math.max(0, Math.round(nowMs - agoMs));
}
