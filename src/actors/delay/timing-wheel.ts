/**
 * A hierarchical timing wheel (Varghese and Lauck, *Hashed and Hierarchical Timing Wheels*, SOSP 1987): nine wheels of 64
 * lists. An entry stands on the wheel of the highest digit, to the base of 64, in which its tick differs from the
 * current one; when the current tick reaches the first tick of a list, its entries move to the wheels below.
 * Insertion and removal cost the same however many entries there are.
 *
 * A tick is a millisecond, a due time rounded up, so that nothing comes early. Nine wheels reach further than `Date`, before
 * 1970 too. Order within a tick is the caller's business. 18 bytes an entry.
 */
import { capacityFor, widen } from './widen.ts';

const BITS = 64;
const WHEELS = 9;
/** The list of entries whose tick has come. */
const COME = BITS * WHEELS;
const NONE = -1;
/** Added to ticks, so that none is negative: digits of negative numbers lead nowhere. */
const ORIGIN = 2 ** 52;
/** What is further away comes then, and its due time is still to be looked at. */
const LAST_TICK = Number.MAX_SAFE_INTEGER;

export class TimingWheel {
  /** By entry. */
  #due: Float64Array;
  #next: Int32Array;
  #previous: Int32Array;
  /** By entry: the list that it stands in; NONE: in none. */
  #list: Int16Array;
  readonly #head = new Int32Array(COME + 1).fill(NONE);
  readonly #tail = new Int32Array(COME + 1).fill(NONE);
  /** Of each wheel, two words of bits: which lists hold something. */
  readonly #filled = new Uint32Array(2 * WHEELS);
  /** From `ORIGIN` on. */
  #current: number;

  constructor(currentTick: number, initialCapacity = 64) {
    this.#current = fromOrigin(currentTick);
    this.#due = new Float64Array(initialCapacity);
    this.#next = new Int32Array(initialCapacity);
    this.#previous = new Int32Array(initialCapacity);
    this.#list = new Int16Array(initialCapacity).fill(NONE);
  }

  /** All entries up to this tick have come. */
  get current(): number {
    return this.#current - ORIGIN;
  }

  /** `entry`: a small dense number that is in no list. */
  insert(entry: number, due: number): void {
    if (entry >= this.#due.length) this.#grow(entry);
    this.#due[entry] = due;
    this.#append(entry, this.#listOf(entry));
  }

  dueOf(entry: number): number {
    return this.#due[entry]!;
  }

  has(entry: number): boolean {
    return entry < this.#list.length && this.#list[entry] !== NONE;
  }

  remove(entry: number): void {
    const list = this.#list[entry]!;
    const next = this.#next[entry]!;
    const previous = this.#previous[entry]!;
    if (previous === NONE) this.#head[list] = next;
    else this.#next[previous] = next;
    if (next === NONE) this.#tail[list] = previous;
    else this.#previous[next] = previous;
    this.#list[entry] = NONE;
    if (this.#head[list] === NONE && list !== COME) this.#mark(list, false);
  }

  /** Moves on to a tick that is not before the current one: what has come stands in the list `COME` then. */
  advance(tick: number): void {
    const to = fromOrigin(tick);
    for (let at = this.#nextEvent(); at !== null && at.tick <= to; at = this.#nextEvent()) {
      this.#current = at.tick;
      for (let entry = this.#head[at.list]!; entry !== NONE; entry = this.#head[at.list]!) {
        this.remove(entry);
        this.#append(entry, this.#listOf(entry));
      }
    }
    this.#current = Math.max(this.#current, to);
  }

  /** The first tick at which something comes, or moves to a wheel below; Infinity: never. */
  get nextTick(): number {
    if (this.#head[COME] !== NONE) return this.current;
    const event = this.#nextEvent();
    return event === null ? Number.POSITIVE_INFINITY : event.tick - ORIGIN;
  }

  /** Of the entries that have come, the one that did so first; -1: none. */
  get firstCome(): number {
    return this.#head[COME]!;
  }

  /** The clock was set back: all ticks are counted from an earlier one. */
  reset(currentTick: number): void {
    const entries: number[] = [];
    for (let list = 0; list <= COME; list++) {
      for (let entry = this.#head[list]!; entry !== NONE; entry = this.#next[entry]!) entries.push(entry);
    }
    for (const entry of entries) this.remove(entry);
    this.#current = fromOrigin(currentTick);
    for (const entry of entries) this.#append(entry, this.#listOf(entry));
  }

  /** No entry stands in any list. */
  clear(): void {
    this.#list.fill(NONE);
    this.#head.fill(NONE);
    this.#tail.fill(NONE);
    this.#filled.fill(0);
  }

  #listOf(entry: number): number {
    const tick = fromOrigin(Math.ceil(this.#due[entry]!));
    if (tick <= this.#current) return COME;
    let wheel = 0;
    let entryDigits = tick;
    let currentDigits = this.#current;
    // Up to where both agree from there on: the wheel below is that of the highest digit that differs.
    while (Math.floor(entryDigits / BITS) !== Math.floor(currentDigits / BITS)) {
      entryDigits = Math.floor(entryDigits / BITS);
      currentDigits = Math.floor(currentDigits / BITS);
      wheel++;
    }
    return wheel * BITS + (entryDigits % BITS);
  }

  #nextEvent(): { readonly tick: number; readonly list: number } | null {
    let span = 1;
    for (let wheel = 0; wheel < WHEELS; wheel++, span *= BITS) {
      const digits = Math.floor(this.#current / span);
      const digit = digits % BITS;
      const filled = this.#firstFilled(wheel, digit + 1);
      if (filled !== NONE) return { tick: (digits - digit + filled) * span, list: wheel * BITS + filled };
    }
    return null;
  }

  /** The first list of a wheel from `from` on that holds something. */
  #firstFilled(wheel: number, from: number): number {
    for (let word = from >> 5; word < 2; word++) {
      const shift = word === from >> 5 ? from & 31 : 0;
      const bits = (this.#filled[2 * wheel + word]! >>> shift) << shift;
      if (bits !== 0) return 32 * word + 31 - Math.clz32(bits & -bits);
    }
    return NONE;
  }

  #append(entry: number, list: number): void {
    const tail = this.#tail[list]!;
    this.#list[entry] = list;
    this.#previous[entry] = tail;
    this.#next[entry] = NONE;
    this.#tail[list] = entry;
    if (tail === NONE) {
      this.#head[list] = entry;
      if (list !== COME) this.#mark(list, true);
    } else this.#next[tail] = entry;
  }

  #mark(list: number, filled: boolean): void {
    const word = list >> 5;
    const bit = 1 << (list & 31);
    this.#filled[word] = filled ? this.#filled[word]! | bit : this.#filled[word]! & ~bit;
  }

  #grow(entry: number): void {
    const capacity = capacityFor(entry + 1);
    this.#due = widen(this.#due, new Float64Array(capacity));
    this.#next = widen(this.#next, new Int32Array(capacity));
    this.#previous = widen(this.#previous, new Int32Array(capacity));
    this.#list = widen(this.#list, new Int16Array(capacity).fill(NONE));
  }
}

function fromOrigin(tick: number): number {
  return Math.min(LAST_TICK, Math.max(0, tick + ORIGIN));
}
