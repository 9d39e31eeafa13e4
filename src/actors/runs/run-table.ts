/** All live runs by id, and the tasks they belong to: those that are not over, and those whose end the store lacks. */
import { ColibriError } from '../kernel/errors.ts';
import { LinkedHashMap } from '../kernel/index.ts';
import type { RunFilter } from '../protocol.ts';
import type { LastEnd } from '../records.ts';
import type { RunView } from '../views/run-view.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-states.ts';
import { goneTask, type RunsTask, TaskState } from './task-state.ts';

export class RunTable {
  readonly #tasks: ReadonlyMap<string, TaskState>;
  /** Not in the config, but there are runs of them. */
  readonly #gone = new Map<string, TaskState>();
  readonly #live = new LinkedHashMap<string, Run>();

  constructor(tasks: readonly RunsTask[]) {
    this.#tasks = new Map(tasks.map((spec) => [spec.name, new TaskState(spec)]));
  }

  get size(): number {
    return this.#live.size;
  }

  get tasks(): Iterable<TaskState> {
    return this.#tasks.values();
  }

  /** A copy. */
  get runs(): readonly Run[] {
    return this.#live.values();
  }

  /** Throws `no-such-task`. */
  task(name: string): TaskState {
    const task = this.#tasks.get(name);
    if (task !== undefined) return task;
    throw new ColibriError(
      'no-such-task',
      `expected the name of a task in the config, got ${JSON.stringify(name)}`,
    );
  }

  /** One that is not in the config is made up. */
  taskOrGone(name: string): TaskState {
    let task = this.#tasks.get(name) ?? this.#gone.get(name);
    if (task === undefined) {
      task = goneTask(name);
      this.#gone.set(name, task);
    }
    return task;
  }

  /** How a task ended before; what is known already and newer stays. */
  knowEnd({ task: name, state, endedAtMs }: LastEnd): void {
    const task = this.#tasks.get(name);
    if (task === undefined || (task.lastEndedAtMs ?? 0) >= endedAtMs) return;
    task.lastState = state;
    task.lastEndedAtMs = endedAtMs;
  }

  hasTask(name: string): boolean {
    return this.#tasks.has(name);
  }

  has(id: string): boolean {
    return this.#live.has(id);
  }

  get(id: string): Run | undefined {
    return this.#live.get(id);
  }

  add(run: Run): void {
    this.#live.set(run.id, run);
  }

  /** A later run of the same id is not touched. */
  forget(run: Run): void {
    if (this.#live.get(run.id) === run) this.#live.delete(run.id);
  }

  /** The first of a task that its overlap counts, and that is not over. Looks through the table. */
  inTheWayOf(task: string): Run | undefined {
    return this.#live.values().find((run) => {
      const counts = run.task.spec.name === task && run.overlaps && run.state !== 'pending';
      return counts && !isTerminal(run.state);
    });
  }

  /** Newest first: the order of the table turned round. Only what is asked for is made into a view. */
  list(filter: RunFilter): RunView[] {
    const found: RunView[] = [];
    for (const run of this.#live.values().reverse()) {
      if (found.length >= filter.limit) break;
      if (filter.task !== null && run.task.spec.name !== filter.task) continue;
      if (filter.state !== null && run.state !== filter.state) continue;
      found.push(run.view());
    }
    return found;
  }
}
