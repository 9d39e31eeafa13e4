/**
 * What has been counted of runs, by task. The hot path of telemetry: no allocation for an event of a task
 * that was seen before. There is at most one `TaskCounters` for each task of the config, and one more for all
 * names that are not (or no longer) in it, so that the number of metric lines is bounded by the config.
 */
import type { RunEvent } from '../records.ts';
import { DURATION_BOUNDS, Histogram, LAG_BOUNDS } from './histogram.ts';
import { LineBudget } from './line-budget.ts';

/** Label of everything whose task is not in the config. Not a legal task name, so it cannot collide. */
export const OTHER_TASK = '_other';

/** The values of the label `result`. */
export const RunResult = {
  Success: 'success',
  Failed: 'failed',
  Skipped: 'skipped',
  Cancelled: 'cancelled',
} as const;
export type RunResult = (typeof RunResult)[keyof typeof RunResult];
export const RUN_RESULTS: readonly RunResult[] = Object.values(RunResult);

export class TaskCounters {
  readonly task: string;
  readonly labels: { readonly task: string };
  success = 0;
  failed = 0;
  skipped = 0;
  cancelled = 0;
  interrupted = 0;
  retries = 0;
  /** Of `failed`, those that became dead letters. */
  dead = 0;
  readonly duration = new Histogram(DURATION_BOUNDS);
  maxDurationS = 0;
  lastSuccessAtMs: number | null = null;
  /** One budget for each kind of line, made on first use. */
  readonly budgets = new Map<string, LineBudget>();

  constructor(task: string) {
    this.task = task;
    this.labels = { task };
  }

  budget(line: string): LineBudget {
    let budget = this.budgets.get(line);
    if (budget === undefined) {
      budget = new LineBudget();
      this.budgets.set(line, budget);
    }
    return budget;
  }

  /** `failed` counts runs that are over; `retries` the attempts before that are taken again. */
  count(event: RunEvent): void {
    switch (event.state) {
      case 'success':
        this.success++;
        if (this.lastSuccessAtMs === null || event.atMs > this.lastSuccessAtMs) {
          this.lastSuccessAtMs = event.atMs;
        }
        break;
      case 'failed':
        this.failed++;
        if (event.dead === true) this.dead++;
        break;
      case 'skipped':
        this.skipped++;
        break;
      case 'cancelled':
        this.cancelled++;
        break;
      case 'interrupted':
        this.interrupted++;
        break;
      case 'retrying':
        this.retries++;
        break;
      default:
        return;
    }
    if (event.durationMs !== undefined) {
      const seconds = event.durationMs / 1000;
      this.duration.observe(seconds);
      if (seconds > this.maxDurationS) this.maxDurationS = seconds;
    }
  }
}

export class RunCounters {
  readonly lag = new Histogram(LAG_BOUNDS);
  readonly #byTask = new Map<string, TaskCounters>();
  #names: ReadonlySet<string>;

  constructor(tasks: Iterable<string>) {
    this.#names = new Set(tasks);
  }

  /** The names of the config, counted or not. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** All that have counted something. */
  all(): Iterable<TaskCounters> {
    return this.#byTask.values();
  }

  get(task: string): TaskCounters | undefined {
    return this.#byTask.get(task);
  }

  of(task: string): TaskCounters {
    return this.#byTask.get(task) ?? this.#create(task);
  }

  /** After a reload: counters of tasks that stay keep their values, those that went are given up. */
  setTasks(tasks: Iterable<string>): void {
    this.#names = new Set(tasks);
    for (const task of this.#byTask.keys()) {
      if (task !== OTHER_TASK && !this.#names.has(task)) this.#byTask.delete(task);
    }
  }

  /** The last success of a task that an earlier daemon saw; of one that is not in the config nothing is said. */
  succeededBefore(task: string, atMs: number): void {
    if (!this.#names.has(task)) return;
    const counters = this.of(task);
    counters.lastSuccessAtMs = Math.max(counters.lastSuccessAtMs ?? 0, atMs);
  }

  count(event: RunEvent): TaskCounters {
    const counters = this.of(event.task);
    counters.count(event);
    if (event.lagMs !== undefined) this.lag.observe(event.lagMs / 1000);
    return counters;
  }

  #create(task: string): TaskCounters {
    const label = this.#names.has(task) ? task : OTHER_TASK;
    let counters = this.#byTask.get(label);
    if (counters === undefined) {
      counters = new TaskCounters(label);
      this.#byTask.set(label, counters);
    }
    return counters;
  }
}
