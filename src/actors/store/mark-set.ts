/**
 * A set of 64-bit fingerprints in one typed array with open addressing: 8 bytes an entry at a load of at most
 * one half, no object each. Marks are 16 hex digits; two different files share one by chance with a
 * probability of about n² / 2^65, 3 in 10^8 for a million files.
 */
export class MarkSet {
  #high: Uint32Array;
  #low: Uint32Array;
  #size = 0;
  #hasZero = false;

  constructor(initialCapacity = 1024) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(16, initialCapacity)));
    this.#high = new Uint32Array(capacity);
    this.#low = new Uint32Array(capacity);
  }

  get size(): number {
    return this.#size + (this.#hasZero ? 1 : 0);
  }

  get bytes(): number {
    return this.#high.length * 8;
  }

  /** `mark`: 16 hex digits. */
  add(mark: string): void {
    const [high, low] = parseMark(mark);
    if (high === 0 && low === 0) {
      this.#hasZero = true;
      return;
    }
    if (this.#size * 2 >= this.#high.length) this.#grow();
    if (insert(this.#high, this.#low, high, low)) this.#size++;
  }

  has(mark: string): boolean {
    const [high, low] = parseMark(mark);
    if (high === 0 && low === 0) return this.#hasZero;
    const mask = this.#high.length - 1;
    for (let index = low & mask; ; index = (index + 1) & mask) {
      if (this.#high[index] === 0 && this.#low[index] === 0) return false;
      if (this.#high[index] === high && this.#low[index] === low) return true;
    }
  }

  #grow(): void {
    const high = new Uint32Array(this.#high.length * 2);
    const low = new Uint32Array(high.length);
    for (let index = 0; index < this.#high.length; index++) {
      const h = this.#high[index]!;
      const l = this.#low[index]!;
      if (h !== 0 || l !== 0) insert(high, low, h, l);
    }
    this.#high = high;
    this.#low = low;
  }
}

function insert(highs: Uint32Array, lows: Uint32Array, high: number, low: number): boolean {
  const mask = highs.length - 1;
  let index = low & mask;
  while (highs[index] !== 0 || lows[index] !== 0) {
    if (highs[index] === high && lows[index] === low) return false;
    index = (index + 1) & mask;
  }
  highs[index] = high;
  lows[index] = low;
  return true;
}

function parseMark(mark: string): [number, number] {
  return [Number.parseInt(mark.slice(0, 8), 16) >>> 0, Number.parseInt(mark.slice(8, 16), 16) >>> 0];
}
