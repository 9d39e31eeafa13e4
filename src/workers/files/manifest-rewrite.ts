/**
 * Takes outdated lines out of a manifest: the rest is copied to a part file beside it, which is renamed over
 * it. See `manifest.ts` for how lines that others append meanwhile are kept.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { readLines } from './line-reader.ts';
import { LockFile } from './lock-file.ts';
import type { ManifestLine } from './manifest-line.ts';
import { lookAtTail } from './manifest-tail.ts';
import { PartFile } from './part-file.ts';

/** A stretch of bytes of the manifest. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export interface FoundLines {
  /** The line itself is there. */
  readonly same: boolean;
  /** Lines for the same file with another digest, in order; the first 1000. */
  readonly others: readonly Span[];
}

const OTHERS_LIMIT = 1000;

/** All lines for the file of `line`. Reads the whole manifest. */
export function findLines(fd: number, line: ManifestLine, buffer: Buffer): FoundLines {
  const { key, line: wanted } = line;
  const others: Span[] = [];
  let same = false;
  readLines(fd, 0, buffer, (chunk, start, end, offset) => {
    // Lines of another length are of other files or other algorithms.
    if (end - start !== wanted.length || chunk.compare(key, 0, key.length, end - key.length, end) !== 0)
      return;
    if (chunk.compare(wanted, 0, wanted.length, start, end) === 0) same = true;
    else if (others.length < OTHERS_LIMIT) others.push({ from: offset, to: offset + end - start });
  });
  return { same, others };
}

export interface Replacement {
  readonly manifestPath: string;
  readonly line: ManifestLine;
  readonly run: string;
  readonly buffer: Buffer;
}

/** False: the manifest was replaced by somebody else meanwhile, and nothing was done. */
export function replaceLines(replacement: Replacement): boolean {
  const { manifestPath, line, run, buffer } = replacement;
  const lock = LockFile.acquire(manifestPath);
  let old: number | undefined;
  try {
    old = openSync(manifestPath, constants.O_RDWR | constants.O_APPEND);
    const { others } = findLines(old, line, buffer);
    const copy = new Copy(old, PartFile.create(manifestPath, run), buffer);
    try {
      copy.allBut(others);
      // Once more right before the end, so that little is left to move after the rename.
      copy.upTo(lookAtTail(old).size);
      copy.part.write(line.line, line.line.length);
      const stats = fstatSync(old, { bigint: true });
      if (statSync(manifestPath, { bigint: true }).ino !== stats.ino) return false;
      copy.part.commit({ mode: Number(stats.mode) & 0o777 });
      copy.moveRest();
      return true;
    } finally {
      copy.part.discard();
    }
  } finally {
    if (old !== undefined) closeSync(old);
    lock.release();
  }
}

/** The copy of a manifest as it grows: everything of the old file before `#offset` is dealt with. */
class Copy {
  readonly part: PartFile;
  readonly #old: number;
  readonly #buffer: Buffer;
  #offset = 0;

  constructor(old: number, part: PartFile, buffer: Buffer) {
    this.part = part;
    this.#old = old;
    this.#buffer = buffer;
  }

  /** Copies all but the given spans, and ends on a newline. */
  allBut(spans: readonly Span[]): void {
    for (const span of spans) {
      this.upTo(span.from);
      this.#offset = span.to;
    }
    const { size, torn } = lookAtTail(this.#old);
    this.upTo(size);
    if (torn) this.part.write(Buffer.from('\n'), 1);
  }

  upTo(end: number): void {
    while (this.#offset < end) {
      const wanted = Math.min(this.#buffer.length, end - this.#offset);
      const read = readSync(this.#old, this.#buffer, 0, wanted, this.#offset);
      if (read === 0) return;
      this.part.write(this.#buffer, read);
      this.#offset += read;
    }
  }

  /** Once the part file has its name: adds to it the lines that came into the old file after it was copied. */
  moveRest(): void {
    if (fstatSync(this.#old).size <= this.#offset) return;
    const fd = openSync(this.part.path, constants.O_WRONLY | constants.O_APPEND);
    try {
      // Whole lines, each by one call: others append to the same file.
      readLines(this.#old, this.#offset, this.#buffer, (chunk, start, stop) => {
        writeSync(fd, chunk, start, stop - start, null);
      });
    } finally {
      closeSync(fd);
    }
  }
}
