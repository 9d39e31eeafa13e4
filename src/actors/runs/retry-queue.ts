/** The retry queue: failed runs that wait out their backoff. Bounded; what it refuses is counted. */
import { type DelayEngine, HeapDelayEngine } from '../delay/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Run } from './run.ts';

export class RetryQueue {
  readonly capacity: number;
  readonly #clock: Clock;
  readonly #engine: DelayEngine<Run>;
  #refused = 0;

  constructor(options: { clock: Clock; capacity: number; onDue: (run: Run) => void }) {
    this.capacity = options.capacity;
    this.#clock = options.clock;
    this.#engine = new HeapDelayEngine<Run>({
      clock: options.clock,
      now: () => options.clock.monoMs(),
      onDue: (run) => {
        run.retryTimer = null;
        options.onDue(run);
      },
    });
  }

  get depth(): number {
    return this.#engine.size;
  }

  get full(): boolean {
    return this.#engine.size >= this.capacity;
  }

  /** A run was given up because the queue is full. */
  countRefused(): void {
    this.#refused++;
  }

  view(): { depth: number; capacity: number; rejected: number } {
    return { depth: this.depth, capacity: this.capacity, rejected: this.#refused };
  }

  add(run: Run, waitMs: number): void {
    run.retryTimer = this.#engine.schedule(this.#clock.monoMs() + waitMs, run);
  }

  remove(run: Run): void {
    if (run.retryTimer === null) return;
    this.#engine.cancel(run.retryTimer);
    run.retryTimer = null;
  }

  close(): void {
    this.#engine.close();
  }
}
