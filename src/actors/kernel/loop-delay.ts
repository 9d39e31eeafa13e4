/**
 * How late the event loop of this thread fires a timer. Each look wakes the thread: so it looks ten times a second
 * while the thread has something to do, and less and less often, down to once a second, while it has not: then in the
 * middle of a second, with all else that wakes an idle process. The last 256 looks are kept; `look` gives the quantiles
 * since the last call, so that each scrape stands for its own interval.
 */
import type { Clock, ClockTimer } from './clock.ts';

const BUSY_EVERY_MS = 100;
const IDLE_EVERY_MS = 1000;
/** Above this share of the time since the last look, the thread has something to do: what only beats stays below. */
const BUSY_SHARE = 0.01;
const RING = 256;

export interface LoopDelay {
  /** Seconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class LoopDelaySampler {
  readonly #clock: Clock;
  readonly #activeMs: () => number;
  readonly #ring = new Float64Array(RING);
  #samples = 0;
  #max = 0;
  #everyMs = BUSY_EVERY_MS;
  #activeSeenMs = 0;
  #timer: ClockTimer | null = null;

  /** `activeMs`: how long the event loop of this thread has been busy so far; a parameter for tests. */
  constructor(clock: Clock, activeMs: () => number = loopActiveMs) {
    this.#clock = clock;
    this.#activeMs = activeMs;
  }

  /** Idempotent. */
  start(): void {
    if (this.#timer !== null) return;
    this.#everyMs = BUSY_EVERY_MS;
    this.#activeSeenMs = this.#activeMs();
    this.#arm();
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
    const armedMono = this.#clock.monoMs();
    const isIdle = this.#everyMs === IDLE_EVERY_MS;
    const delayMs = isIdle ? 1.5 * IDLE_EVERY_MS - (this.#clock.wallMs() % IDLE_EVERY_MS) : this.#everyMs;
    this.#timer = this.#clock.setTimer(delayMs, () => {
      const passedMs = this.#clock.monoMs() - armedMono;
      // The runtime may fire a timer up to a millisecond or two early; that is no delay.
      const late = Math.max(0, passedMs - delayMs) / 1000;
      this.#ring[this.#samples++ % RING] = late;
      this.#max = Math.max(this.#max, late);
      this.#adapt(passedMs);
      this.#arm();
    });
    this.#timer.unref();
  }

  #adapt(passedMs: number): void {
    const activeMs = this.#activeMs();
    const isBusy = activeMs - this.#activeSeenMs > BUSY_SHARE * passedMs;
    this.#activeSeenMs = activeMs;
    this.#everyMs = isBusy ? BUSY_EVERY_MS : Math.min(IDLE_EVERY_MS, 2 * this.#everyMs);
  }
}

function loopActiveMs(): number {
  return performance.eventLoopUtilization().active;
}

/** Nearest-rank quantile of a sorted list; 0 for an empty one. */
function quantile(sorted: Float64Array, q: number): number {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
}
