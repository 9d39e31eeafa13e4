/** The retry queue: failed runs that wait out their backoff. Bounded in runs and bytes; what it refuses is counted. */
import { type DelayEngine, HeapDelayEngine } from '../delay/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Run } from './run.ts';

export class RetryQueue {
  readonly capacity: number;
  readonly #clock: Clock;
  readonly #isHeavy: () => boolean;
  readonly #engine: DelayEngine<Run>;
  #refused = 0;

  /** `isHeavy`: runs that are not over hold as many bytes as they may, for a queue that has some already. */
  constructor(options: {
    readonly clock: Clock;
    readonly capacity: number;
    readonly isHeavy: () => boolean;
    readonly onDue: (run: Run) => void;
  }) {
    this.capacity = options.capacity;
    this.#isHeavy = options.isHeavy;
    this.#clock = options.clock;
    this.#engine = new HeapDelayEngine<Run>({
      clock: options.clock,
      now: () => options.clock.monoMs(),
      onDue: (run) => {
        run.ownPast.retryTimer = null;
        options.onDue(run);
      },
    });
  }

  get depth(): number {
    return this.#engine.size;
  }

  get full(): boolean {
    const { size } = this.#engine;
    return size >= this.capacity || (size > 0 && this.#isHeavy());
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
  }

  remove(run: Run): void {
    const past = run.ownPast;
    if (past.retryTimer === null) return;
    this.#engine.cancel(past.retryTimer);
    past.retryTimer = null;
  }

  close(): void {
    this.#engine.close();
  }
}
