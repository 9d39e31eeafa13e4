/**
 * Whether memory is short, in memory that all threads share: main says it, and a thread looks before it collects in the
 * middle of work, which costs it some 20 ms. Where nobody looks after memory, it is never short.
 */
export class MemoryShort {
  readonly #cells: Int32Array;

  /** `memory`: of another one, on another thread. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.#cells = new Int32Array(memory);
  }

  /** To be handed to other threads. */
  get memory(): SharedArrayBuffer {
    return this.#cells.buffer as SharedArrayBuffer;
  }

  get isShort(): boolean {
    return Atomics.load(this.#cells, 0) === 1;
  }

  set isShort(short: boolean) {
    Atomics.store(this.#cells, 0, short ? 1 : 0);
  }
}
