/**
 * The words between the owner of the runs and the pools that execute them: the order that a slot takes, the outcome
 * that it owes for it, and the pool as main sees it.
 */
import type { ErrorData } from './kernel/errors.ts';

/**
 * Where a handler runs. `guest` is the io pool of the thread that user modules of kind io live on; `scan` is a lane
 * of its own beside io, for looking for files: a scan waits for room for what it finds and must not hold a slot that
 * would make that room. `inline` are functions of the program that holds the runtime as a library, on its own thread.
 * `flow` is where runs of flows are while their steps run: it executes nothing itself.
 */
export const PoolName = {
  Cpu: 'cpu',
  Io: 'io',
  Guest: 'guest',
  Scan: 'scan',
  Inline: 'inline',
  Flow: 'flow',
} as const;
export type PoolName = (typeof PoolName)[keyof typeof PoolName];

/** Whose runs make, or wait for, those of the other pools: what bounds these does not count them, or none of them would end. */
export function makesRuns(pool: PoolName): boolean {
  return pool === PoolName.Scan || pool === PoolName.Flow;
}

/** A run as a pool takes it. `input` is JSON text: the router never looks into it. */
export interface ExecuteOrder {
  readonly run: string;
  readonly task: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly handler: string;
  readonly input: string;
  /** Time from its start after which the run is aborted and its slot freed. */
  readonly timeoutMs: number;
  /**
   * Ordinal of the transition by which the run began: it does not begin before that is kept. Left out where nothing is
   * to be waited for.
   */
  readonly after?: number;
}

/** Why a run is told to stop. */
export const AbortReason = { Timeout: 'timeout', Cancel: 'cancel', Shutdown: 'shutdown' } as const;
export type AbortReason = (typeof AbortReason)[keyof typeof AbortReason];

/**
 * What became of one order. A pool owes exactly one for every order it took, at the latest when timeout,
 * grace and the replacement of a thread have passed, whatever the handler does.
 * - `success`: `result` is JSON text, `null` for undefined
 * - `failed`: the run's own doing; counts against its retries
 * - `cancelled`: it was told to stop (cancel or shutdown) and did
 * - `interrupted`: the thread under it ended for another reason; not counted against its retries
 */
export interface Outcome {
  readonly run: string;
  readonly attempt: number;
  readonly status: 'success' | 'failed' | 'cancelled' | 'interrupted';
  readonly result: string | null;
  readonly error: ErrorData | null;
  /** Wall time from its start on the thread to its end. */
  readonly durationMs: number;
  /** False where a retry cannot help: the input is invalid, the handler is not there. */
  readonly retryable: boolean;
}

/** Where a pool takes its work: the ready queue seen from one pool. */
export interface WorkSource {
  /** The task of the order that `take` would give, without taking it. */
  peekTask(): string | undefined;
  take(): ExecuteOrder | undefined;
}

/** The main-thread side of a pool. A free slot takes; nothing pushes. */
export interface Pool {
  readonly name: PoolName;
  /** Slots now, busy or not. */
  readonly slots: number;
  /** Orders taken for which no outcome was given yet. */
  readonly active: number;
  /** Tells the pool that its source may have work. Cheap, may be called any number of times. */
  wake(): void;
  /** Asks a running order to stop: abort signal, grace, then by force. False if the pool does not hold it. */
  abort(run: string, reason: AbortReason): boolean;
  /** Takes nothing more. Resolves when every order has its outcome. */
  drain(): Promise<void>;
  /** Ends all threads and process trees at once; every order held gets its outcome. Idempotent. */
  destroy(): Promise<void>;
}
