/** A clock whose time goes on when its one timer is fired: what an engine costs, without the waiting. */
import type { Clock, ClockTimer } from '../src/actors/kernel/index.ts';

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

export class VirtualClock implements Clock {
  #nowMs = 0;
  #timer: Timer | null = null;

  wallMs(): number {
    return this.#nowMs;
  }

  monoMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, callback: () => void): ClockTimer {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timer = timer;
    const cancel = () => {
      if (this.#timer === timer) this.#timer = null;
    };
    return { cancel, unref: () => {} };
  }

  /** Goes on to the timer and fires it; false: there is none. */
  step(): boolean {
    const timer = this.#timer;
    if (timer === null) return false;
    this.#timer = null;
    this.#nowMs = timer.atMs;
    timer.callback();
    return true;
  }
}
