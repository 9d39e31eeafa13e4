/**
 * What flowed through the ready queue lately: how many runs came, how many stood there on average, how long they ran.
 * Little's law then tells how long they waited without a look at a single one: L = λ × W (Little, *A Proof for the
 * Queuing Formula L = λW*, Operations Research 9, 1961), with L the mean depth, λ the arrivals a second, W the wait.
 */
import type { Clock } from '../kernel/clock.ts';

export interface Flow {
  /** What the rest is about: from half a minute to a whole one; less after the start. */
  readonly windowMs: number;
  /** Runs that became ready, retries included. */
  readonly arrivals: number;
  /** Runs that were ready, on average over the window. */
  readonly meanDepth: number;
  /** Attempts that ended, and the sum of their times. */
  readonly ended: number;
  readonly durationMs: number;
}

const HALF_MS = 30_000;

class HalfWindow {
  readonly fromMono: number;
  arrivals = 0;
  /** Depth × time: runs × ms. */
  area = 0;
  ended = 0;
  durationMs = 0;

  constructor(fromMono: number) {
    this.fromMono = fromMono;
  }
}

/** Two half windows, the older one is given up when the newer is full. A call costs one look at the clock. */
export class FlowMeter {
  readonly #clock: Clock;
  #older: HalfWindow | null = null;
  #newer: HalfWindow;
  #depth = 0;
  #countedMono: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#countedMono = clock.monoMs();
    this.#newer = new HalfWindow(this.#countedMono);
  }

  /** A run has become ready; so many are now. Gives the instant, monotonic: the clock is looked at once for both. */
  arrived(depth: number): number {
    this.#count(depth);
    this.#newer.arrivals++;
    return this.#countedMono;
  }

  /** A run is not ready any more; so many are left. */
  left(depth: number): void {
    this.#count(depth);
  }

  /** An attempt has ended. */
  ended(durationMs: number): void {
    this.#newer.ended++;
    this.#newer.durationMs += durationMs;
  }

  read(): Flow {
    this.#count(this.#depth);
    const { arrivals, area, ended, durationMs, fromMono } = this.#newer;
    const older = this.#older;
    const windowMs = this.#countedMono - (older?.fromMono ?? fromMono);
    return {
      windowMs,
      arrivals: arrivals + (older?.arrivals ?? 0),
      meanDepth: windowMs > 0 ? (area + (older?.area ?? 0)) / windowMs : this.#depth,
      ended: ended + (older?.ended ?? 0),
      durationMs: durationMs + (older?.durationMs ?? 0),
    };
  }

  /** The depth was what it was until now. */
  #count(depth: number): void {
    const nowMono = this.#clock.monoMs();
    if (nowMono - this.#newer.fromMono >= HALF_MS) this.#turn(nowMono);
    this.#newer.area += this.#depth * (nowMono - this.#countedMono);
    this.#countedMono = nowMono;
    this.#depth = depth;
  }

  /** After a long pause neither half has anything to say: the time since the last call had one depth. */
  #turn(nowMono: number): void {
    const stale = nowMono - this.#newer.fromMono >= 2 * HALF_MS;
    const begin = stale ? nowMono - HALF_MS : nowMono;
    this.#newer.area += this.#depth * Math.max(0, begin - this.#countedMono);
    this.#countedMono = Math.max(this.#countedMono, begin);
    this.#older = stale ? null : this.#newer;
    this.#newer = new HalfWindow(begin);
  }
}
