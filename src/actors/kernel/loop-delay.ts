/**
 * How late the event loop of this thread fires a timer: ten looks a second into a ring of 256, at a cost too
 * small to measure. `look` gives the quantiles since the last look, so that each scrape stands for its own
 * interval.
 */
import type { Clock, ClockTimer } from './clock.ts';

const EVERY_MS = 100;
const RING = 256;

export interface LoopDelay {
  /** Seconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class LoopDelaySampler {
  readonly #clock: Clock;
  readonly #ring = new Float64Array(RING);
  #samples = 0;
  #max = 0;
  #timer: ClockTimer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): void {
    if (this.#timer === null) this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  look(): LoopDelay {
    const sorted = this.#ring.slice(0, Math.min(this.#samples, RING)).sort();
    const result = { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: this.#max };
    this.#samples = 0;
    this.#max = 0;
    return result;
  }

  #arm(): void {
    const due = this.#clock.monoMs() + EVERY_MS;
    this.#timer = this.#clock.setTimer(EVERY_MS, () => {
      // The runtime may fire a timer up to a millisecond or two early; that is no delay.
      const late = Math.max(0, this.#clock.monoMs() - due) / 1000;
      this.#ring[this.#samples++ % RING] = late;
      this.#max = Math.max(this.#max, late);
      this.#arm();
    });
    this.#timer.unref();
  }
}

/** Nearest-rank quantile of a sorted list; 0 for an empty one. */
function quantile(sorted: Float64Array, q: number): number {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
}
