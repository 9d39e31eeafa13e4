/** Rows of the table that carry a bound beside the figure. */
import { type BenchRow, rounded } from './bench-row.ts';
import type { MaxAndMedian, ProcessSummary } from './sample-process.ts';

/** The figure must be at most this, below it, or at least this. */
export type Bound = { readonly atMost: number } | { readonly below: number } | { readonly atLeast: number };

export interface BoundedRow extends BenchRow {
  /** Of memory: `value` is the maximum. */
  readonly median?: number;
  readonly bound?: Bound;
  readonly met?: boolean;
}

/** Megabytes are 10⁶ bytes, so that a bound that is met is also met in MiB. */
export const MB = 1e6;

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly median?: number;
  readonly bound?: Bound | undefined;
  readonly note?: string;
}

/** The bound is held against the figure itself, not against what is left of it after rounding. */
export function figureRow({ name, unit, value, median, bound, note }: Figure): BoundedRow {
  const met = bound === undefined || isMet(value, bound);
  const notes = [
    ...(median === undefined ? [] : [`median ${rounded(median)}`]),
    ...(bound === undefined ? [] : [`${boundText(bound)}: ${met ? 'met' : 'NOT met'}`]),
    ...(note === undefined ? [] : [note]),
  ];
  return {
    name,
    unit,
    value: rounded(value),
    ...(median === undefined ? {} : { median: rounded(median) }),
    ...(bound === undefined ? {} : { bound, met }),
    ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
  };
}

export interface ProcessBounds {
  /** Of the maximum of RSS, MB. */
  readonly rss?: Bound | undefined;
  /** Of processor time, percent of one core. */
  readonly cpu?: Bound | undefined;
}

/** `<name>: RSS`, `anon`, `file`, `threads` and `CPU`; of memory the maximum, and the median beside it. */
export function processRows(name: string, summary: ProcessSummary, bounds: ProcessBounds = {}): BoundedRow[] {
  const memory = (what: string, { max, median }: MaxAndMedian, bound?: Bound): BoundedRow =>
    figureRow({ name: `${name}: ${what}`, unit: 'MB', value: max / MB, median: median / MB, bound });
  return [
    memory('RSS', summary.rss, bounds.rss),
    memory('anon', summary.anon),
    memory('file', summary.file),
    figureRow({ name: `${name}: threads`, unit: 'threads', value: summary.threadsMax }),
    figureRow({
      name: `${name}: CPU`,
      unit: '% of a core',
      value: 100 * summary.cpuShare,
      bound: bounds.cpu,
      note: `${summary.samples} samples in ${summary.seconds.toFixed(0)} s`,
    }),
  ];
}

function isMet(value: number, bound: Bound): boolean {
  if ('atMost' in bound) return value <= bound.atMost;
  return 'below' in bound ? value < bound.below : value >= bound.atLeast;
}

function boundText(bound: Bound): string {
  if ('atMost' in bound) return `≤ ${rounded(bound.atMost)}`;
  return 'below' in bound ? `< ${rounded(bound.below)}` : `≥ ${rounded(bound.atLeast)}`;
}
