/**
 * The retry queue: failed runs that wait out their backoff. Bounded in runs and bytes; what it refuses is counted. Nearly full it
 * tells those to wait who make new runs and can: where much fails, more work of the same kind would fail for good.
 */
import { type DelayEngine, HeapDelayEngine } from '../delay/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { Pressure } from './pressure.ts';
import type { Run } from './run.ts';
import { DEFAULT_WATERMARKS } from './watermarks.ts';

export class RetryQueue {
  readonly capacity: number;
  readonly pressure: Pressure;
  readonly #clock: Clock;
  readonly #load: () => number;
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
    this.pressure = new Pressure({
      watermarks: DEFAULT_WATERMARKS,
      share: () => this.#share,
      onChange: options.onPressure,
    });
    this.#clock = options.clock;
    this.#engine = new HeapDelayEngine<Run>({
      clock: options.clock,
      now: () => options.clock.monoMs(),
      onDue: (run) => {
        run.ownPast.retryTimer = null;
        options.onDue(run);
        this.pressure.shrank();
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

  /** A run was given up because the queue is full. */
  countRefused(): void {
    this.#refused++;
  }

  view(): { depth: number; capacity: number; rejected: number } {
    return { depth: this.depth, capacity: this.capacity, rejected: this.#refused };
  }

  add(run: Run, waitMs: number): void {
    run.ownPast.retryTimer = this.#engine.schedule(this.#clock.monoMs() + waitMs, run);
    this.pressure.grew();
  }

  remove(run: Run): void {
    const past = run.ownPast;
    if (past.retryTimer === null) return;
    this.#engine.cancel(past.retryTimer);
    past.retryTimer = null;
    this.pressure.shrank();
  }

  close(): void {
    this.#engine.close();
  }

  get #share(): number {
    const { size } = this.#engine;
    return size === 0 ? 0 : Math.max(size / this.capacity, this.#load());
  }
}
