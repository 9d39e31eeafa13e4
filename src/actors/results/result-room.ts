/**
 * How many bytes the files of results take, together: one count for all threads. Whoever writes takes room before, whoever
 * deletes gives it back.
 */
export class ResultRoom {
  readonly memory: SharedArrayBuffer;
  readonly capacityBytes: number;
  readonly #used: BigInt64Array;

  constructor(capacityBytes: number, memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.capacityBytes = capacityBytes;
    this.memory = memory;
    this.#used = new BigInt64Array(memory);
  }

  get usedBytes(): number {
    return Number(Atomics.load(this.#used, 0));
  }

  /** False where there is not so much: then nothing is taken. */
  tryTake(bytes: number): boolean {
    const before = Number(Atomics.add(this.#used, 0, BigInt(bytes)));
    if (before + bytes <= this.capacityBytes) return true;
    this.give(bytes);
    return false;
  }

  /** What is there already, at a start. */
  add(bytes: number): void {
    Atomics.add(this.#used, 0, BigInt(bytes));
  }

  /** What is there was looked at: so much, unless the count has changed since it was `before`. */
  correct(before: number, bytes: number): void {
    Atomics.compareExchange(this.#used, 0, BigInt(before), BigInt(bytes));
  }

  give(bytes: number): void {
    Atomics.sub(this.#used, 0, BigInt(bytes));
  }
}
