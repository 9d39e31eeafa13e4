/**
 * The lanes of one task whose runs have keys: a lane and a gate for each key of which something waits or runs. Their
 * number is bounded over all tasks. Beyond it keys share lanes, by a hash: those of one lane then wait for each other, so
 * that no bound is exceeded and none is lost, but two keys may run one after the other that could run at once.
 *
 * Invariant: all runs of a key that wait or run are of one lane. A key that shares one gets one of its own only when
 * nothing is left of the shared one.
 */
import { fnv1a, LinkedHashMap } from '../kernel/index.ts';
import { BoundKind } from './bounds.ts';
import { Gate } from './gate.ts';
import { type Branch, type KeyedLanes, Lane } from './ready-tree.ts';

/** Keys that have a lane of their own, over all tasks. */
export const MAX_KEYS = 4096;
/** Of one key of 15 characters, bytes: the growth of the heap by a run each of 4,000 keys, less that by runs of one key. */
export const KEY_BYTES = 550;
/** Lanes of one task for the keys beyond. */
export const SHARED_LANES = 64;

/** How many more keys may have lanes of their own. */
export interface KeyRoom {
  left: number;
}

export interface KeyLanesOptions {
  readonly branch: Branch;
  readonly task: string;
  /** What one step of priority is worth. */
  readonly ageingMs: number;
  /** Runs of one key at once. */
  readonly concurrency: number;
  readonly keyOf: (input: string) => string;
  readonly room: KeyRoom;
}

export class KeyLanes implements KeyedLanes {
  readonly #options: KeyLanesOptions;
  readonly #own = new LinkedHashMap<string, Lane>();
  readonly #shared = new LinkedHashMap<string, Lane>();
  /** Of a key whose runs have several priorities: the lanes beside its first one, behind the same gate. */
  readonly #beside = new Map<Lane, Lane[]>();

  constructor(options: KeyLanesOptions) {
    this.#options = options;
  }

  *lanes(): Generator<Lane> {
    yield* this.#own.values();
    yield* this.#shared.values();
    for (const lanes of this.#beside.values()) yield* lanes;
  }

  laneOf(input: string, priority: number): Lane {
    const { keyOf, room } = this.#options;
    const key = keyOf(input);
    const own = this.#own.get(key);
    if (own !== undefined) return this.#ofPriority(own, priority);
    const hash = `#${(fnv1a(key) >>> 0) % SHARED_LANES}`;
    const shared = this.#shared.get(hash);
    if (shared !== undefined) return this.#ofPriority(shared, priority);
    if (room.left === 0) return this.#add(this.#shared, hash, priority);
    room.left--;
    return this.#add(this.#own, key, priority);
  }

  /** They go together, when nothing is left in any of them. */
  tidy(lane: Lane): void {
    const { gate, key } = lane;
    if (lane.depth > 0 || (gate !== null && gate.active > 0)) return;
    const own = this.#own.get(key);
    const isOwn = own !== undefined && own.gate === gate;
    const first = isOwn ? own : this.#shared.get(key);
    if (first === undefined) return;
    if (first.depth > 0 || this.#beside.get(first)?.some(({ depth }) => depth > 0) === true) return;
    this.#beside.delete(first);
    if (isOwn) {
      this.#own.delete(key);
      this.#options.room.left++;
    } else this.#shared.delete(key);
  }

  #add(lanes: LinkedHashMap<string, Lane>, key: string, priority: number): Lane {
    const { task, concurrency } = this.#options;
    const lane = this.#lane(new Gate({ kind: BoundKind.Key, name: task, limit: concurrency }), key, priority);
    lanes.set(key, lane);
    return lane;
  }

  #ofPriority(first: Lane, priority: number): Lane {
    if (first.priority === priority) return first;
    const others = this.#beside.get(first) ?? [];
    let other = others.find((one) => one.priority === priority);
    if (other === undefined) {
      other = this.#lane(first.gate!, first.key, priority);
      this.#beside.set(first, [...others, other]);
    }
    return other;
  }

  #lane(gate: Gate, key: string, priority: number): Lane {
    const { branch, ageingMs } = this.#options;
    return new Lane(branch, gate, { priority, creditMs: priority * ageingMs, keys: this, key });
  }
}
