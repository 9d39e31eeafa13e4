/** The state of the daemon as users see it: tasks, queues, bounds, pools, threads, clocks, memory. */
import type { PoolName } from '../execution.ts';
import type { BoundKind } from '../runs/bounds.ts';
import type { RunState } from '../runs/run-states.ts';

/** Everything that main knows and others show: asked for when it is looked at, never pushed. */
export interface RuntimeView {
  readonly pid: number;
  readonly version: string;
  readonly configVersion: string | null;
  readonly configFile: string | null;
  readonly startedAtMs: number;
  readonly readyMs: number | null;
  readonly stopping: boolean;
  readonly queues: readonly QueueView[];
  readonly pools: readonly PoolView[];
  readonly bounds: readonly BoundView[];
  readonly pressures: readonly PressureView[];
  readonly tasks: readonly TaskView[];
  readonly liveRuns: number;
  readonly flows: readonly FlowCountsView[];
  /** Bytes, beside the runs of their steps. */
  readonly liveFlowsBytes: number;
  readonly threadRestarts: Readonly<Record<string, number>>;
  /** How often clocks jumped since the start. */
  readonly clockJumps: Readonly<Record<ClockJump, number>>;
  /** Event-loop delay of main since the last look, seconds. */
  readonly loopDelay: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly undeliverable: Readonly<Record<string, number>>;
  /** The last few of them, oldest first. */
  readonly lastUndeliverable: readonly {
    readonly atMs: number;
    readonly reason: string;
    readonly kind: string;
    readonly from: string;
    readonly to: string;
  }[];
  /** Bytes; `steps`: what the memory governor did, by step. */
  readonly memory: {
    readonly rss: number;
    readonly anon: number;
    readonly file: number;
    readonly budget: number;
    readonly steps: Readonly<Record<MemoryStep, number>>;
  };
  /** Late outcomes of runs that had been given up. */
  readonly lateOutcomes: number;
  /** Whether the last reload was carried out; true where there was none. */
  readonly configReloadOk: boolean;
  readonly store: StoreView;
}

/** Of a flow its runs are made and counted as those of a task are. */
export type TaskKind = 'cpu' | 'io' | 'flow';

/** What bounds the schedule of a task, and how far it starts behind it. */
export interface TaskWindow {
  readonly startAtMs: number | null;
  readonly stopAtMs: number | null;
  /** Dates and ranges of dates on which it does not run. */
  readonly excluded: number;
  readonly splayMs: number;
}

export interface TaskView {
  readonly name: string;
  readonly kind: TaskKind;
  /** Empty for a flow. */
  readonly handler: string;
  /** Whose bounds it shares; null: of none. */
  readonly group: string | null;
  /** As a person wrote it: `*\/5 * * * * *`, `every 5s`, `at 2026-…`, or null. */
  readonly schedule: string | null;
  /** Null: nothing bounds it. */
  readonly window: TaskWindow | null;
  readonly nextAtMs: number | null;
  /** Occurrences left out by the misfire policy since the start; null: the task has no schedule. */
  readonly missed: number | null;
  readonly active: number;
  readonly queued: number;
  readonly lastState: RunState | null;
  readonly lastEndedAtMs: number | null;
}

export interface QueueView {
  readonly name: 'ready' | 'delayed' | 'retry' | 'dead-letter';
  readonly depth: number;
  readonly capacity: number;
  readonly rejected: number;
}

/** Queues that tell their sources to wait: scans of the ready and the retry queue, the pools of the journal. */
export const PRESSED_QUEUES = ['ready', 'retry', 'journal'] as const;
export type PressedQueue = (typeof PRESSED_QUEUES)[number];

export interface PressureView {
  readonly queue: PressedQueue;
  /** Its sources wait. */
  readonly isHigh: boolean;
  /** How often they had to. */
  readonly rises: number;
}

/** A bound of the config on runs at one time. */
export interface BoundView {
  readonly kind: BoundKind;
  /** Of the group or the task; empty for the bound of all runs. */
  readonly name: string;
  /** Runs at once; of a key, those of each. Null: it has a rate alone. */
  readonly concurrency: number | null;
  /** Whether it has a rate. */
  readonly rated: boolean;
  /** Runs on slots that it counts. */
  readonly active: number;
  /** Ready runs that it holds back, and no bound around it does. */
  readonly held: number;
}

export interface PoolView {
  readonly name: PoolName;
  readonly slots: number;
  readonly active: number;
  readonly threads: number;
  /** Share of slot time in use over the last interval, 0 to 1. */
  readonly busyRatio: number;
}

/** Of one flow of the config. */
export interface FlowCountsView {
  readonly name: string;
  /** Runs of it that have begun and are not over. */
  readonly live: number;
  /** Steps that this daemon saw end. */
  readonly steps: Readonly<Record<'success' | 'failed' | 'skipped' | 'cancelled', number>>;
}

/** What clocks do: the wall clock is set, the machine sleeps, the process gets no time. */
export const CLOCK_JUMPS = ['forward', 'backward', 'suspend', 'stall'] as const;
export type ClockJump = (typeof CLOCK_JUMPS)[number];

/** What the memory governor can do, the mildest first. */
export const MEMORY_STEPS = ['release', 'collect', 'shrink', 'grow'] as const;
export type MemoryStep = (typeof MEMORY_STEPS)[number];

/** How main stands with its store. */
export interface StoreView {
  readonly kind: 'memory' | 'sqlite';
  /** False: nothing can be accepted for keeping just now. */
  readonly writable: boolean;
  /** Transitions that it has not acknowledged. */
  readonly unrecorded: number;
  /** Why it is not writable. */
  readonly reason: string | null;
}
