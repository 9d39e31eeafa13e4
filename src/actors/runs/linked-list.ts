/** A first-in-first-out list whose items carry the links themselves: O(1) at both ends and in the middle. */

/** What an item of such a list has. It stands in one list at a time. */
export interface Linked<Item extends Linked<Item>> {
  list: LinkedList<Item> | null;
  next: Item | null;
  previous: Item | null;
}

export class LinkedList<Item extends Linked<Item>> {
  #head: Item | null = null;
  #tail: Item | null = null;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get head(): Item | null {
    return this.#head;
  }

  push(item: Item): void {
    item.list = this;
    item.previous = this.#tail;
    item.next = null;
    if (this.#tail === null) this.#head = item;
    else this.#tail.next = item;
    this.#tail = item;
    this.#length++;
  }

  unshift(item: Item): void {
    item.list = this;
    item.previous = null;
    item.next = this.#head;
    if (this.#head === null) this.#tail = item;
    else this.#head.previous = item;
    this.#head = item;
    this.#length++;
  }

  shift(): Item | null {
    const item = this.#head;
    if (item !== null) this.remove(item);
    return item;
  }

  /** The item must stand in this list. */
  remove(item: Item): void {
    if (item.previous === null) this.#head = item.next;
    else item.previous.next = item.next;
    if (item.next === null) this.#tail = item.previous;
    else item.next.previous = item.previous;
    item.list = item.next = item.previous = null;
    this.#length--;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let item = this.#head; item !== null; item = item.next) yield item;
  }
}
