/**
 * How many cpu threads fit into the memory that is left. A thread that is started beyond it would be given up again
 * seconds later, after the budget was passed; so it is not started.
 */

/** What a cpu thread takes at work: its heap, its part of malloc, a compressor. Measured, see docs/memory.md. */
export const THREAD_BYTES = 9 * 2 ** 20;
/** What main and the service thread take more at work than at rest. */
const WORK_BYTES = 5 * 2 ** 20;

export interface ThreadRoom {
  /** Resident at most. */
  readonly limitBytes: number;
  /** Resident now, with the threads that run. */
  readonly rssBytes: number;
  readonly running: number;
  readonly maxThreads: number;
  /** Nothing has run for a while: that of the process which is not its cpu threads will grow as well. */
  readonly quiet: boolean;
}

/** At least one, and never fewer than run. */
export function threadsThatFit({ limitBytes, rssBytes, running, maxThreads, quiet }: ThreadRoom): number {
  const leftBytes = limitBytes - rssBytes - (quiet ? WORK_BYTES : 0);
  const more = Math.max(0, Math.floor(leftBytes / THREAD_BYTES));
  return Math.min(maxThreads, Math.max(1, running + more));
}
