/**
 * The words that main and one cpu thread share about the batch the thread works on.
 *
 * One `SharedArrayBuffer` of all regions goes to every thread with its `workerData`; a batch says which
 * region it uses. It lets main see which order is running and since when, and stop it, while the thread's
 * event loop is blocked by the handler; and it lets finished orders be told from lost ones when the thread
 * dies. What must hold:
 * - a region belongs to one batch at a time; the thread only starts a batch whose number is in the region
 * - the thread first marks an order as begun and then looks at its stop word, main first sets the stop word
 *   and then looks at the mark: so an order is either seen as begun by main or not started by the thread
 */
import { AbortReason } from '../../actors/execution.ts';

/** The most orders in one batch. */
export const BATCH_LIMIT = 64;

const BATCH = 0;
const RUNNING = 1;
const STARTED = 2;
const THREAD = 3;
const ORDERS = 4;
const STOPS = ORDERS + BATCH_LIMIT;
const REGION_WORDS = STOPS + BATCH_LIMIT;

const NOT_BEGUN = 0;
const BEGUN = 1;
const DONE = 2;
/** An order word from here on: success with the result `null`; the rest is its duration in µs. */
const DONE_EMPTY = 3;
const LONGEST_US = 0x7fff_ffff - DONE_EMPTY;

const REASONS = [AbortReason.Timeout, AbortReason.Cancel, AbortReason.Shutdown] as const;

/** Shared memory for `count` regions. */
export function createRegionMemory(count: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * REGION_WORDS * Int32Array.BYTES_PER_ELEMENT);
}

export class CpuRegion {
  readonly index: number;
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer, index: number) {
    this.index = index;
    const bytes = REGION_WORDS * Int32Array.BYTES_PER_ELEMENT;
    this.#words = new Int32Array(memory, index * bytes, REGION_WORDS);
  }

  // Main's side.

  /** Makes the region ready for batch `batch`; 0 means no batch, so that a late thread does not start one. */
  open(batch: number): void {
    this.#words.fill(0);
    Atomics.store(this.#words, BATCH, batch);
  }

  /** Index of the order that runs now, -1 if none does. */
  running(): number {
    return Atomics.load(this.#words, RUNNING) - 1;
  }

  /** ms after the batch was sent at which the order that runs now began. */
  startedMs(): number {
    return Atomics.load(this.#words, STARTED);
  }

  /** `threadId` of the thread that started the batch; 0 if none has. */
  threadId(): number {
    return Atomics.load(this.#words, THREAD);
  }

  hasBegun(order: number): boolean {
    return Atomics.load(this.#words, ORDERS + order) !== NOT_BEGUN;
  }

  /** Duration in ms of an order that ended as success with the result `null`; -1 for any other. */
  emptySuccessMs(order: number): number {
    const word = Atomics.load(this.#words, ORDERS + order);
    return word < DONE_EMPTY ? -1 : (word - DONE_EMPTY) / 1000;
  }

  /** Tells the order to stop; the first reason stays. */
  stop(order: number, reason: AbortReason): void {
    Atomics.compareExchange(this.#words, STOPS + order, 0, REASONS.indexOf(reason) + 1);
    Atomics.notify(this.#words, STOPS + order);
  }

  // Both sides.

  stopReason(order: number): AbortReason | null {
    return REASONS[Atomics.load(this.#words, STOPS + order) - 1] ?? null;
  }

  // The thread's side.

  /** False if main has given the batch up in the meantime. */
  accept(batch: number, threadId: number): boolean {
    if (Atomics.load(this.#words, BATCH) !== batch) return false;
    Atomics.store(this.#words, THREAD, threadId);
    return true;
  }

  begin(order: number, startedMs: number): void {
    Atomics.store(this.#words, STARTED, startedMs);
    Atomics.store(this.#words, RUNNING, order + 1);
    Atomics.store(this.#words, ORDERS + order, BEGUN);
  }

  endEmpty(order: number, durationMs: number): void {
    const us = Math.min(LONGEST_US, Math.round(durationMs * 1000));
    Atomics.store(this.#words, ORDERS + order, DONE_EMPTY + us);
    Atomics.store(this.#words, RUNNING, 0);
  }

  end(order: number): void {
    Atomics.store(this.#words, ORDERS + order, DONE);
    Atomics.store(this.#words, RUNNING, 0);
  }

  /** Resolves when `stop` or `release` is called for the order; at once if it was told to stop before. */
  stopped(order: number): Promise<unknown> {
    const wait = Atomics.waitAsync(this.#words, STOPS + order, 0);
    return wait.async ? wait.value : Promise.resolve();
  }

  /** Ends the waits of `stopped`, so that none outlives its order. */
  release(order: number): void {
    Atomics.notify(this.#words, STOPS + order);
  }
}

/**
 * The regions that no batch has. There are more than slots, because a thread that was given up may still be
 * in a native call, and its region is not free before the thread is gone: so their number also bounds how
 * many such threads there can be.
 */
export class RegionStock {
  readonly memory: SharedArrayBuffer;
  readonly #free: CpuRegion[] = [];

  constructor(count: number) {
    this.memory = createRegionMemory(count);
    for (let index = count - 1; index >= 0; index--) this.#free.push(new CpuRegion(this.memory, index));
  }

  /** Regions that can be taken. */
  get count(): number {
    return this.#free.length;
  }

  take(): CpuRegion | undefined {
    return this.#free.pop();
  }

  put(region: CpuRegion): void {
    this.#free.push(region);
  }
}
