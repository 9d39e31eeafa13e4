/**
 * The items of one `each:` step: a run for each, so many at a time. A byte an item; what may begin next is found without looking
 * at those that are over.
 *
 *   waiting ─ a place is free ─▶ active ─▶ success | failed
 *      └─ closed: it does not begin
 */
import type { EachItem } from './flow-graph.ts';

/** Items of one step. */
export const MAX_FLOW_ITEMS = 10_000;

const WAITING = 0;
const ACTIVE = 1;
const SUCCESS = 2;
const FAILED = 3;

export class FanOut {
  readonly size: number;
  readonly #states: Uint8Array;
  readonly #concurrency: number;
  readonly #stops: boolean;
  /** All before it are not waiting. */
  #next = 0;
  #active = 0;
  #succeeded = 0;
  #failed = 0;
  #firstFailed = -1;
  #closed = false;

  constructor(size: number, { concurrency, onFailure }: EachItem) {
    this.size = size;
    this.#states = new Uint8Array(size);
    this.#concurrency = concurrency;
    this.#stops = onFailure === 'stop';
  }

  get active(): number {
    return this.#active;
  }

  get succeeded(): number {
    return this.#succeeded;
  }

  get failed(): number {
    return this.#failed;
  }

  /** The first of the list that did not succeed, as far as is known; −1: none. */
  get firstFailed(): number {
    return this.#firstFailed;
  }

  /** Nothing runs, and nothing is going to. */
  get isOver(): boolean {
    return this.#active === 0 && (this.#closed || this.#next === this.size);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The next item that may begin now, and begins by this; −1: none. */
  begin(): number {
    if (this.#closed || this.#active >= this.#concurrency) return -1;
    while (this.#next < this.size && this.#states[this.#next] !== WAITING) this.#next++;
    if (this.#next === this.size) return -1;
    const item = this.#next++;
    this.#states[item] = ACTIVE;
    this.#active++;
    return item;
  }

  /** A run of it is there already. */
  adopt(item: number): void {
    if (this.#states[item] !== WAITING) return;
    this.#states[item] = ACTIVE;
    this.#active++;
    while (this.#next < this.size && this.#states[this.#next] !== WAITING) this.#next++;
  }

  /** False: it is not active, and nothing changes. */
  end(item: number, success: boolean): boolean {
    if (this.#states[item] !== ACTIVE) return false;
    this.#states[item] = success ? SUCCESS : FAILED;
    this.#active--;
    if (success) this.#succeeded++;
    else {
      this.#failed++;
      if (this.#firstFailed === -1 || item < this.#firstFailed) this.#firstFailed = item;
      if (this.#stops) this.#closed = true;
    }
    return true;
  }

  /** No more of them begin. */
  close(): void {
    this.#closed = true;
  }

  activeItems(): number[] {
    const found: number[] = [];
    if (this.#active === 0) return found;
    for (let item = 0; item < this.size; item++) if (this.#states[item] === ACTIVE) found.push(item);
    return found;
  }
}
