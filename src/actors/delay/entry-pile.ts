/**
 * Entries side by side in one typed array, 16 bytes each: due time, order and slot. They stand in places from 0 on, in whatever
 * sequence whoever uses it gives them.
 */
import { cameBefore } from './entry-slots.ts';
import { widen } from './widen.ts';

export class EntryPile {
  /** Two views of the same bytes: the due time at 2 × place; order and slot at 4 × place + 2 and + 3. */
  #due: Float64Array;
  #words: Uint32Array;
  #count = 0;

  constructor(capacity = 64) {
    this.#due = new Float64Array(2 * capacity);
    this.#words = new Uint32Array(this.#due.buffer);
  }

  get count(): number {
    return this.#count;
  }

  /** Used or not. */
  get bytes(): number {
    return this.#due.byteLength;
  }

  dueAt(place: number): number {
    return this.#due[2 * place]!;
  }

  orderAt(place: number): number {
    return this.#words[4 * place + 2]!;
  }

  slotAt(place: number): number {
    return this.#words[4 * place + 3]!;
  }

  append(due: number, order: number, slot: number): void {
    const place = this.#count++;
    if (2 * place === this.#due.length) this.#grow();
    this.put(place, due, order, slot);
  }

  put(place: number, due: number, order: number, slot: number): void {
    this.#due[2 * place] = due;
    this.#words[4 * place + 2] = order;
    this.#words[4 * place + 3] = slot;
  }

  copy(from: number, to: number): void {
    this.#due[2 * to] = this.#due[2 * from]!;
    this.#words[4 * to + 2] = this.#words[4 * from + 2]!;
    this.#words[4 * to + 3] = this.#words[4 * from + 3]!;
  }

  /** Whether an entry of this due time and order comes before the one at `place`. */
  isBefore(due: number, order: number, place: number): boolean {
    const other = this.#due[2 * place]!;
    return due < other || (due === other && cameBefore(order, this.#words[4 * place + 2]!));
  }

  /** Of the places from `first` to before `behind`, the one whose entry comes first. */
  firstOf(first: number, behind: number): number {
    let least = first;
    let leastDue = this.#due[2 * first]!;
    for (let place = first + 1; place < behind; place++) {
      const due = this.#due[2 * place]!;
      if (due > leastDue || (due === leastDue && cameBefore(this.orderAt(least), this.orderAt(place))))
        continue;
      least = place;
      leastDue = due;
    }
    return least;
  }

  truncate(count: number): void {
    this.#count = count;
  }

  #grow(): void {
    this.#due = widen(this.#due, new Float64Array(Math.max(128, this.#due.length * 2)));
    this.#words = new Uint32Array(this.#due.buffer);
  }
}
