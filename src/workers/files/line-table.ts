/**
 * Where the lines of a manifest begin, by the hash of their key: an open-addressed table with linear probing,
 * 8 bytes a slot. It only says where to look; who uses it compares the line that stands there.
 *
 * Bounded: 262,144 slots (2 MiB), three quarters of them filled, so 196,608 lines of the first 4 GiB. What
 * does not fit is left out, and the table is then no longer complete.
 */
const MIN_SLOTS = 1 << 9;
const MAX_SLOTS = 1 << 18;
/** So that a manifest of equal lines, all of one hash, costs no quadratic time. */
const MAX_PROBES = 64;
const MAX_OFFSET = 0xffff_fffe;

export class LineTable {
  #hashes = new Uint32Array(MIN_SLOTS);
  /** Offset of the line plus one; 0: the slot is free. */
  #places = new Uint32Array(MIN_SLOTS);
  #used = 0;
  #complete = true;

  /** True: every line that was added is found. */
  get complete(): boolean {
    return this.#complete;
  }

  clear(): void {
    this.#hashes = new Uint32Array(MIN_SLOTS);
    this.#places = new Uint32Array(MIN_SLOTS);
    this.#used = 0;
    this.#complete = true;
  }

  /** `hash` is a whole number of 32 bits; `offset` that of the first byte of the line. */
  add(hash: number, offset: number): void {
    if ((this.#used + 1) * 4 > this.#places.length * 3) this.#grow();
    if ((this.#used + 1) * 4 > this.#places.length * 3 || offset > MAX_OFFSET) this.#complete = false;
    else this.#insert(hash, offset + 1);
  }

  /** Offsets of the lines with this hash, in no order. */
  *offsetsOf(hash: number): Generator<number> {
    const mask = this.#places.length - 1;
    for (let probe = 0; probe < MAX_PROBES; probe += 1) {
      const slot = (hash + probe) & mask;
      const place = this.#places[slot]!;
      if (place === 0) return;
      if (this.#hashes[slot] === hash) yield place - 1;
    }
  }

  #insert(hash: number, place: number): void {
    const mask = this.#places.length - 1;
    for (let probe = 0; probe < MAX_PROBES; probe += 1) {
      const slot = (hash + probe) & mask;
      if (this.#places[slot] !== 0) continue;
      this.#hashes[slot] = hash;
      this.#places[slot] = place;
      this.#used += 1;
      return;
    }
    this.#complete = false;
  }

  #grow(): void {
    if (this.#places.length === MAX_SLOTS) return;
    const hashes = this.#hashes;
    const places = this.#places;
    this.#hashes = new Uint32Array(places.length * 2);
    this.#places = new Uint32Array(places.length * 2);
    this.#used = 0;
    for (let slot = 0; slot < places.length; slot += 1) {
      if (places[slot] !== 0) this.#insert(hashes[slot]!, places[slot]!);
    }
  }
}
