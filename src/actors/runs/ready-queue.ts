/**
 * The ready queue: runs that only wait for a slot. Bounded as one queue; inside, one list per pool and
 * priority. Higher priorities leave first; within one, the oldest. A run whose group is full is parked with
 * its group: stepped over, still counted, and put back at the head when the group has room.
 */
import type { PoolName } from '../../workers/handler.ts';
import { LinkedList } from './linked-list.ts';
import type { Run } from './run.ts';

/** A named limit that several tasks share. */
interface Group {
  readonly concurrency: number;
  active: number;
  /** Ready, but stepped over while the group is full. */
  readonly parked: LinkedList<Run>;
}

export class ReadyQueue {
  readonly capacity: number;
  readonly #groups: ReadonlyMap<string, Group>;
  /** By pool, by priority. The number of priorities is bounded by the number of tasks. */
  readonly #lists = new Map<PoolName, Map<number, LinkedList<Run>>>();
  /** By pool: its priorities, highest first. */
  readonly #order = new Map<PoolName, number[]>();
  #depth = 0;

  constructor(capacity: number, groups: Readonly<Record<string, { readonly concurrency: number }>>) {
    this.capacity = capacity;
    this.#groups = new Map(
      Object.entries(groups).map(([name, { concurrency }]) => [
        name,
        { concurrency, active: 0, parked: new LinkedList<Run>() },
      ]),
    );
  }

  get depth(): number {
    return this.#depth;
  }

  get full(): boolean {
    return this.#depth >= this.capacity;
  }

  push(run: Run): void {
    this.#listOf(run).push(run);
    this.#depth++;
  }

  /** The run that `take` would give. */
  peek(pool: PoolName): Run | null {
    for (const priority of this.#order.get(pool) ?? []) {
      const list = this.#lists.get(pool)!.get(priority)!;
      for (let run = list.head; run !== null; run = list.head) {
        const group = this.#groupOf(run);
        if (group === null || group.active < group.concurrency) return run;
        list.remove(run);
        group.parked.push(run);
      }
    }
    return null;
  }

  take(pool: PoolName): Run | null {
    const run = this.peek(pool);
    if (run === null) return null;
    run.list!.remove(run);
    this.#depth--;
    const group = this.#groupOf(run);
    if (group !== null) group.active++;
    return run;
  }

  /** A run that was taken has left its slot: its group may have room for the next one. */
  release(run: Run): void {
    const group = this.#groupOf(run);
    if (group === null) return;
    group.active--;
    const next = group.parked.shift();
    if (next !== null) this.#listOf(next).unshift(next);
  }

  /** Takes a run out of the middle. */
  remove(run: Run): void {
    run.list!.remove(run);
    this.#depth--;
  }

  /** The run that has waited longest of the lowest priority: the one `drop-oldest` gives up. */
  oldest(): Run | null {
    let oldest: Run | null = null;
    for (const lists of this.#lists.values()) {
      for (const list of lists.values()) {
        const head = list.head;
        if (head !== null && (oldest === null || isOlder(head, oldest))) oldest = head;
      }
    }
    for (const group of this.#groups.values()) {
      const head = group.parked.head;
      if (head !== null && (oldest === null || isOlder(head, oldest))) oldest = head;
    }
    return oldest;
  }

  #groupOf(run: Run): Group | null {
    const name = run.task.spec.group;
    return name === null || run.scan ? null : (this.#groups.get(name) ?? null);
  }

  #listOf(run: Run): LinkedList<Run> {
    const pool: PoolName = run.scan ? 'io' : run.task.spec.pool;
    const priority = run.task.spec.priority;
    let lists = this.#lists.get(pool);
    if (lists === undefined) {
      lists = new Map();
      this.#lists.set(pool, lists);
      this.#order.set(pool, []);
    }
    let list = lists.get(priority);
    if (list === undefined) {
      list = new LinkedList<Run>();
      lists.set(priority, list);
      const order = this.#order.get(pool)!;
      order.push(priority);
      order.sort((a, b) => b - a);
    }
    return list;
  }
}

function isOlder(a: Run, b: Run): boolean {
  const priorityA = a.task.spec.priority;
  const priorityB = b.task.spec.priority;
  return priorityA < priorityB || (priorityA === priorityB && a.createdAtMs < b.createdAtMs);
}
