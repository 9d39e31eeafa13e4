/**
 * What is ready for one pool, as a tree: a branch for each bound, lanes of runs at its ends, each in the order they came.
 *
 *   root ─┬─ lane (priority 0)
 *         ├─ group api ─┬─ lane (priority 0)
 *         │             └─ task sync ─┬─ lane (key a)
 *         └─ task digest              └─ lane (key b)
 *
 * A branch has a heap of those of its places from which a run may begin. A place whose gate is shut is not in it, with all
 * that waits there, and is put back when the gate opens: what is held back costs nothing when a run is taken. Invariant:
 * `rank` of a place is that of its best run that may begin, Infinity where there is none.
 *
 * A lower rank goes first: rank = (when it became ready) − priority × ageing. As both terms stand still while a run
 * waits, the order of any two is settled when they come (J. R. Jackson, *Some problems in queueing with dynamic
 * priorities*, Naval Research Logistics Quarterly 7, 1960). A run is passed only by those that become ready less than
 * (their priority − its own) × ageing after it.
 */
import type { Gate } from './gate.ts';
import { LinkedList } from './linked-list.ts';
import type { Run } from './run.ts';

export const NONE = Number.POSITIVE_INFINITY;

export abstract class Place {
  readonly parent: Branch | null;
  readonly gate: Gate | null;
  rank = NONE;
  /** In the heap of its parent; −1: it is not there. */
  position = -1;

  constructor(parent: Branch | null, gate: Gate | null) {
    this.parent = parent;
    this.gate = gate;
    gate?.places.push(this);
  }

  /** Rank of its best run, whether its own gate is open or not. */
  protected abstract get bestRank(): number;

  /** Runs in it. */
  abstract get depth(): number;

  /** Its best run, or its gate, may have changed: it goes where it belongs, and so do those above it. */
  refresh(): void {
    const rank = this.gate?.shut === true ? NONE : this.bestRank;
    if (rank === this.rank) return;
    this.rank = rank;
    if (this.parent === null) return;
    this.parent.settle(this);
    this.parent.refresh();
  }
}

/** Lanes of one task by the keys of its runs. */
export interface KeyedLanes {
  lanes(): Iterable<Lane>;
  laneOf(input: string, priority: number): Lane;
  /** A lane has lost a run: it goes with the last one. */
  tidy(lane: Lane): void;
}

/** A list that knows its lane. */
class LaneRuns extends LinkedList<Run> {
  readonly lane: Lane;

  constructor(lane: Lane) {
    super();
    this.lane = lane;
  }
}

export interface LaneOptions {
  readonly priority: number;
  /** Priority × ageing. */
  readonly creditMs: number;
  /** Where it is one of many: who gives it up when nothing of its key is left. */
  readonly keys?: KeyedLanes;
  readonly key?: string;
}

export class Lane extends Place {
  readonly priority: number;
  readonly creditMs: number;
  readonly keys: KeyedLanes | null;
  readonly key: string;
  readonly runs = new LaneRuns(this);

  constructor(parent: Branch, gate: Gate | null, { priority, creditMs, keys, key = '' }: LaneOptions) {
    super(parent, gate);
    this.priority = priority;
    this.creditMs = creditMs;
    this.keys = keys ?? null;
    this.key = key;
  }

  /** Where a ready run stands. */
  static of(run: Run): Lane {
    return (run.list as LaneRuns).lane;
  }

  get depth(): number {
    return this.runs.length;
  }

  protected get bestRank(): number {
    const { head } = this.runs;
    return head === null ? NONE : head.readyMono - this.creditMs;
  }

  push(run: Run): void {
    this.runs.push(run);
    if (this.runs.length === 1) this.refresh();
  }

  remove(run: Run): void {
    const isHead = this.runs.head === run;
    this.runs.remove(run);
    if (isHead) this.refresh();
  }
}

export class Branch extends Place {
  /** All of them but lanes of keys. */
  readonly places: Place[] = [];
  /** Lanes of tasks without a bound of their own, by priority. */
  readonly #shared = new Map<number, Lane>();
  /** Lanes by key. */
  keys: KeyedLanes | null = null;
  /** Those from which a run may begin: a binary heap, the lowest rank first. */
  readonly #heap: Place[] = [];

  /** The lane from which a run begins next. */
  get bestLane(): Lane | null {
    if (this.rank === NONE) return null;
    let place: Place = this;
    while (place instanceof Branch) place = place.#heap[0]!;
    return place as Lane;
  }

  get depth(): number {
    let depth = 0;
    for (const place of this.all()) depth += place.depth;
    return depth;
  }

  protected get bestRank(): number {
    return this.#heap[0]?.rank ?? NONE;
  }

  *all(): Generator<Place> {
    yield* this.places;
    if (this.keys !== null) yield* this.keys.lanes();
  }

  *lanes(): Generator<Lane> {
    for (const place of this.all()) {
      if (place instanceof Branch) yield* place.lanes();
      else yield place as Lane;
    }
  }

  shared(priority: number, creditMs: number): Lane {
    let lane = this.#shared.get(priority);
    if (lane === undefined) {
      lane = new Lane(this, null, { priority, creditMs });
      this.#shared.set(priority, lane);
      this.places.push(lane);
    }
    return lane;
  }

  /** The rank of one of its places has changed. */
  settle(place: Place): void {
    const { position } = place;
    if (place.rank === NONE) {
      if (position !== -1) this.#take(position);
    } else if (position === -1) this.#up(place, this.#heap.length);
    else if (position > 0 && this.#heap[(position - 1) >> 1]!.rank > place.rank) this.#up(place, position);
    else this.#down(place, position);
  }

  #take(position: number): void {
    const heap = this.#heap;
    heap[position]!.position = -1;
    const last = heap.pop()!;
    if (position === heap.length) return;
    last.position = position;
    heap[position] = last;
    this.settle(last);
  }

  #up(place: Place, from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above]!;
      if (other.rank <= place.rank) break;
      heap[at] = other;
      other.position = at;
      at = above;
    }
    heap[at] = place;
    place.position = at;
  }

  #down(place: Place, from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.rank < heap[below]!.rank) below++;
      const other = heap[below]!;
      if (other.rank >= place.rank) break;
      heap[at] = other;
      other.position = at;
      at = below;
    }
    heap[at] = place;
    place.position = at;
  }
}
