/**
 * Takes outdated lines out of a manifest: the rest is copied to a part file beside it, which is renamed over
 * it. See `manifest.ts` for how lines that others append meanwhile are kept.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { findLines, type Span } from './find-lines.ts';
import { readLines } from './line-reader.ts';
import { LockFile } from './lock-file.ts';
import type { ManifestLine } from './manifest-line.ts';
import { lookAtTail } from './manifest-tail.ts';
import { PartFile } from './part-file.ts';
import { settleTornLine } from './torn-line.ts';

export interface Replacement {
  readonly manifestPath: string;
  readonly line: ManifestLine;
  readonly run: string;
  readonly buffer: Buffer;
}

/** False: the manifest was replaced by somebody else meanwhile, and nothing was done. */
export function replaceLines(replacement: Replacement): boolean {
  const { line, run, buffer } = replacement;
  // Where the manifest is a link, its target is written anew and the link stays.
  const manifestPath = realpathSync.native(replacement.manifestPath);
  const lock = LockFile.acquire(manifestPath);
  let old: number | undefined;
  try {
    old = openSync(manifestPath, constants.O_RDWR | constants.O_APPEND);
    const { others } = findLines(old, line, buffer);
    const copy = new Copy(old, PartFile.create(manifestPath, run), replacement);
    try {
      copy.allBut(others);
      // Once more right before the end, so that little is left to move after the rename.
      copy.rest();
      copy.part.write(line.line, line.line.length);
      const stats = fstatSync(old, { bigint: true });
      if (statSync(manifestPath, { bigint: true }).ino !== stats.ino) return false;
      const owner = { uid: Number(stats.uid), gid: Number(stats.gid) };
      copy.part.commit({ mode: Number(stats.mode) & 0o777, owner });
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
  readonly #manifestPath: string;
  #offset = 0;

  constructor(old: number, part: PartFile, { buffer, manifestPath }: Replacement) {
    this.part = part;
    this.#old = old;
    this.#buffer = buffer;
    this.#manifestPath = manifestPath;
  }

  /** Copies all but the given spans, and ends on a newline. */
  allBut(spans: readonly Span[]): void {
    for (const span of spans) {
      this.upTo(span.from);
      this.#offset = span.to;
    }
    this.rest();
  }

  /** Copies what is left, and ends on a newline. */
  rest(): void {
    const { size, torn } = lookAtTail(this.#old);
    if (size === this.#offset) return;
    if (torn) settleTornLine(this.#old, this.#manifestPath, size);
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
