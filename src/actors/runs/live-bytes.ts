/**
 * What live runs cost in memory, in two accounts: of those that wait to be accepted, and of those that were accepted
 * and are not over. Each run is weighed when it comes and when a text of it grows; adding up costs nothing more.
 */
import { errorBytes, textBytes } from '../kernel/index.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-states.ts';

/**
 * Of one queued run beside its texts, bytes: the object (184), its three times (48), its place in the table (56).
 * Measured as the growth of the heap over each 10,000 queued runs with an id of 45 and an input of 150 characters, from
 * the second to the eighth: 485 to 601 bytes a run, 521 in the mean, less 64 and 168 for these texts. The table grows
 * by doubling.
 */
export const RUN_BYTES = 288;

/** Of what there is beside once a slot has taken the run, and of each attempt that is kept beside its error. */
const PAST_BYTES = 150;
const ATTEMPT_BYTES = 96;

/** A run with its id, its input and the errors of its attempts. A result comes with its end, and is the journal's. */
export function runBytes({ id, input, mark, note, past }: Run): number {
  let bytes = RUN_BYTES + textBytes(id) + textBytes(input) + textBytes(mark) + textBytes(note);
  if (past === null) return bytes;
  bytes += PAST_BYTES;
  for (const attempt of past.attempts) bytes += ATTEMPT_BYTES + errorBytes(attempt.error);
  return bytes;
}

export class LiveBytes {
  #waiting = 0;
  #accepted = 0;

  /** Of runs that are pending. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Of runs that are ready, on a slot, or to be tried again. */
  get accepted(): number {
    return this.#accepted;
  }

  /** A run is there, pending. */
  enter(run: Run): void {
    run.bytes = runBytes(run);
    this.#waiting += run.bytes;
  }

  /** A pending run has become ready. */
  accept(run: Run): void {
    this.#waiting -= run.bytes;
    this.#accepted += run.bytes;
  }

  /** An accepted run has more, or fewer, texts than before. */
  weigh(run: Run): void {
    const bytes = runBytes(run);
    this.#accepted += bytes - run.bytes;
    run.bytes = bytes;
  }

  /** A run is over. */
  leave(run: Run, wasPending: boolean): void {
    if (wasPending) this.#waiting -= run.bytes;
    else this.#accepted -= run.bytes;
  }
}

/** What live runs hold, by where they stand. */
export interface LiveBytesByPlace {
  readonly ready: number;
  readonly delayed: number;
  readonly retry: number;
  /** On slots. */
  readonly running: number;
}

/** Looks at every run. */
export function bytesByPlace(runs: Iterable<Run>): LiveBytesByPlace {
  const held = { ready: 0, delayed: 0, retry: 0, running: 0 };
  for (const { state, bytes } of runs) {
    if (state === 'ready') held.ready += bytes;
    else if (state === 'pending') held.delayed += bytes;
    else if (state === 'running') held.running += bytes;
    else if (!isTerminal(state)) held.retry += bytes;
  }
  return held;
}
