/**
 * The bounds of a config as gates, and the trees of lanes behind them. Built anew when the config changes: what the rates of
 * groups have given out is carried over.
 *
 * A gate that the rate of its group has shut is opened by a delay engine when its time has come; nothing looks before.
 */
import { type DelayEngine, HeapDelayEngine } from '../delay/index.ts';
import { makesRuns, type PoolName } from '../execution.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BoundView } from '../views/runtime-view.ts';
import { BoundKind, type Bounds } from './bounds.ts';
import { Gate } from './gate.ts';
import { KeyLanes, type KeyRoom, MAX_KEYS } from './key-lanes.ts';
import { RateLimit } from './rate-limit.ts';
import { Branch, Lane, type Place } from './ready-tree.ts';
import type { Run } from './run.ts';
import type { TaskState } from './task-state.ts';

export interface BoundGatesOptions {
  readonly clock: Clock;
  readonly bounds: Bounds;
  /** A bound has room again, because time has passed. */
  readonly onRoom: () => void;
  /** Keys with a lane of their own; a parameter for tests. */
  readonly maxKeys?: number;
}

export class BoundGates {
  readonly #options: BoundGatesOptions;
  readonly #all: Gate | null;
  readonly #groups = new Map<string, Gate>();
  readonly #roots = new Map<PoolName, Branch>();
  /** By pool and group. */
  readonly #branches = new Map<string, Branch>();
  /** Where the runs of a task go: a lane, or a branch with lanes by key. */
  readonly #places = new Map<TaskState, Place>();
  /** Lanes beside that of a task with a bound of its own, behind the same gate: for steps that have another priority. */
  readonly #beside = new Map<Lane, Lane[]>();
  readonly #room: KeyRoom;
  #spansPools = false;
  #engine: DelayEngine<Gate> | null = null;

  constructor(options: BoundGatesOptions, before: BoundGates | null) {
    const { bounds, clock } = options;
    this.#options = options;
    this.#room = { left: options.maxKeys ?? MAX_KEYS };
    before?.close();
    this.#all =
      bounds.concurrency === null
        ? null
        : new Gate({ kind: BoundKind.All, name: '', limit: bounds.concurrency });
    const nowMono = clock.monoMs();
    for (const [name, { concurrency: limit = null, rate: spec }] of Object.entries(bounds.groups)) {
      const openMono = before === null ? nowMono : before.#openMonoOf(name, nowMono);
      const rate = spec === undefined ? null : new RateLimit(spec, Math.max(nowMono, openMono));
      const gate = new Gate({ kind: BoundKind.Group, name, limit, rate });
      this.#groups.set(name, gate);
      this.#restIfSpent(gate, nowMono);
    }
  }

  /** Whether runs of several pools are behind one of them. */
  get spanPools(): boolean {
    return this.#spansPools;
  }

