/**
 * A min-heap of slots by due time, without an object an entry: 16 bytes each, beside the 12 of its slot.
 *
 *   insert ─▶ due before the horizon? ─▶ the heap (up to some thousands) ─▶ pop
 *                     └─ no ─▶ piles of what is due later, unsorted ─▶ when the heap is empty
 *
 * Order is by due time, then by the order in which entries came, so that ties leave as they came. The heap proper stays so
 * small that the processor's cache holds it: with a million entries each level of one heap is a look at main memory.
 *
 * Where an entry stands is not kept, for that would be one more write at each level. One that is removed stays until it
 * comes to the top of the heap, or until there are more of them than of those that count: then all are thrown
 * out, which costs each removal the same. It is told by its order number, which its slot has no more.
 *
 * Units are the caller's: the heap only compares numbers, which must be finite.
 */
import { EntryPile } from './entry-pile.ts';
import type { EntrySlots } from './entry-slots.ts';
import { FarPiles } from './far-piles.ts';

const NONE = -1;
/** 128 KiB: a second-level cache holds it. */
const HEAP_MAX = 8192;
/** So few entries that were removed are left where they are. */
const STALE_SPARED = 64;
/** Of the heap, to find the middle of its due times. */
const SAMPLES = 33;

export class TimerHeap {
  readonly #slots: EntrySlots;
  /** Its first entry is the earliest of all and counts. The children of place p are 4p + 1 to 4p + 4. */
  #heap = new EntryPile();
  readonly #far: FarPiles;
  /** What is due from here on is with the far ones. */
  #horizon = Number.POSITIVE_INFINITY;
  readonly #heapMax: number;
  /** Beyond it the later half of the heap goes to the piles; larger than usual where most of it is due at one instant. */
  #spillAbove: number;
  /** Those that count. */
  #size = 0;
  /** Entries that were removed and are still there. */
  #stale = 0;

  /** `slots`: what numbers the entries and knows their order. `heapMax`: entries of the heap proper. */
  constructor(slots: EntrySlots, heapMax = HEAP_MAX) {
    this.#slots = slots;
    this.#heapMax = heapMax;
    this.#spillAbove = heapMax;
    this.#far = new FarPiles(2 * heapMax);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of the arrays, used or not; without those of the slots. */
  get bytes(): number {
    return this.#heap.bytes + this.#far.bytes;
  }

  /** `slot`: one that is not in the heap. */
  insert(slot: number, due: number): void {
    this.#size++;
    const order = this.#slots.orderOf(slot);
    if (due >= this.#horizon) {
      this.#far.add(due, order, slot);
      return;
    }
    const heap = this.#heap;
    heap.append(due, order, slot);
    this.#siftUp(heap.count - 1, due, order, slot);
    if (heap.count > this.#spillAbove) this.#spill();
  }

  /** `slot`: one that is in the heap. */
  remove(slot: number): void {
    this.#slots.renew(slot);
    this.#size--;
    this.#stale++;
    this.#tidy();
  }

  /** Gives an entry another due time; among those of the same one it is the last that came. `slot`: one that is in the heap. */
  move(slot: number, due: number): void {
    this.#slots.renew(slot);
    this.#size--;
    this.#stale++;
    this.insert(slot, due);
    this.#tidy();
  }

  /** Earliest due time; Infinity when empty. */
  peekDue(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#heap.dueAt(0);
  }

  /** Takes the earliest entry and gives its slot; -1 when empty. */
  pop(): number {
    if (this.#size === 0) return NONE;
    const slot = this.#heap.slotAt(0);
    this.#size--;
    this.#dropFirst();
    this.#lead();
    return slot;
  }

  clear(): void {
    this.#heap.truncate(0);
    this.#far.clear();
    this.#horizon = Number.POSITIVE_INFINITY;
    this.#size = 0;
    this.#stale = 0;
  }

  /** Makes the first entry one that counts. */
  #lead(): void {
    for (;;) {
      if (this.#heap.count === 0) {
        if (!this.#refill()) return;
      } else if (this.#stale > 0 && this.#isStale(this.#heap, 0)) {
        this.#stale--;
        this.#dropFirst();
      } else return;
    }
  }

  /** False: there is nothing any more. */
  #refill(): boolean {
    const pile = this.#far.take();
    this.#horizon = this.#far.horizon;
    if (pile === null) return false;
    this.#heap = pile;
    this.#spillAbove = Math.max(this.#heapMax, 2 * pile.count);
    this.#order();
    return true;
  }

  #spill(): void {
    const heap = this.#heap;
    const middle = this.#middleDue();
    this.#spillAbove = 2 * heap.count;
    // Nothing would be left here; ties stay together.
    if (middle === heap.dueAt(0)) return;
    const later = new EntryPile(heap.count);
    let kept = 0;
    for (let place = 0; place < heap.count; place++) {
      if (heap.dueAt(place) < middle) heap.copy(place, kept++);
      else later.append(heap.dueAt(place), heap.orderAt(place), heap.slotAt(place));
    }
    heap.truncate(kept);
    this.#order();
    this.#far.put(middle, later);
    this.#horizon = middle;
    this.#spillAbove = this.#heapMax;
  }

  /** About: of some entries. */
  #middleDue(): number {
    const heap = this.#heap;
    const samples = Math.min(SAMPLES, heap.count);
    const place = (index: number) => Math.floor((index * heap.count) / samples);
    return Float64Array.from({ length: samples }, (_, index) => heap.dueAt(place(index))).sort()[
      samples >> 1
    ]!;
  }

  #isStale(pile: EntryPile, place: number): boolean {
    return this.#slots.orderOf(pile.slotAt(place)) !== pile.orderAt(place);
  }

  #tidy(): void {
    if (this.#stale > STALE_SPARED && this.#stale > this.#size) this.#throwOut();
    this.#lead();
  }

  #throwOut(): void {
    this.#keepCurrent(this.#heap);
    this.#order();
    this.#far.sift((pile) => this.#keepCurrent(pile));
    this.#horizon = this.#far.horizon;
    this.#stale = 0;
  }

  #keepCurrent(pile: EntryPile): void {
    let kept = 0;
    for (let place = 0; place < pile.count; place++)
      if (!this.#isStale(pile, place)) pile.copy(place, kept++);
    pile.truncate(kept);
  }

  /** Makes a heap of entries in any sequence: Floyd's way, from the last place that has children up. */
  #order(): void {
    const heap = this.#heap;
    for (let place = (heap.count - 2) >> 2; place >= 0; place--) {
      this.#siftDown(place, heap.dueAt(place), heap.orderAt(place), heap.slotAt(place));
    }
  }

  #dropFirst(): void {
    const heap = this.#heap;
    const last = heap.count - 1;
    heap.truncate(last);
    if (last > 0) this.#siftDown(0, heap.dueAt(last), heap.orderAt(last), heap.slotAt(last));
  }

  #siftUp(start: number, due: number, order: number, slot: number): void {
    const heap = this.#heap;
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      if (!heap.isBefore(due, order, parent)) break;
      heap.copy(parent, place);
      place = parent;
    }
    heap.put(place, due, order, slot);
  }

  #siftDown(start: number, due: number, order: number, slot: number): void {
    const heap = this.#heap;
    let place = start;
    for (;;) {
      const child = 4 * place + 1;
      if (child >= heap.count) break;
      const least = heap.firstOf(child, Math.min(child + 4, heap.count));
      if (heap.isBefore(due, order, least)) break;
      heap.copy(least, place);
      place = least;
    }
    heap.put(place, due, order, slot);
  }
}
