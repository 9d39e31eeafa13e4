/** What bounds a schedule, and how far the task starts behind it, for people. */

export interface Window {
  readonly start_at: string | null;
  readonly stop_at: string | null;
  /** Dates and ranges of dates, or how many there are. */
  readonly exclude: readonly string[] | number;
  readonly splay_seconds: number;
}

/** Dates that are named; of more, the number. */
const NAMED = 5;

/** `from 2026-12-01T00:00:00Z, until …, not on 2026-12-25, splay 30s`; empty: nothing bounds it. */
export function windowText({
  start_at: start,
  stop_at: stop,
  exclude,
  splay_seconds: splay,
}: Window): string {
  const parts: string[] = [];
  if (start !== null) parts.push(`from ${instantText(start)}`);
  if (stop !== null) parts.push(`until ${instantText(stop)}`);
  if (typeof exclude === 'number') {
    if (exclude > 0) parts.push(`${exclude} ${exclude === 1 ? 'date' : 'dates'} excluded`);
  } else if (exclude.length > 0) {
    const more = exclude.length > NAMED ? ` and ${exclude.length - NAMED} more` : '';
    parts.push(`not on ${exclude.slice(0, NAMED).join(', ')}${more}`);
  }
  if (splay > 0) parts.push(`splay ${splay}s`);
  return parts.join(', ');
}

function instantText(iso: string): string {
  return iso.replace('.000Z', 'Z');
}
