/**
 * How many orders one cpu slot takes at once.
 *
 * Handing work to a thread and back costs two wake-ups, some 50 µs, whatever the work. So tiny runs travel
 * in batches; a long run always goes alone, because those behind it would wait for it, and so does a task
 * of which nothing is known yet, or that has cost a thread. What a task is, is measured: the moving average
 * of its durations, which rises fast and falls slowly.
 */

import type { ExecuteOrder, WorkSource } from '../../actors/execution.ts';
import { BATCH_LIMIT } from './cpu-region.ts';

/** A task is tiny up to this average. */
const TINY_MS = 0.5;
/** The expected duration of one batch is at most this. */
const BATCH_BUDGET_MS = 1;
/** The most orders a batch takes: more do not lower the cost of one, but let other slots go empty. */
const TAKE_LIMIT = Math.min(32, BATCH_LIMIT);
const RISE = 0.5;
const FALL = 0.2;
/** Tasks that are remembered; the one measured first is forgotten first. */
const TASK_LIMIT = 1_000;
/** Clean runs alone before a task that cost a thread may travel with others again. */
const PROBATION_RUNS = 100;

interface Measured {
  meanMs: number;
  probation: number;
}

export class BatchSizer {
  readonly #tasks = new Map<string, Measured>();
  /** True: every order goes alone, nothing travels ahead of its time. */
  narrow = false;

  /** Expected duration of one run in ms; `undefined` if runs of the task go alone. */
  tinyMs(task: string): number | undefined {
    const measured = this.#tasks.get(task);
    if (measured === undefined || measured.probation > 0 || measured.meanMs > TINY_MS) return undefined;
    return measured.meanMs;
  }

  /** Takes in the duration of one run that ended by itself. */
  record(task: string, durationMs: number): void {
    const measured = this.#tasks.get(task);
    if (measured === undefined) {
      this.#remember(task, { meanMs: durationMs, probation: 0 });
      return;
    }
    const weight = durationMs > measured.meanMs ? RISE : FALL;
    measured.meanMs += weight * (durationMs - measured.meanMs);
    if (measured.probation > 0) measured.probation--;
  }

  /** The task has cost a thread: its next runs go alone. */
  distrust(task: string): void {
    const measured = this.#tasks.get(task);
    if (measured === undefined) this.#remember(task, { meanMs: 0, probation: PROBATION_RUNS });
    else measured.probation = PROBATION_RUNS;
  }

  /** Takes the next batch; empty if the source is. */
  take(source: WorkSource): ExecuteOrder[] {
    const first = source.take();
    if (first === undefined) return [];
    const orders = [first];
    let expectedMs = this.tinyMs(first.task);
    const limit = this.narrow ? 1 : TAKE_LIMIT;
    while (expectedMs !== undefined && orders.length < limit) {
      const task = source.peekTask();
      const nextMs = task === undefined ? undefined : this.tinyMs(task);
      if (nextMs === undefined || expectedMs + nextMs > BATCH_BUDGET_MS) break;
      const next = source.take();
      if (next === undefined) break;
      orders.push(next);
      expectedMs += nextMs;
    }
    return orders;
  }

  #remember(task: string, measured: Measured): void {
    if (this.#tasks.size >= TASK_LIMIT) {
      for (const oldest of this.#tasks.keys()) {
        this.#tasks.delete(oldest);
        break;
      }
    }
    this.#tasks.set(task, measured);
  }
}
