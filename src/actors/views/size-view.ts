/** Memory as `size` shows it: who may hold how much, and the sizes that follow from the config. */
import type { MemoryStep } from './runtime-view.ts';

/** The memory of the process, row by row, and the sizes that follow from rates and times. */
export interface SizeView {
  readonly budgetBytes: number;
  /** Null: computed from the config alone, without a daemon. */
  readonly rssBytes: number | null;
  readonly rows: readonly LedgerRow[];
  /** Of the bounds; parts of a row that has a bound are not counted again. */
  readonly boundsBytes: number;
  /** Names of rows that neither have a bound nor are part of one that has. */
  readonly unbounded: readonly string[];
  /** Null: no governor, or no daemon. */
  readonly steps: Readonly<Record<MemoryStep, number>> | null;
  readonly ready: {
    readonly capacity: number;
    readonly rates: { readonly backlogPerSecond: number; readonly tolerateSeconds: number } | null;
    /** Of a run with an input of `TYPICAL_INPUT_BYTES`. */
    readonly runBytes: number;
    readonly maxBytes: number;
  };
  readonly io: {
    readonly sizing: 'fixed' | 'ratio' | 'measured';
    readonly slots: number;
    readonly cores: number;
    readonly waitMs: number;
    readonly computeMs: number;
  };
  /** Of the last half to whole minute; null without a daemon. */
  readonly flow: {
    readonly windowMs: number;
    /** Runs that became ready. */
    readonly arrivals: number;
    readonly meanDepth: number;
    /** Attempts that ended, and the sum of their times. */
    readonly ended: number;
    readonly durationMs: number;
  } | null;
}

/** One holder of memory: what it may hold at most, beside what it holds. */
export interface LedgerRow {
  readonly name: string;
  /** The row that this one is a part of; null: of the whole process. */
  readonly within: string | null;
  /** Null: no bound of its own. */
  readonly boundBytes: number | null;
  /** Null: not known. */
  readonly measuredBytes: number | null;
  /** In a sentence. */
  readonly how: string;
}
