/**
 * Shared memory in which a thread notes whose handler it has called and has not come back from. While its event loop is
 * blocked, main reads there whose call it is, also where that sits in a native call and answers nothing at all.
 *
 * It knows nothing of what a handler does after an `await`: to follow that, every promise would have to be noted.
 */

/** Longer ids are noted cut, and so are of no known run. */
const ID_BYTES = 508;
const HEAD_BYTES = 4;

export class BegunRun {
  readonly memory: SharedArrayBuffer;
  /** Bytes of the id; 0: no call is open. */
  readonly #length: Int32Array<SharedArrayBuffer>;
  readonly #id: Buffer<SharedArrayBuffer>;

  constructor(memory = new SharedArrayBuffer(HEAD_BYTES + ID_BYTES)) {
    this.memory = memory;
    this.#length = new Int32Array(memory, 0, 1);
    this.#id = Buffer.from(memory, HEAD_BYTES);
  }

  enter(run: string): void {
    Atomics.store(this.#length, 0, this.#id.write(run));
  }

  leave(): void {
    Atomics.store(this.#length, 0, 0);
  }

  /** To be read while the thread stands still, or is gone. */
  get run(): string | null {
    const length = Atomics.load(this.#length, 0);
    return length === 0 ? null : this.#id.toString('utf8', 0, length);
  }
}
