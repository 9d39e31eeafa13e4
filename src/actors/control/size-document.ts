/** The memory ledger as JSON, with the conventions of `documents.ts`; rates and means are worked out here. */
import type { SizeView } from '../views/size-view.ts';

/** `rss_bytes` and `flow` are null where the ledger is computed from the config alone, without a daemon. */
export interface SizeDocument {
  readonly measured: boolean;
  readonly budget_bytes: number;
  readonly rss_bytes: number | null;
  readonly rows: readonly {
    readonly name: string;
    /** The row that this one is a part of. */
    readonly within: string | null;
    /** Null: no bound of its own. */
    readonly bound_bytes: number | null;
    /** Null: not known. */
    readonly measured_bytes: number | null;
    readonly how: string;
  }[];
  readonly sum: {
    /** Parts of a row that has a bound are not counted again. */
    readonly bound_bytes: number;
    /** Of the rows that are no parts: all resident memory. */
    readonly measured_bytes: number | null;
    readonly within_budget: boolean;
    /** Rows without a bound. */
    readonly unbounded: readonly string[];
  };
  /** What the memory governor has done so far. */
  readonly governor: Readonly<Record<string, number>> | null;
  readonly ready: {
    readonly capacity: number;
    readonly backlog_per_second: number | null;
    readonly tolerate_seconds: number | null;
    /** Of a run with an input of 150 bytes. */
    readonly run_bytes: number;
    readonly max_bytes: number;
  };
  readonly io: {
    readonly sizing: string;
    readonly slots: number;
    readonly cores: number;
    readonly wait_ms: number;
    readonly compute_ms: number;
  };
  /** Of the last half to whole minute. */
  readonly flow: {
    readonly window_seconds: number;
    /** Runs that became ready. */
    readonly runs_per_second: number;
    readonly mean_depth: number;
    /** By Little's law; null where nothing came. */
    readonly mean_wait_seconds: number | null;
    /** Attempts that ended; their mean time, null where none did; how many were in work on average. */
    readonly ended_per_second: number;
    readonly mean_duration_ms: number | null;
    readonly mean_active: number;
  } | null;
}

export function sizeDocument(view: SizeView): SizeDocument {
  const { budgetBytes, rssBytes, rows, boundsBytes, ready, io, flow } = view;
  return {
    measured: rssBytes !== null,
    budget_bytes: budgetBytes,
    rss_bytes: rssBytes,
    rows: rows.map(({ name, within, boundBytes, measuredBytes, how }) => {
      return { name, within, bound_bytes: boundBytes, measured_bytes: measuredBytes, how };
    }),
    sum: {
      bound_bytes: boundsBytes,
      measured_bytes: rssBytes,
      within_budget: boundsBytes <= budgetBytes,
      unbounded: view.unbounded,
    },
    governor: view.steps,
    ready: {
      capacity: ready.capacity,
      backlog_per_second: ready.rates?.backlogPerSecond ?? null,
      tolerate_seconds: ready.rates?.tolerateSeconds ?? null,
      run_bytes: ready.runBytes,
      max_bytes: ready.maxBytes,
    },
    io: { sizing: io.sizing, slots: io.slots, cores: io.cores, wait_ms: io.waitMs, compute_ms: io.computeMs },
    flow: flow === null ? null : flowDocument(flow),
  };
}

function flowDocument({
  windowMs,
  arrivals,
  meanDepth,
  ended,
  durationMs,
}: NonNullable<SizeView['flow']>): NonNullable<SizeDocument['flow']> {
  const seconds = Math.max(windowMs, 1) / 1000;
  const perSecond = arrivals / seconds;
  return {
    window_seconds: seconds,
    runs_per_second: perSecond,
    mean_depth: meanDepth,
    mean_wait_seconds: arrivals === 0 ? null : meanDepth / perSecond,
    ended_per_second: ended / seconds,
    mean_duration_ms: ended === 0 ? null : durationMs / ended,
    mean_active: durationMs / 1000 / seconds,
  };
}
