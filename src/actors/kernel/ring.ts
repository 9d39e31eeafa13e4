/**
 * A queue in a ring: each entry with its size in bytes, both ends in O(1). It grows by doubling as it fills
 * and lets a large array go once it is empty, so that a burst does not hold memory for ever. The bound is the
 * business of its owner.
 */

const SMALLEST = 16;
/** An empty ring larger than this starts over small. */
const KEPT_WHEN_EMPTY = 1024;

export class Ring<T> {
  #items: (T | undefined)[] = new Array(SMALLEST).fill(undefined);
  #sizes: number[] = new Array(SMALLEST).fill(0);
  #head = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Size of the entry that `shift` would give; 0 for an empty ring. */
  get headBytes(): number {
    return this.#count === 0 ? 0 : this.#sizes[this.#head]!;
  }

  /** The entry that `shift` would give. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T, bytes = 0): void {
    if (this.#count === this.#items.length) this.#grow();
    const at = (this.#head + this.#count) & (this.#items.length - 1);
    this.#items[at] = item;
    this.#sizes[at] = bytes;
    this.#count++;
  }

  shift(): T | undefined {
    if (this.#count === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#items.length - 1);
    this.#count--;
    if (this.#count === 0 && this.#items.length > KEPT_WHEN_EMPTY) this.#reset();
    return item;
  }

  #reset(): void {
    this.#items = new Array(SMALLEST).fill(undefined);
    this.#sizes = new Array(SMALLEST).fill(0);
    this.#head = 0;
  }

  #grow(): void {
    const length = this.#items.length;
    const items: (T | undefined)[] = new Array(length * 2).fill(undefined);
    const sizes: number[] = new Array(length * 2).fill(0);
    for (let i = 0; i < length; i++) {
      const from = (this.#head + i) & (length - 1);
      items[i] = this.#items[from];
      sizes[i] = this.#sizes[from]!;
    }
    this.#items = items;
    this.#sizes = sizes;
    this.#head = 0;
  }
}
