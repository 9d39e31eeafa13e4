/**
 * What is due later, unsorted: piles of entries, each with the instants from one bound to the next. Adding to one costs the
 * same however many there are. The pile of the earliest instants is handed out when they are wanted; a large
 * one is dealt out to smaller ones first, as in a ladder queue (Tang, Goh and Thng, *Ladder queue: An O(1) priority queue
 * structure for large-scale discrete event simulation*, ACM TOMACS 2005).
 */
import { EntryPile } from './entry-pile.ts';

/** A pile is dealt out to so many at most: as many pages can be written by turns without a search for their addresses. */
const FAN_OUT_MAX = 64;

export class FarPiles {
  /** The lower bounds of the piles, from the latest to the earliest; what is due before the last one is not here. */
  readonly #from: number[] = [];
  readonly #piles: EntryPile[] = [];
  readonly #maxTaken: number;

  /** `maxTaken`: a pile that is taken has no more entries, unless all of them are due at one instant. */
  constructor(maxTaken: number) {
    this.#maxTaken = maxTaken;
  }

  /** What is due from here on belongs here; Infinity: there is nothing here. */
  get horizon(): number {
    return this.#from.length === 0 ? Number.POSITIVE_INFINITY : this.#from[this.#from.length - 1]!;
  }

  get bytes(): number {
    return this.#piles.reduce((sum, pile) => sum + pile.bytes, 0);
  }

  /** `due`: not before the horizon. */
  add(due: number, order: number, slot: number): void {
    this.#piles[this.#indexOf(due)]!.append(due, order, slot);
  }

  /** A pile of what is due before the horizon, from `from` on, which is the new one. */
  put(from: number, pile: EntryPile): void {
    this.#from.push(from);
    this.#piles.push(pile);
  }

  /** The earliest pile; null: there is none. The horizon is behind it then. */
  take(): EntryPile | null {
    for (;;) {
      const pile = this.#piles.pop();
      if (pile === undefined) return null;
      const from = this.#from.pop()!;
      if (pile.count > this.#maxTaken && this.#deal(pile, from)) continue;
      if (pile.count > 0) return pile;
    }
  }

  /** `keep` leaves in a pile what is to stay. */
  sift(keep: (pile: EntryPile) => void): void {
    let kept = 0;
    for (let index = 0; index < this.#piles.length; index++) {
      const pile = this.#piles[index]!;
      keep(pile);
      if (pile.count === 0) continue;
      this.#piles[kept] = pile;
      this.#from[kept++] = this.#from[index]!;
    }
    this.#piles.length = kept;
    this.#from.length = kept;
  }

  clear(): void {
    this.#piles.length = 0;
    this.#from.length = 0;
  }

  /** Where the bounds go down, the first that is not above. */
  #indexOf(due: number): number {
    let low = 0;
    let high = this.#from.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#from[middle]! <= due) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** False: all of it is due at one instant. */
  #deal(pile: EntryPile, from: number): boolean {
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let place = 0; place < pile.count; place++) {
      min = Math.min(min, pile.dueAt(place));
      max = Math.max(max, pile.dueAt(place));
    }
    // A quarter full: few of them have to be dealt out once more.
    const piles = Math.min(FAN_OUT_MAX, Math.ceil((4 * pile.count) / this.#maxTaken));
    const width = max / piles - min / piles;
    if (!(min + width > min)) return false;
    const capacity = Math.ceil((1.25 * pile.count) / piles);
    for (let index = piles - 1; index > 0; index--) this.put(min + index * width, new EntryPile(capacity));
    this.put(from, new EntryPile(capacity));
    const lowest = this.#from.length - 1;
    const highest = lowest - piles + 1;
    for (let place = 0; place < pile.count; place++) {
      const due = pile.dueAt(place);
      let index = lowest - Math.min(piles - 1, Math.floor((due - min) / width));
      // Rounding may have led to the one beside it.
      while (index < lowest && due < this.#from[index]!) index++;
      while (index > highest && due >= this.#from[index - 1]!) index--;
      this.#piles[index]!.append(due, pile.orderAt(place), pile.slotAt(place));
    }
    return true;
  }
}