  /** Keys that have a lane of their own. */
  get keys(): number {
    return (this.#options.maxKeys ?? MAX_KEYS) - this.#room.left;
  }

  root(pool: PoolName): Branch | undefined {
    return this.#roots.get(pool);
  }

  /** Some run could begin, had its pool a free slot. */
  get isOpen(): boolean {
    for (const root of this.#roots.values()) if (root.bestLane !== null) return true;
    return false;
  }

  *lanes(): Generator<Lane> {
    for (const root of this.#roots.values()) yield* root.lanes();
  }

  laneOf(run: Run): Lane {
    const { priority } = run;
    if (run.scan) return this.#rootOf('scan').shared(priority, this.#creditOf(priority));
    const place = this.#places.get(run.task) ?? this.#addTask(run.task);
    if (place instanceof Branch) return place.keys!.laneOf(run.effectiveInput, priority);
    const lane = place as Lane;
    return lane.priority === priority ? lane : this.#laneBeside(lane, priority);
  }

  /** A run of this lane begins. False: no gate counts it. */
  enter(lane: Lane): boolean {
    let isCounted = false;
    for (let place: Place | null = lane; place !== null; place = place.parent) {
      const { gate } = place;
      if (gate === null) continue;
      isCounted = true;
      gate.enter();
      if (gate.rate === null) continue;
      const nowMono = this.#options.clock.monoMs();
      gate.rate.take(nowMono);
      this.#restIfSpent(gate, nowMono);
    }
    return isCounted;
  }

  /** A run of this lane is on a slot already. */
  reenter(lane: Lane): boolean {
    let isCounted = false;
    for (let place: Place | null = lane; place !== null; place = place.parent) {
      if (place.gate !== null) isCounted = true;
      place.gate?.enter();
    }
    return isCounted;
  }

  leave(lane: Lane): void {
    for (let place: Place | null = lane; place !== null; place = place.parent) place.gate?.leave();
    lane.keys?.tidy(lane);
  }

  /** A run that several gates hold back counts for the outermost of them. */
  view(): BoundView[] {
    const views = new Map<string, BoundView>();
    if (this.#all !== null) addTo(views, this.#all, 0);
    for (const gate of this.#groups.values()) addTo(views, gate, 0);
    for (const root of this.#roots.values()) addPlace(views, root, false);
    return [...views.values()];
  }

  close(): void {
    this.#engine?.close();
  }

  #laneBeside(lane: Lane, priority: number): Lane {
    const parent = lane.parent!;
    const creditMs = this.#creditOf(priority);
    if (lane.gate === null) return parent.shared(priority, creditMs);
    const others = this.#beside.get(lane) ?? [];
    let other = others.find((one) => one.priority === priority);
    if (other === undefined) {
      other = new Lane(parent, lane.gate, { priority, creditMs });
      parent.places.push(other);
      this.#beside.set(lane, [...others, other]);
    }
    return other;
  }

  #addTask(task: TaskState): Place {
    const { name, pool, group, priority, bounds } = task.spec;
    const parent = this.#parentOf(pool, group);
    const creditMs = this.#creditOf(priority);
    let place: Place;
    if (bounds === undefined) place = parent.shared(priority, creditMs);
    else {
      const { concurrency: limit, key } = bounds;
      const gate = limit === null ? null : new Gate({ kind: BoundKind.Task, name, limit });
      if (key === null) place = new Lane(parent, gate, { priority, creditMs });
      else {
        const branch = new Branch(parent, gate);
        const room = this.#room;
        branch.keys = new KeyLanes({
          ...key,
          branch,
          task: name,
          ageingMs: this.#options.bounds.ageingMs,
          room,
        });
        place = branch;
      }
      parent.places.push(place);
    }
    this.#places.set(task, place);
    return place;
  }

  /** From when on the next run of a group may begin. */
  #openMonoOf(group: string, nowMono: number): number {
    return this.#groups.get(group)?.rate?.openMono ?? nowMono;
  }

  #creditOf(priority: number): number {
    return priority * this.#options.bounds.ageingMs;
  }

  #parentOf(pool: PoolName, group: string | null): Branch {
    const root = this.#rootOf(pool);
    const gate = group === null ? undefined : this.#groups.get(group);
    if (gate === undefined) return root;
    const key = `${pool} ${group}`;
    let branch = this.#branches.get(key);
    if (branch === undefined) {
      branch = new Branch(root, gate);
      root.places.push(branch);
      this.#branches.set(key, branch);
      if (gate.places.length > 1) this.#spansPools = true;
    }
    return branch;
  }

  #rootOf(pool: PoolName): Branch {
    let root = this.#roots.get(pool);
    if (root === undefined) {
      root = new Branch(null, makesRuns(pool) ? null : this.#all);
      this.#roots.set(pool, root);
      if (this.#all !== null && this.#all.places.length > 1) this.#spansPools = true;
    }
    return root;
  }

  #restIfSpent(gate: Gate, nowMono: number): void {
    const { rate } = gate;
    if (rate === null || rate.openMono <= nowMono) return;
    const { clock, onRoom } = this.#options;
    this.#engine ??= new HeapDelayEngine<Gate>({
      clock,
      now: () => clock.monoMs(),
      onDue: (due) => {
        due.rest(false);
        onRoom();
      },
    });
    gate.rest(true);
    this.#engine.schedule(rate.openMono, gate);
  }
}

function addPlace(views: Map<string, BoundView>, place: Place, isHeld: boolean): void {
  const { gate } = place;
  const holds = !isHeld && gate !== null && gate.shut;
  if (gate !== null) {
    const isOwn = gate.kind === 'task' || gate.kind === 'key';
    addTo(views, gate, holds ? place.depth : 0, isOwn && gate.places[0] === place);
  }
  if (!(place instanceof Branch)) return;
  for (const inner of place.all()) addPlace(views, inner, isHeld || holds);
}

/** Gates of all keys of a task are one row; those of groups and of all runs were counted before. */
function addTo(
  views: Map<string, BoundView>,
  { kind, name, limit, active, rate }: Gate,
  held: number,
  counts = true,
): void {
  const id = `${kind} ${name}`;
  const seen = views.get(id);
  views.set(id, {
    kind,
    name,
    concurrency: Number.isFinite(limit) ? limit : null,
    rated: rate !== null,
    active: (seen?.active ?? 0) + (counts ? active : 0),
    held: (seen?.held ?? 0) + held,
  });
}
