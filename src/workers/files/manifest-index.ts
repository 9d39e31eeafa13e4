/**
 * What a thread knows of the names in one manifest, so that it does not read the manifest for each line it
 * adds: a Bloom filter that follows the file as it grows, whoever writes to it. "Not in it" is certain;
 * "maybe" is answered by reading the manifest.
 *
 * The filter grows with the file, from 2 KiB to 512 KiB; at a million lines "maybe" is wrong for one name in
 * five, and costs a read of the manifest then.
 */
import { fstatSync } from 'node:fs';
import { readLines } from './line-reader.ts';

const MIN_BITS = 1 << 14;
const MAX_BITS = 1 << 22;
/** With 3 probes a bit in 8 gives 3 wrong answers in 100. */
const BITS_A_LINE = 8;
/** The key of a line begins at its first space: no digest has one. */
const SPACE = 0x20;

export class ManifestIndex {
  #inode = -1n;
  /** Everything before it is in the filter; it is the start of a line. */
  #end = 0;
  #lines = 0;
  #bits = new Uint8Array(MIN_BITS / 8);

  /** The offset after the last whole line that was seen. */
  get end(): number {
    return this.#end;
  }

  /** Takes in what was written since. A manifest that was replaced or cut is read anew. */
  catchUp(fd: number, buffer: Buffer): void {
    const { ino, size } = fstatSync(fd, { bigint: true });
    if (ino !== this.#inode || Number(size) < this.#end) {
      this.#inode = ino;
      this.#clear(MIN_BITS);
    }
    for (;;) {
      this.#end = readLines(fd, this.#end, buffer, (chunk, start, end) => this.#add(chunk, start, end));
      const bits = this.#bits.length * 8;
      if (this.#lines * BITS_A_LINE <= bits || bits === MAX_BITS) return;
      const wanted = 2 ** Math.ceil(Math.log2(this.#lines * BITS_A_LINE * 2));
      this.#clear(Math.min(MAX_BITS, wanted));
    }
  }

  /** `key` is that of a `ManifestLine`. */
  mayHave(key: Buffer): boolean {
    const first = hashBytes(key, 0, key.length);
    const step = stepOf(first);
    return this.#has(first) && this.#has(first + step) && this.#has(first + 2 * step);
  }

  #clear(bits: number): void {
    this.#bits = bits === this.#bits.length * 8 ? this.#bits.fill(0) : new Uint8Array(bits / 8);
    this.#end = 0;
    this.#lines = 0;
  }

  #add(chunk: Buffer, start: number, end: number): void {
    this.#lines += 1;
    const key = chunk.indexOf(SPACE, start);
    if (key < 0 || key >= end) return;
    const first = hashBytes(chunk, key, end);
    const step = stepOf(first);
    this.#set(first);
    this.#set(first + step);
    this.#set(first + 2 * step);
  }

  #set(hash: number): void {
    const bit = hash & (this.#bits.length * 8 - 1);
    this.#bits[bit >>> 3]! |= 1 << (bit & 7);
  }

  #has(hash: number): boolean {
    const bit = hash & (this.#bits.length * 8 - 1);
    return (this.#bits[bit >>> 3]! & (1 << (bit & 7))) !== 0;
  }
}

/** FNV-1a over the bytes, its end mixed as MurmurHash3 does. */
function hashBytes(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ bytes[index]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A second hash for the probes; odd, so that they never fall together. */
function stepOf(hash: number): number {
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0) | 1;
}
