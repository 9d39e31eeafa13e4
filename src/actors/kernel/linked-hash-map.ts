/**
 * A hash map that keeps the order of insertion, for entries that come and go many times a second.
 *
 * The runtime's own `Map` makes a new table whenever the room that deleted entries left is to be used again, and each
 * table it leaves behind refers to the one that came after. Once one of them is old to the garbage collector, all the
 * later ones, with what stood in them, count as in use until the next full collection: nearly all that lived for a
 * moment in such a map becomes old (docs/memory.md). Here an entry's place is used again, nothing is made for an entry,
 * and what is deleted is referred to by nothing.
 *
 *   buckets ─▶ entry ─▶ entry of the same bucket        first ⇄ … ⇄ last, in order of insertion; free ─▶ free
 *
 * All links are places in one typed array: per entry its hash, the next of its bucket, the one before and the one
 * after it, or the next free place; then the head of each bucket. Room is doubled when it is full, and halved at a
 * quarter, from some hundreds of entries on; 32 bytes an entry of room, and 4 a bucket.
 */

import { fnv1a } from './fnv.ts';

const NONE = -1;
const HASH = 0;
const CHAIN = 1;
const BEFORE = 2;
const AFTER = 3;
const LINKS = 4;

const MIN_ROOM = 16;
/** So much is kept: entries often come and go by the dozen. */
const KEPT_ROOM = 256;

/** So that nobody can choose keys that all fall into one bucket. */
const SEED = Math.floor(Math.random() * 2 ** 32) | 0;

export class LinkedHashMap<Key extends string | number, Value> {
  #size = 0;
  #room = 0;
  #keys: (Key | undefined)[] = [];
  #values: (Value | undefined)[] = [];
  #links = new Int32Array(0);
  #free = NONE;
  #first = NONE;
  #last = NONE;

  constructor() {
    this.#rebuild(MIN_ROOM);
  }

  get size(): number {
    return this.#size;
  }

  has(key: Key): boolean {
    return this.#find(key, hashOf(key)) !== NONE;
  }

  get(key: Key): Value | undefined {
    const at = this.#find(key, hashOf(key));
    return at === NONE ? undefined : this.#values[at];
  }

  /** A key that is there keeps its place in the order. */
  set(key: Key, value: Value): void {
    const hash = hashOf(key);
    const found = this.#find(key, hash);
    if (found !== NONE) {
      this.#values[found] = value;
      return;
    }
    if (this.#size === this.#room) this.#rebuild(this.#room * 2);
    this.#append(key, value, hash);
  }

  /** False if it was not there. */
  delete(key: Key): boolean {
    const hash = hashOf(key);
    const at = this.#find(key, hash);
    if (at === NONE) return false;
    const links = this.#links;
    this.#unchain(at, hash);
    const before = links[at * LINKS + BEFORE]!;
    const after = links[at * LINKS + AFTER]!;
    if (before === NONE) this.#first = after;
    else links[before * LINKS + AFTER] = after;
    if (after === NONE) this.#last = before;
    else links[after * LINKS + BEFORE] = before;
    this.#keys[at] = undefined;
    this.#values[at] = undefined;
    links[at * LINKS + AFTER] = this.#free;
    this.#free = at;
    this.#size--;
    if (this.#room > KEPT_ROOM && this.#size * 4 <= this.#room) this.#rebuild(this.#room / 2);
    return true;
  }

  /** A copy, in order of insertion: entries may come and go while it is walked through. */
  values(): Value[] {
    return this.#ordered(this.#values);
  }

  /** As `values`. */
  keys(): Key[] {
    return this.#ordered(this.#keys);
  }

  clear(): void {
    this.#first = NONE;
    this.#rebuild(MIN_ROOM);
  }

  #find(key: Key, hash: number): number {
    const links = this.#links;
    let at = links[this.#bucket(hash)]!;
    while (at !== NONE && (links[at * LINKS + HASH] !== hash || this.#keys[at] !== key)) {
      at = links[at * LINKS + CHAIN]!;
    }
    return at;
  }

  /** Where the head of its bucket stands; there are as many buckets as there is room. */
  #bucket(hash: number): number {
    return this.#room * LINKS + (hash & (this.#room - 1));
  }

  #append(key: Key, value: Value, hash: number): void {
    const links = this.#links;
    const at = this.#free;
    const link = at * LINKS;
    const bucket = this.#bucket(hash);
    this.#free = links[link + AFTER]!;
    this.#keys[at] = key;
    this.#values[at] = value;
    links[link + HASH] = hash;
    links[link + CHAIN] = links[bucket]!;
    links[bucket] = at;
    links[link + BEFORE] = this.#last;
    links[link + AFTER] = NONE;
    if (this.#last === NONE) this.#first = at;
    else links[this.#last * LINKS + AFTER] = at;
    this.#last = at;
    this.#size++;
  }

  #unchain(at: number, hash: number): void {
    const links = this.#links;
    let holder = this.#bucket(hash);
    while (links[holder] !== at) holder = links[holder]! * LINKS + CHAIN;
    links[holder] = links[at * LINKS + CHAIN]!;
  }

  /** Everything anew, in the same order, in so much room: a power of two. */
  #rebuild(room: number): void {
    const keys = this.#ordered(this.#keys);
    const values = this.#ordered(this.#values);
    const hashes = keys.map(hashOf);
    this.#room = room;
    this.#size = 0;
    this.#first = this.#last = NONE;
    this.#keys = new Array(room).fill(undefined);
    this.#values = new Array(room).fill(undefined);
    this.#links = new Int32Array(room * (LINKS + 1)).fill(NONE);
    for (let at = 0; at < room - 1; at++) this.#links[at * LINKS + AFTER] = at + 1;
    this.#free = 0;
    for (let index = 0; index < keys.length; index++) {
      this.#append(keys[index]!, values[index]!, hashes[index]!);
    }
  }

  #ordered<Item>(items: readonly (Item | undefined)[]): Item[] {
    const ordered: Item[] = [];
    for (let at = this.#first; at !== NONE; at = this.#links[at * LINKS + AFTER]!) {
      ordered.push(items[at]!);
    }
    return ordered;
  }
}

/** FNV-1a with the upper bits mixed down; numbers by Fibonacci hashing. 32 bits with a sign. */
function hashOf(key: string | number): number {
  if (typeof key === 'number') return Math.imul(key ^ SEED, 0x9e3779b1) >>> 7;
  const hash = fnv1a(key, SEED);
  return hash ^ (hash >>> 15);
}
