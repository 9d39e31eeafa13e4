/**
 * A binary min-heap of slots by due time, over typed arrays: 16 bytes an entry beside the 16 of its slot, no object each.
 *
 * Order is by due time, then by the order in which entries came, so that ties leave as they came. An entry is removed or
 * moved in O(log n). Units are the caller's: the heap only compares numbers, which must be finite.
 */
import type { EntrySlots } from './entry-slots.ts';
import { capacityFor, widen } from './widen.ts';

const NONE = -1;

export class TimerHeap {
  readonly #slots: EntrySlots;
  /** By heap position: due time and slot; the due time is kept here so that sifting touches one array. */
  #due: Float64Array;
  #slot: Int32Array;
  /** By slot: its heap position; NONE: it is not in the heap. */
  #position: Int32Array;
  #size = 0;

  /** `slots`: what numbers the entries and knows their order. */
  constructor(slots: EntrySlots, initialCapacity = 64) {
    const capacity = capacityFor(Math.max(1, initialCapacity));
    this.#slots = slots;
    this.#due = new Float64Array(capacity);
    this.#slot = new Int32Array(capacity);
    this.#position = new Int32Array(capacity).fill(NONE);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of the arrays, used or not; without those of the slots. */
  get bytes(): number {
    return this.#due.byteLength + this.#slot.byteLength + this.#position.byteLength;
  }

  /** `slot`: one that is not in the heap. */
  insert(slot: number, due: number): void {
    if (this.#size === this.#due.length) this.#growHeap();
    if (slot >= this.#position.length) this.#growSlots(slot);
    this.#siftUp(this.#size++, due, slot);
  }

  /** False if the entry is not in the heap. */
  remove(slot: number): boolean {
    const position = this.#position[slot];
    if (position === undefined || position === NONE) return false;
    this.#position[slot] = NONE;
    const last = --this.#size;
    if (position !== last) this.#settle(position, this.#due[last]!, this.#slot[last]!);
    return true;
  }

  /** Gives an entry another due time; false if it is not in the heap. */
  move(slot: number, due: number): boolean {
    const position = this.#position[slot];
    if (position === undefined || position === NONE) return false;
    this.#settle(position, due, slot);
    return true;
  }

  /** Earliest due time; Infinity when empty. */
  peekDue(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#due[0]!;
  }

  /** Takes the earliest entry and gives its slot; -1 when empty. */
  pop(): number {
    if (this.#size === 0) return NONE;
    const slot = this.#slot[0]!;
    this.#position[slot] = NONE;
    const last = --this.#size;
    if (last > 0) this.#siftDown(0, this.#due[last]!, this.#slot[last]!);
    return slot;
  }

  clear(): void {
    this.#size = 0;
    this.#position.fill(NONE);
  }

  #before(due: number, slot: number, position: number): boolean {
    const other = this.#due[position]!;
    return (
      due < other || (due === other && this.#slots.orderOf(slot) < this.#slots.orderOf(this.#slot[position]!))
    );
  }

  #place(position: number, due: number, slot: number): void {
    this.#due[position] = due;
    this.#slot[position] = slot;
    this.#position[slot] = position;
  }

  /** What stands at the position is overwritten. */
  #settle(position: number, due: number, slot: number): void {
    if (position > 0 && this.#before(due, slot, (position - 1) >> 1)) this.#siftUp(position, due, slot);
    else this.#siftDown(position, due, slot);
  }

  #siftUp(start: number, due: number, slot: number): void {
    let position = start;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.#before(due, slot, parent)) break;
      this.#place(position, this.#due[parent]!, this.#slot[parent]!);
      position = parent;
    }
    this.#place(position, due, slot);
  }

  #siftDown(start: number, due: number, slot: number): void {
    let position = start;
    for (;;) {
      let child = 2 * position + 1;
      if (child >= this.#size) break;
      const right = child + 1;
      if (right < this.#size && this.#before(this.#due[right]!, this.#slot[right]!, child)) child = right;
      if (this.#before(due, slot, child)) break;
      this.#place(position, this.#due[child]!, this.#slot[child]!);
      position = child;
    }
    this.#place(position, due, slot);
  }

  #growHeap(): void {
    const capacity = this.#due.length * 2;
    this.#due = widen(this.#due, new Float64Array(capacity));
    this.#slot = widen(this.#slot, new Int32Array(capacity));
  }

  #growSlots(slot: number): void {
    this.#position = widen(this.#position, new Int32Array(capacityFor(slot + 1)).fill(NONE));
  }
}
