/**
 * One timer for many deadlines: armed for the earliest, left alone when a deadline goes away, so that work
 * which ends in time costs no timer calls. It may fire early; its owner looks at the clock and arms it again.
 */
import type { Clock, ClockTimer } from '../../actors/kernel/clock.ts';

/** No wait is longer; the clock is looked at again on waking. */
const CAP_MS = 3_600_000;
/** Close deadlines share a wake-up. */
const FLOOR_MS = 2;

export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #onDue: (nowMono: number) => void;
  #timer: ClockTimer | null = null;
  #armedMono = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onDue: (nowMono: number) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Fires at `dueMono` or before. Does not keep the process alive. */
  arm(dueMono: number): void {
    if (dueMono >= this.#armedMono) return;
    this.#timer?.cancel();
    const nowMono = this.#clock.monoMs();
    const delayMs = Math.min(CAP_MS, Math.max(FLOOR_MS, dueMono - nowMono));
    this.#armedMono = nowMono + delayMs;
    this.#timer = this.#clock.setTimer(delayMs, () => {
      this.cancel();
      this.#onDue(this.#clock.monoMs());
    });
    this.#timer.unref();
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#armedMono = Number.POSITIVE_INFINITY;
  }
}
