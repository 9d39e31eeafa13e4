/** What the owner of all runs is given. */
import type { WallWatch } from '../delay/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { RecordBatch } from '../records.ts';
import type { PressedQueue } from '../views/runtime-view.ts';
import type { Bounds, GroupBounds } from './bounds.ts';
import type { RunsByteLimits } from './byte-limits.ts';
import type { FarRuns } from './later-runs.ts';
import type { WhenFull } from './policies.ts';
import type { FlowSeat } from './step-runs.ts';
import type { RunsTask } from './task-state.ts';
import type { WatermarksSpec } from './watermarks.ts';

/** What one step of priority is worth where nobody says otherwise: a minute of waiting. */
export const DEFAULT_AGEING_MS = 60_000;

export interface RunsOptions {
  readonly clock: Clock;
  /** The one of all who go by this clock's wall time. Default: what is to begin later goes by it alone. */
  readonly watch?: WallWatch;
  readonly random: () => number;
  readonly tasks: readonly RunsTask[];
  readonly groups: Readonly<Record<string, GroupBounds>>;
  /** Default: no bound of all runs, and `DEFAULT_AGEING_MS`. */
  readonly bounds?: Pick<Bounds, 'concurrency' | 'ageingMs'>;
  readonly queues: {
    readonly ready: {
      readonly capacity: number;
      readonly whenFull: WhenFull;
      /** Default: `DEFAULT_WATERMARKS`. */
      readonly watermarks?: WatermarksSpec;
    };
    readonly delayed: { readonly capacity: number };
    readonly retry: { readonly capacity: number };
    readonly deadLetter: { readonly capacity: number; readonly whenFull: 'drop-oldest' | 'drop-newest' };
  };
  /** Default: those of a memory budget of 40 MB. */
  readonly byteLimits?: RunsByteLimits;
  /**
   * Whether what the store acknowledges outlives the process. Then it is told of runs before they begin, what was
   * accepted is answered when it is kept, and no run begins before its beginning is kept. For a store in memory the first
   * would be a second copy of every queued run, and the others be worth nothing. Default true.
   */
  readonly durable?: boolean;
  /** Runs that are to begin later and stand in the store alone. Null, the default: there are none. */
  readonly far?: FarRuns | null;
  /** Who has the flows. Null, the default: there are none. */
  readonly flows?: FlowSeat | null;
  /** False: the store has no room now. */
  readonly record: (batch: RecordBatch) => boolean;
  /** The sources of a queue have to wait, or may go on; `share`: how full it is. */
  readonly onPressure?: (queue: PressedQueue, isHigh: boolean, share: number) => void;
  /** Says something to the log that belongs to no run event. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
