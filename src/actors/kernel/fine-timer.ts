/**
 * A timer to a fraction of a millisecond. Timers of the runtime count whole milliseconds from a rounded-down time: they are
 * up to one late, and may be early. So this one sleeps by such a timer to within the last millisecond and passes the rest
 * in naps of the thread, with a turn of the event loop after each. Where a turn brought work, the next one comes without
 * a nap, so that a thread that has something to do is not held up.
 *
 * Turning the loop without naps, or `Atomics.waitAsync`, which comes down to that, is no more exact and keeps a core busy
 * where something is due all the time; docs/benchmarks.md has the figures.
 */

/** The longest that the thread is held. The kernel adds some 0.06 ms. */
export const NAP_MS = 0.25;
/** A turn that took longer had something to do. */
const WORK_MS = 0.1;

export class FineTimer {
  readonly #atMono: number;
  readonly #callback: () => void;
  readonly #look = (): void => this.#lookAgain();
  #timeout: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;
  /** When the turn that is awaited began; null: none was begun yet. */
  #turnMono: number | null = null;
  #ref = true;

  /** Calls back once, after `delayMs` and never before. */
  constructor(delayMs: number, callback: () => void) {
    this.#atMono = performance.now() + delayMs;
    this.#callback = callback;
    this.#wait(delayMs);
  }

  cancel(): void {
    if (this.#timeout !== null) clearTimeout(this.#timeout);
    if (this.#immediate !== null) clearImmediate(this.#immediate);
  }

  unref(): void {
    this.#ref = false;
    this.#timeout?.unref();
    this.#immediate?.unref();
  }

  #wait(leftMs: number): void {
    if (leftMs < 1) this.#turn();
    else {
      this.#timeout = setTimeout(this.#look, Math.floor(leftMs));
      if (!this.#ref) this.#timeout.unref();
    }
  }

  #turn(): void {
    this.#turnMono = performance.now();
    this.#immediate = setImmediate(this.#look);
    if (!this.#ref) this.#immediate.unref();
  }

  #lookAgain(): void {
    this.#timeout = null;
    this.#immediate = null;
    const nowMono = performance.now();
    const leftMs = this.#atMono - nowMono;
    if (leftMs <= 0) {
      this.#callback();
      return;
    }
    const wasIdle = this.#turnMono !== null && nowMono - this.#turnMono < WORK_MS;
    if (wasIdle) nap(Math.min(leftMs, NAP_MS));
    this.#wait(this.#atMono - performance.now());
  }
}

/** Nobody wakes it: the thread sleeps for the whole time. */
const napping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

function nap(ms: number): void {
  Atomics.wait(napping, 0, 0, ms);
}
