/**
 * The retry queue: failed runs that wait out their backoff. Bounded in runs and bytes; what it refuses is counted. Nearly full it
 * tells those to wait who make new runs and can: where much fails, more work of the same kind would fail for good.
 */
import { type DelayEngine, HeapDelayEngine } from '../delay/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Run } from './run.ts';
import { DEFAULT_WATERMARKS, Watermarks } from './watermarks.ts';

export class RetryQueue {
  readonly capacity: number;
  readonly #clock: Clock;
  readonly #load: () => number;
  readonly #water: Watermarks;
  readonly #engine: DelayEngine<Run>;
  #refused = 0;

  /** `load`: share of what they may hold that the runs hold which were accepted and are not over, for a queue that has some. */
  constructor(options: {
    readonly clock: Clock;
    readonly capacity: number;
    readonly load: () => number;
    /** Its sources have to wait, or may go on. */
    readonly onPressure: (isHigh: boolean, share: number) => void;
    readonly onDue: (run: Run) => void;
  }) {
    this.capacity = options.capacity;
    this.#load = options.load;
    this.#water = new Watermarks(DEFAULT_WATERMARKS, options.onPressure);
    this.#clock = options.clock;
    this.#engine = new HeapDelayEngine<Run>({
      clock: options.clock,
      now: () => options.clock.monoMs(),
      onDue: (run) => {
        run.ownPast.retryTimer = null;
        options.onDue(run);
        if (this.#water.isHigh) this.#measure();
      },
    });
  }

  get depth(): number {
    return this.#engine.size;
  }

  get full(): boolean {
    const { size } = this.#engine;
    return size >= this.capacity || (size > 0 && this.#load() >= 1);
  }

  /** Above the high watermark, and not below the low one since. */
  get pressed(): boolean {
    if (!this.#water.isHigh) return false;
    this.#measure();
    return this.#water.isHigh;
  }

  /** How often its sources had to wait. */
  get presses(): number {
    return this.#water.rises;
  }

  /** A run was given up because the queue is full. */
  countRefused(): void {
    this.#refused++;
  }

  view(): { depth: number; capacity: number; rejected: number } {
    return { depth: this.depth, capacity: this.capacity, rejected: this.#refused };
  }

  add(run: Run, waitMs: number): void {
    run.ownPast.retryTimer = this.#engine.schedule(this.#clock.monoMs() + waitMs, run);
    if (!this.#water.isHigh) this.#measure();
  }

  remove(run: Run): void {
    const past = run.ownPast;
    if (past.retryTimer === null) return;
    this.#engine.cancel(past.retryTimer);
    past.retryTimer = null;
    if (this.#water.isHigh) this.#measure();
  }

  close(): void {
    this.#engine.close();
  }

  #measure(): void {
    const { size } = this.#engine;
    this.#water.measure(size === 0 ? 0 : Math.max(size / this.capacity, this.#load()));
  }
}
