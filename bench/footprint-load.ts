/**
 * Load on a daemon over its control socket, made on a thread of its own so that it does not hold up the sampling.
 * The daemon takes 64 connections and each is one request; a load must stay below.
 */
import { Worker } from 'node:worker_threads';

export interface Job {
  readonly task: string;
  readonly payload?: unknown;
}

/** Keeps so many runs going, each waited for, one job after the other; a refused one is tried again. */
export interface KeepLoad {
  readonly kind: 'keep';
  readonly jobs: readonly Job[];
  readonly inFlight: number;
  /** Runs in all; until it is stopped where there is none. */
  readonly count?: number;
}

/** Offers so many runs a second and does not wait for their end; what finds no open request free is held back. */
export interface OfferLoad {
  readonly kind: 'offer';
  readonly job: Job;
  readonly perSecond: number;
  readonly maxOpen: number;
}

export type Load = KeepLoad | OfferLoad;

export interface LoadTotals {
  /** Runs that were waited for and ended with success. */
  ended: number;
  /** Of what was offered. */
  accepted: number;
  /** Answers that the queue was full. */
  refused: number;
  /** Offers that were not made, because the daemon kept earlier ones waiting. */
  heldBack: number;
}

export interface LoadThreadData {
  readonly socketPath: string;
  readonly loads: readonly Load[];
}

export interface RunningLoad {
  /** Resolves when all loads with a count are done, or after `stop`; rejects where a run failed. */
  readonly finished: Promise<LoadTotals>;
  /** Begins nothing more, waits for what is open. Idempotent. */
  stop(): Promise<LoadTotals>;
}

export function startLoad(data: LoadThreadData): RunningLoad {
  const thread = new Worker(new URL('./footprint-load-thread.ts', import.meta.url), { workerData: data });
  const finished = new Promise<LoadTotals>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    // After a message this changes nothing.
    thread.once('exit', (code) =>
      reject(new Error(`expected the totals of a load, got its end with ${code}`)),
    );
  });
  // Whoever stops or awaits it later learns of it then.
  finished.catch(() => {});
  return {
    finished,
    stop() {
      thread.postMessage('stop');
      return finished;
    },
  };
}
