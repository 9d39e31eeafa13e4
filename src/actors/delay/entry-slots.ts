/**
 * Numbers for entries, given out again when they are free: a small dense slot to index arrays with, a handle that carries the
 * generation of its slot, so that one which is kept too long is refused, and the order in which entries came. 12 bytes an
 * entry. All engines have their entries numbered here, and keep what else they know of one by its slot.
 */
import { capacityFor, widen } from './widen.ts';

/** Identifies one entry: generation × 2^26 + slot. */
export type TimerHandle = number;

const SLOT_RANGE = 2 ** 26;
/** Even, so that odd and even stay apart when generations begin anew. */
const MAX_GENERATION = 2 ** 26;

export class EntrySlots {
  /** By slot: odd while it is taken. */
  #generation: Uint32Array;
  /** By slot: its place in the order of all entries that ever came, modulo 2^32. */
  #order: Uint32Array;
  /** Slots that were given back, as a stack. */
  #free: Int32Array;
  #freeCount = 0;
  #used = 0;
  #nextOrder = 0;

  constructor(initialCapacity = 64) {
    const capacity = capacityFor(Math.max(1, initialCapacity));
    this.#generation = new Uint32Array(capacity);
    this.#order = new Uint32Array(capacity);
    this.#free = new Int32Array(capacity);
  }

  /** Slots that are taken. */
  get count(): number {
    return this.#used - this.#freeCount;
  }

  /** All slots that were ever taken are below. */
  get used(): number {
    return this.#used;
  }

  /** Bytes of the arrays, used or not. */
  get bytes(): number {
    return this.#generation.byteLength + this.#order.byteLength + this.#free.byteLength;
  }

  take(): number {
    if (this.#freeCount === 0 && this.#used === this.#generation.length) this.#grow();
    const slot = this.#freeCount > 0 ? this.#free[--this.#freeCount]! : this.#used++;
    this.#generation[slot] = this.#generation[slot]! + 1;
    this.#order[slot] = this.#nextOrder++;
    return slot;
  }

  release(slot: number): void {
    this.#generation[slot] = (this.#generation[slot]! + 1) % MAX_GENERATION;
    this.#free[this.#freeCount++] = slot;
  }

  /** As if the entry had come just now. */
  renew(slot: number): void {
    this.#order[slot] = this.#nextOrder++;
  }

  /** A number that no other entry has, from 0 to 2^32 - 1; of two, the one that came first is told by `cameBefore`. */
  orderOf(slot: number): number {
    return this.#order[slot]!;
  }

  /** Of two slots that are taken: whether the first one's entry came first. */
  isBefore(slot: number, other: number): boolean {
    return cameBefore(this.#order[slot]!, this.#order[other]!);
  }

  handleOf(slot: number): TimerHandle {
    return this.#generation[slot]! * SLOT_RANGE + slot;
  }

  /** The slot of a handle; -1 where its entry has left. */
  slotOf(handle: TimerHandle): number {
    const slot = handle % SLOT_RANGE;
    const generation = this.#generation[slot]!;
    return generation % 2 === 1 && generation === Math.floor(handle / SLOT_RANGE) ? slot : -1;
  }

  clear(): void {
    for (let slot = 0; slot < this.#used; slot++) if (this.#generation[slot]! % 2 === 1) this.release(slot);
  }

  #grow(): void {
    const capacity = this.#generation.length * 2;
    if (capacity > SLOT_RANGE) throw new RangeError(`expected at most ${SLOT_RANGE} entries`);
    this.#generation = widen(this.#generation, new Uint32Array(capacity));
    this.#order = widen(this.#order, new Uint32Array(capacity));
    this.#free = widen(this.#free, new Int32Array(capacity));
  }
}

/** Of two order numbers. They begin anew after 2^32: the nearer way round says which came first. */
export function cameBefore(order: number, other: number): boolean {
  return ((order - other) | 0) < 0;
}
