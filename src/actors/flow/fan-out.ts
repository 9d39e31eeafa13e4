/**
 * The items of one `each:` step: a run for each, so many at a time. A byte an item; what may begin next is found without looking
 * at those that are over.
 *
 *   waiting ─ a place is free ─▶ active ─▶ success | failed | cancelled
 *      ├─ closed: it does not begin
 *      └─ taken over from an earlier run of the flow: success
 */
import type { EachItem } from './flow-graph.ts';

/** Items of one step. */
export const MAX_FLOW_ITEMS = 10_000;

const WAITING = 0;
const ACTIVE = 1;
const SUCCESS = 2;
const FAILED = 3;
const CANCELLED = 4;
const TAKEN = 5;

/** How an item ends. */
export type ItemEnd = 'success' | 'failed' | 'cancelled';

/** An item that did not succeed, and what was said of it. */
export interface FailedItem {
  readonly item: number;
  readonly detail: string | null;
}

export class FanOut {
  readonly size: number;
  readonly #states: Uint8Array;
  readonly #concurrency: number;
  readonly #stops: boolean;
  /** All before it are not waiting. */
  #next = 0;
  #active = 0;
  #succeeded = 0;
  #taken = 0;
  #failed = 0;
  #cancelled = 0;
  #firstFailed: FailedItem | null = null;
  #firstCancelled: FailedItem | null = null;
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

  /** Of these, those whose result is of an earlier run of the flow. */
  get taken(): number {
    return this.#taken;
  }

  /** Those that began and failed. */
  get failed(): number {
    return this.#failed;
  }

  /** Those whose run was cancelled: by itself, with the flow, or as another one had failed. */
  get cancelled(): number {
    return this.#cancelled;
  }

  /** The first of the list that failed, or else was cancelled, as far as is known; null: none. */
  get firstFailed(): FailedItem | null {
    return this.#firstFailed ?? this.#firstCancelled;
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

  /** It has succeeded in an earlier run of the flow, and does not begin. */
  take(item: number): void {
    if (this.#states[item] !== WAITING) return;
    this.#states[item] = TAKEN;
    this.#taken++;
    this.#succeeded++;
  }

  /** `own`: with its own run, in this run of the flow. Null: it did not, as far as is known. */
  succeededBy(item: number): 'own' | 'taken' | null {
    if (this.#states[item] === TAKEN) return 'taken';
    return this.#states[item] === SUCCESS ? 'own' : null;
  }

  /** A run of it is there already. */
  adopt(item: number): void {
    if (this.#states[item] !== WAITING) return;
    this.#states[item] = ACTIVE;
    this.#active++;
    while (this.#next < this.size && this.#states[this.#next] !== WAITING) this.#next++;
  }

  /** False: it is not active, and nothing changes. */
  end(item: number, how: ItemEnd, detail: string | null = null): boolean {
    if (this.#states[item] !== ACTIVE) return false;
    this.#active--;
    if (how === 'success') {
      this.#states[item] = SUCCESS;
      this.#succeeded++;
      return true;
    }
    if (how === 'failed') {
      this.#states[item] = FAILED;
      this.#failed++;
      this.#firstFailed = firstOf(this.#firstFailed, { item, detail });
    } else {
      this.#states[item] = CANCELLED;
      this.#cancelled++;
      this.#firstCancelled = firstOf(this.#firstCancelled, { item, detail });
    }
    if (this.#stops) this.#closed = true;
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

function firstOf(known: FailedItem | null, one: FailedItem): FailedItem {
  return known !== null && known.item < one.item ? known : one;
}
