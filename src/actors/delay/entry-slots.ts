/**
 * Numbers for entries, given out again when they are free: a small dense slot to index arrays with, and a handle that
 * carries the generation of its slot, so that one which is kept too long is refused.
 */
import type { TimerHandle } from './timer-heap.ts';

const SLOT_RANGE = 2 ** 26;
const MAX_GENERATION = 2 ** 26;

export class EntrySlots {
  /** By slot: its generation, and whether it is taken. */
  readonly #generation: number[] = [];
  readonly #taken: boolean[] = [];
  readonly #free: number[] = [];
  #count = 0;

  /** Slots that are taken. */
  get count(): number {
    return this.#count;
  }

  take(): number {
    const slot = this.#free.pop() ?? this.#taken.length;
    if (slot === SLOT_RANGE) throw new RangeError(`expected at most ${SLOT_RANGE} entries`);
    this.#taken[slot] = true;
    this.#generation[slot] ??= 0;
    this.#count++;
    return slot;
  }

  release(slot: number): void {
    this.#taken[slot] = false;
    this.#generation[slot] = (this.#generation[slot]! + 1) % MAX_GENERATION;
    this.#free.push(slot);
    this.#count--;
  }

  handleOf(slot: number): TimerHandle {
    return this.#generation[slot]! * SLOT_RANGE + slot;
  }

  /** The slot of a handle; -1 where its entry has left. */
  slotOf(handle: TimerHandle): number {
    const slot = handle % SLOT_RANGE;
    const same = this.#taken[slot] === true && this.#generation[slot] === Math.floor(handle / SLOT_RANGE);
    return same ? slot : -1;
  }

  clear(): void {
    for (const [slot, taken] of this.#taken.entries()) if (taken) this.release(slot);
  }
}
