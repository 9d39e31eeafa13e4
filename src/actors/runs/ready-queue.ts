/**
 * The ready queue: runs that only wait for a slot. Bounded as one queue, in runs and bytes; inside, one lane per pool,
 * priority and group. The highest priority leaves first; within one, the oldest of all lanes whose group has room. A run whose
 * group is full is so stepped over without losing its place.
 */
import type { PoolName } from '../execution.ts';
import type { FlowMeter } from './flow-meter.ts';
import { LinkedList } from './linked-list.ts';
import type { Run } from './run.ts';

/** A named limit that several tasks share. */
interface Group {
  readonly concurrency: number;
  active: number;
}

interface Lane {
  /** Null for runs of no group. */
  readonly group: Group | null;
  readonly runs: LinkedList<Run>;
}

/** All lanes of one pool and priority. The number of both is bounded by the config. */
interface Level {
  readonly priority: number;
  readonly lanes: Map<string | null, Lane>;
}

export interface ReadyQueueOptions {
  readonly capacity: number;
  readonly groups: Readonly<Record<string, { readonly concurrency: number }>>;
  /** Share of what they may hold that the runs hold which were accepted and are not over: here, on slots, in retry. */
  readonly load: () => number;
  readonly flow: FlowMeter;
}

/** A source that waits is told when the queue is no fuller than this. */
const LOW_WATER = 0.75;

export class ReadyQueue {
  readonly capacity: number;
  readonly #options: ReadyQueueOptions;
  readonly #groups: ReadonlyMap<string, Group>;
  /** By pool: its levels, highest priority first. */
  readonly #levels = new Map<PoolName, Level[]>();
  #depth = 0;
  #nextSequence = 0;

  constructor(options: ReadyQueueOptions) {
    this.capacity = options.capacity;
    this.#options = options;
    this.#groups = new Map(
      Object.entries(options.groups).map(([name, { concurrency }]) => [name, { concurrency, active: 0 }]),
    );
  }

  get depth(): number {
    return this.#depth;
  }

  /** One run always has room, however large it is. */
  get full(): boolean {
    return this.#depth >= this.capacity || this.heavy;
  }

  /** Full in bytes. */
  get heavy(): boolean {
    return this.#depth > 0 && this.#options.load() >= 1;
  }

  get low(): boolean {
    return (
      this.#depth <= this.capacity * LOW_WATER && (this.#depth === 0 || this.#options.load() <= LOW_WATER)
    );
  }

  push(run: Run): void {
    run.readySequence = this.#nextSequence++;
    this.#laneOf(run).runs.push(run);
    this.#options.flow.arrived(++this.#depth);
  }

  /** The run that `take` would give. */
  peek(pool: PoolName): Run | null {
    for (const { lanes } of this.#levels.get(pool) ?? []) {
      let oldest: Run | null = null;
      for (const { group, runs } of lanes.values()) {
        const { head } = runs;
        if (head === null || (group !== null && group.active >= group.concurrency)) continue;
        if (oldest === null || head.readySequence < oldest.readySequence) oldest = head;
      }
      if (oldest !== null) return oldest;
    }
    return null;
  }

  take(pool: PoolName): Run | null {
    const run = this.peek(pool);
    if (run === null) return null;
    this.remove(run);
    const group = this.#groupOf(run);
    if (group !== null) group.active++;
    return run;
  }

  /** A run that was taken has left its slot: its group may have room for the next one. */
  release(run: Run): void {
    const group = this.#groupOf(run);
    if (group !== null) group.active--;
  }

  /** Takes a run out of the middle. */
  remove(run: Run): void {
    run.list!.remove(run);
    this.#options.flow.left(--this.#depth);
  }

  /** The run that has waited longest of the lowest priority: the one `drop-oldest` gives up. */
  oldest(): Run | null {
    let oldest: Run | null = null;
    for (const levels of this.#levels.values()) {
      for (const { lanes } of levels) {
        for (const { runs } of lanes.values()) {
          if (runs.head !== null && (oldest === null || goesBefore(runs.head, oldest))) oldest = runs.head;
        }
      }
    }
    return oldest;
  }

  #groupOf(run: Run): Group | null {
    const name = run.task.spec.group;
    return name === null || run.scan ? null : (this.#groups.get(name) ?? null);
  }

  #laneOf(run: Run): Lane {
    const { lanes } = this.#levelOf(run.pool, run.task.spec.priority);
    const group = this.#groupOf(run);
    const key = group === null ? null : run.task.spec.group;
    let lane = lanes.get(key);
    if (lane === undefined) {
      lane = { group, runs: new LinkedList<Run>() };
      lanes.set(key, lane);
    }
    return lane;
  }

  #levelOf(pool: PoolName, priority: number): Level {
    let levels = this.#levels.get(pool);
    if (levels === undefined) {
      levels = [];
      this.#levels.set(pool, levels);
    }
    let level = levels.find((one) => one.priority === priority);
    if (level === undefined) {
      level = { priority, lanes: new Map() };
      levels.push(level);
      levels.sort((a, b) => b.priority - a.priority);
    }
    return level;
  }
}

function goesBefore(a: Run, b: Run): boolean {
  const priorityA = a.task.spec.priority;
  const priorityB = b.task.spec.priority;
  return priorityA < priorityB || (priorityA === priorityB && a.readySequence < b.readySequence);
}
