/**
 * The stretches of wall time that the scheduler has lived through. What came due in them was given out, or missed by
 * policy: it does not come again when the clock is set back.
 *
 * The stretch that is being lived grows; a step of the wall clock closes it and begins another. What is due in the one
 * that grows is known by each schedule itself: its next occurrence is the first that has not been dealt with.
 */
import { StretchSet } from './stretches.ts';

export class LivedTime {
  /** Those before the one that grows. */
  readonly closed = new StretchSet();
  #fromMs = 0;
  #toMs = 0;

  /** After this instant the present stretch began. */
  get fromMs(): number {
    return this.#fromMs;
  }

  /** Everything up to this instant was looked at. */
  get toMs(): number {
    return this.#toMs;
  }

  /** By the wall clock as it is now, the time after `fromMs` up to `toMs` has passed for real. */
  begin(fromMs: number, toMs: number): void {
    this.closed.add(this.#fromMs, this.#toMs);
    this.#fromMs = Math.floor(fromMs);
    this.#toMs = Math.floor(toMs);
  }

  extend(toMs: number): void {
    this.#toMs = Math.max(this.#toMs, Math.floor(toMs));
  }
}
