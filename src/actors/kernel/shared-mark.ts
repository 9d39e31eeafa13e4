/**
 * A mark that one thread moves forward and others wait for, in memory that all of them share: how far the journal has
 * come. Work that must not begin before its beginning is kept waits here, on whatever thread it is, without a message.
 *
 * Positions are counted modulo 2^32 and compared by their difference, so that they may run for ever; what is compared
 * is never 2^31 apart. An *open* mark lets everything pass.
 */

/** Waiting is bounded, whatever becomes of the thread that moves the mark. */
export const MARK_WAIT_MS = 5000;

const POSITION = 0;
const OPEN = 1;

export class SharedMark {
  readonly #cells: Int32Array;
  /** Who waits on the thread that moves the mark: told at once, where the others are told by way of their event loop. */
  #moved: (() => void)[] = [];

  /** `memory`: of another one, on another thread. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.#cells = new Int32Array(memory);
  }

  /** To be handed to other threads. */
  get memory(): SharedArrayBuffer {
    return this.#cells.buffer as SharedArrayBuffer;
  }

  advance(position: number): void {
    Atomics.store(this.#cells, POSITION, position | 0);
    this.#wake();
  }

  /** Lets everything pass, or not any more. */
  setOpen(open: boolean): void {
    Atomics.store(this.#cells, OPEN, open ? 1 : 0);
    if (open) this.#wake();
  }

  passed(position: number): boolean {
    const reached = Atomics.load(this.#cells, POSITION);
    return ((reached - position) | 0) >= 0 || Atomics.load(this.#cells, OPEN) === 1;
  }

  /** Blocks this thread until the mark has passed, at most `MARK_WAIT_MS`. */
  waitSync(position: number): void {
    const endMono = performance.now() + MARK_WAIT_MS;
    while (!this.passed(position)) {
      const reached = Atomics.load(this.#cells, POSITION);
      const leftMs = endMono - performance.now();
      if (leftMs <= 0) return;
      // Between the look and the wait the mark may have been opened, which changes no position: so not for long.
      if (!this.passed(position)) Atomics.wait(this.#cells, POSITION, reached, Math.min(leftMs, 50));
    }
  }

  /** The same without blocking. */
  async wait(position: number): Promise<void> {
    const endMono = performance.now() + MARK_WAIT_MS;
    while (!this.passed(position)) {
      const reached = Atomics.load(this.#cells, POSITION);
      const leftMs = endMono - performance.now();
      if (leftMs <= 0) return;
      if (this.passed(position)) return;
      const { value } = Atomics.waitAsync(this.#cells, POSITION, reached, Math.min(leftMs, 50));
      const local = Promise.withResolvers<void>();
      this.#moved.push(local.resolve);
      await Promise.race([value, local.promise]);
      const at = this.#moved.indexOf(local.resolve);
      if (at >= 0) this.#moved.splice(at, 1);
    }
  }

  #wake(): void {
    Atomics.notify(this.#cells, POSITION);
    const moved = this.#moved;
    this.#moved = [];
    for (const resolve of moved) resolve();
  }
}
