/**
 * When a thread collects its own garbage: nobody else can do it for a thread. When its work has run dry, and in the
 * middle of work when its heap has grown, but so rarely that it costs less than a hundredth of the thread's time.
 */
import { GarbageCollector, usedHeapBytes } from './collect-garbage.ts';

export interface TidierOptions {
  /** At least so long between two collections in the middle of work. */
  readonly busyEveryMs: number;
  /** Parameters for tests. */
  readonly heapBytes?: () => number;
  readonly collect?: () => void;
  readonly monoMs?: () => number;
}

/** Garbage that is worth a collection of some 50 ms. */
const GROWN_BYTES = 2 ** 20;
/** V8 drops code that was not run during six collections, and each of ours is two: so what only the start ran goes. */
const FIRST_COLLECTIONS = 3;
const FIRST_EVERY_MS = 1000;

export class Tidier {
  readonly #busyEveryMs: number;
  readonly #heapBytes: () => number;
  readonly #collectNow: () => void;
  readonly #monoMs: () => number;
  #collectedMono: number;
  #floorBytes = 0;
  #dirty = false;
  #collections = 0;

  constructor(options: TidierOptions) {
    this.#busyEveryMs = options.busyEveryMs;
    this.#heapBytes = options.heapBytes ?? usedHeapBytes;
    const collector = new GarbageCollector();
    this.#collectNow = options.collect ?? (() => collector.collect());
    this.#monoMs = options.monoMs ?? (() => performance.now());
    this.#collectedMono = this.#monoMs();
  }

  /** Between two pieces of work, with the next one perhaps waiting. */
  worked(): void {
    this.#dirty = true;
    const first = this.#collections < FIRST_COLLECTIONS;
    const nowMono = this.#monoMs();
    if (nowMono - this.#collectedMono < (first ? FIRST_EVERY_MS : this.#busyEveryMs)) return;
    if (first || this.#heapBytes() - this.#floorBytes >= GROWN_BYTES) this.collect();
    else this.#collectedMono = nowMono;
  }

  /** Nothing has come for a while. */
  idle(): void {
    if (this.#dirty) this.collect();
  }

  collect(): void {
    this.#collectNow();
    this.#collections++;
    this.#dirty = false;
    this.#floorBytes = this.#heapBytes();
    this.#collectedMono = this.#monoMs();
  }
}
