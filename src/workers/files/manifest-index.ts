/**
 * What a thread knows of the lines in one manifest, so that it does not read the manifest for each line it
 * adds. It follows the file as it grows, whoever writes to it. A Bloom filter says which names are not there,
 * which is certain; a table says where the lines of the others stand, which are then read and compared.
 *
 * The table takes 196,608 lines (2 MiB). Of a longer manifest, a line that is not in the table costs a read of
 * the manifest where the filter says "maybe". The filter grows with the file, from 2 KiB to 512 KiB; at a
 * million lines "maybe" is wrong for one name in five.
 */
import { type BigIntStats, fstatSync, readSync, writeSync } from 'node:fs';
import { type FoundLines, findLines } from './find-lines.ts';
import { readLines } from './line-reader.ts';
import { LineTable } from './line-table.ts';
import type { ManifestLine } from './manifest-line.ts';

const MIN_BITS = 1 << 14;
const MAX_BITS = 1 << 22;
/** With 3 probes a bit in 8 gives 3 wrong answers in 100. */
const BITS_A_LINE = 8;
/** The key of a line begins at its first space: no digest has one. */
const SPACE = 0x20;
const NEWLINE = 0x0a;
/** What was read last is compared before anything is read on: an edit by hand shows there. */
const TAIL_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

export class ManifestIndex {
  #seen: BigIntStats | undefined;
  #tail = Buffer.alloc(0);
  readonly #table = new LineTable();
  /** Everything before it is in the filter; it is the start of a line. */
  #end = 0;
  #lines = 0;
  #bits = new Uint8Array(MIN_BITS / 8);

  /** The offset after the last whole line that was seen. */
  get end(): number {
    return this.#end;
  }

  /**
   * Takes in what was written since. A manifest that was replaced, cut or edited is read anew: one that is
   * another file, shorter, changed and not longer, or not the same in the last 4 KiB that were read. `fd` must be open
   * for reading and appending.
   */
  catchUp(fd: number, buffer: Buffer): void {
    const seen = this.#seen;
    let now = fstatSync(fd, { bigint: true });
    if (seen !== undefined && now.size === seen.size && now.ctimeNs !== seen.ctimeNs) {
      // A write in flight moves the time first: an empty one waits for its end.
      writeSync(fd, NOTHING, 0, 0, null);
      now = fstatSync(fd, { bigint: true });
    }
    this.#seen = now;
    if (seen !== undefined && isUntouched(seen, now)) return;
    if (seen === undefined || !mayHaveGrown(seen, now) || !this.#isTailSame(fd, buffer))
      this.#clear(MIN_BITS);
    for (;;) {
      this.#end = readLines(fd, this.#end, buffer, (chunk, start, end, offset) => {
        this.#add(chunk, start, end, offset);
      });
      const bits = this.#bits.length * 8;
      if (this.#lines * BITS_A_LINE <= bits || bits === MAX_BITS) break;
      const wanted = 2 ** Math.ceil(Math.log2(this.#lines * BITS_A_LINE * 2));
      this.#clear(Math.min(MAX_BITS, wanted));
    }
    this.#keepTail(fd);
  }

  /** The lines for the file of `line`, as far as the last `catchUp` saw. Reads the whole manifest only if it must. */
  find(fd: number, line: ManifestLine, buffer: Buffer): FoundLines {
    if (!this.mayHave(line.key)) return { same: false, others: [] };
    const found = this.#findByTable(fd, line, buffer);
    return found.same || this.#table.complete ? found : findLines(fd, line, buffer);
  }

  /** `key` is that of a `ManifestLine`. */
  mayHave(key: Buffer): boolean {
    const first = hashBytes(key, 0, key.length);
    const step = stepOf(first);
    return this.#has(first) && this.#has(first + step) && this.#has(first + 2 * step);
  }

  #findByTable(fd: number, { key, line }: ManifestLine, buffer: Buffer): FoundLines {
    const { length } = line;
    const others = [];
    let same = false;
    for (const from of this.#table.offsetsOf(hashBytes(key, 0, key.length))) {
      const read = readSync(fd, buffer, 0, length, from);
      // Lines of another length are of other files or other algorithms.
      if (read !== length || buffer.indexOf(NEWLINE) !== length - 1) continue;
      if (buffer.compare(line, 0, length, 0, length) === 0) same = true;
      else if (buffer.compare(key, 0, key.length, length - key.length, length) === 0)
        others.push({ from, to: from + length });
    }
    return { same, others };
  }

  #isTailSame(fd: number, buffer: Buffer): boolean {
    const { length } = this.#tail;
    const read = readSync(fd, buffer, 0, length, this.#end - length);
    return read === length && this.#tail.compare(buffer, 0, length) === 0;
  }

  #keepTail(fd: number): void {
    const length = Math.min(TAIL_BYTES, this.#end);
    if (this.#tail.length !== length) this.#tail = Buffer.alloc(length);
    readSync(fd, this.#tail, 0, length, this.#end - length);
  }

  #clear(bits: number): void {
    this.#bits = bits === this.#bits.length * 8 ? this.#bits.fill(0) : new Uint8Array(bits / 8);
    this.#end = 0;
    this.#lines = 0;
    this.#tail = Buffer.alloc(0);
    this.#table.clear();
  }

  #add(chunk: Buffer, start: number, end: number, offset: number): void {
    this.#lines += 1;
    const key = chunk.indexOf(SPACE, start);
    if (key < 0 || key >= end) return;
    const first = hashBytes(chunk, key, end);
    const step = stepOf(first);
    this.#set(first);
    this.#set(first + step);
    this.#set(first + 2 * step);
    this.#table.add(first, offset);
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

function isUntouched(seen: BigIntStats, now: BigIntStats): boolean {
  return now.ctimeNs === seen.ctimeNs && now.size === seen.size && isSameFile(seen, now);
}

function mayHaveGrown(seen: BigIntStats, now: BigIntStats): boolean {
  return now.size > seen.size && isSameFile(seen, now);
}

/** An inode number is given again when its file is gone; the time of birth is not. */
function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev && one.birthtimeNs === other.birthtimeNs;
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
