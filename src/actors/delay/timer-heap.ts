/**
 * A binary min-heap of instants over typed arrays: 32 bytes an entry, no object each.
 *
 * Order is by due time, then by insertion, so that ties leave in the order they came. Entries are removed by
 * handle in O(log n); a handle carries the generation of its slot, so one that is kept too long is refused
 * and never hits a later entry. Units are the caller's: the heap only compares numbers.
 */

/** Identifies one entry: generation × 2^26 + slot. */
export type TimerHandle = number;

const SLOT_RANGE = 2 ** 26;
const MAX_GENERATION = 2 ** 26;
const FREE = -1;

export class TimerHeap {
  /** Due time and slot by heap position; the due time is kept here so that sifting touches one array. */
  #due: Float64Array;
  #slot: Int32Array;
  /** By slot: heap position (FREE if unused), insertion number, generation. */
  #position: Int32Array;
  #sequence: Float64Array;
  #generation: Uint32Array;
  /** Unused slots, as a stack. */
  #freeSlots: Int32Array;
  #freeCount: number;
  #size = 0;
  #nextSequence = 0;

  constructor(initialCapacity = 64) {
    const capacity = Math.max(2, initialCapacity);
    this.#due = new Float64Array(capacity);
    this.#slot = new Int32Array(capacity);
    this.#position = new Int32Array(capacity).fill(FREE);
    this.#sequence = new Float64Array(capacity);
    this.#generation = new Uint32Array(capacity);
    this.#freeSlots = Int32Array.from({ length: capacity }, (_, index) => capacity - 1 - index);
    this.#freeCount = capacity;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of the arrays, used or not. */
  get bytes(): number {
    return this.#due.length * (8 + 4 + 4 + 8 + 4 + 4);
  }

  /** Slot of a handle: a small dense number to index the caller's own arrays with. */
  static slotOf(handle: TimerHandle): number {
    return handle % SLOT_RANGE;
  }

  /** Adds an entry. `due` must be finite. */
  insert(due: number): TimerHandle {
    if (!Number.isFinite(due)) throw new RangeError(`expected a finite due time, got ${due}`);
    if (this.#freeCount === 0) this.#grow();
    const slot = this.#freeSlots[--this.#freeCount]!;
    this.#sequence[slot] = this.#nextSequence++;
    this.#siftUp(this.#size++, due, slot);
    return this.#generation[slot]! * SLOT_RANGE + slot;
  }

  /** False if the entry has left already. */
  remove(handle: TimerHandle): boolean {
    const slot = handle % SLOT_RANGE;
    const position = this.#position[slot];
    if (position === undefined || position === FREE) return false;
    if (this.#generation[slot] !== Math.floor(handle / SLOT_RANGE)) return false;
    this.#removeAt(position);
    return true;
  }

  /** Earliest due time; Infinity when empty. */
  peekDue(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#due[0]!;
  }

  /** Takes the earliest entry and gives its slot; -1 when empty. */
  pop(): number {
    if (this.#size === 0) return -1;
    const slot = this.#slot[0]!;
    this.#removeAt(0);
    return slot;
  }

  #removeAt(position: number): void {
    const slot = this.#slot[position]!;
    const last = --this.#size;
    if (position !== last) {
      const due = this.#due[last]!;
      const moved = this.#slot[last]!;
      if (position > 0 && this.#before(due, moved, (position - 1) >> 1)) this.#siftUp(position, due, moved);
      else this.#siftDown(position, due, moved);
    }
    this.#position[slot] = FREE;
    this.#generation[slot] = (this.#generation[slot]! + 1) % MAX_GENERATION;
    this.#freeSlots[this.#freeCount++] = slot;
  }

  #before(due: number, slot: number, position: number): boolean {
    const other = this.#due[position]!;
    return due < other || (due === other && this.#sequence[slot]! < this.#sequence[this.#slot[position]!]!);
  }

  #place(position: number, due: number, slot: number): void {
    this.#due[position] = due;
    this.#slot[position] = slot;
    this.#position[slot] = position;
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

  #grow(): void {
    const old = this.#due.length;
    const capacity = Math.min(old * 2, SLOT_RANGE);
    if (capacity === old) throw new RangeError(`expected at most ${SLOT_RANGE} entries`);
    this.#due = widen(this.#due, new Float64Array(capacity));
    this.#slot = widen(this.#slot, new Int32Array(capacity));
    this.#position = widen(this.#position, new Int32Array(capacity).fill(FREE));
    this.#sequence = widen(this.#sequence, new Float64Array(capacity));
    this.#generation = widen(this.#generation, new Uint32Array(capacity));
    this.#freeSlots = widen(this.#freeSlots, new Int32Array(capacity));
    for (let slot = capacity - 1; slot >= old; slot--) this.#freeSlots[this.#freeCount++] = slot;
  }
}

/** `to` with what `from` holds at its beginning. */
export function widen<A extends Float64Array | Int32Array | Int16Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
