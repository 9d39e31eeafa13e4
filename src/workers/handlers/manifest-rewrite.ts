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
    const part = PartFile.create(manifestPath, run);
    try {
      let copied = copyAround(old, part, others, buffer);
      // Once more right before the end, so that little is left to move after the rename.
      copied = copyRange(old, part, copied, lookAtTail(old).size, buffer);
      part.write(line.line, line.line.length);
      const stats = fstatSync(old, { bigint: true });
      if (statSync(manifestPath, { bigint: true }).ino !== stats.ino) return false;
      part.commit({ mode: Number(stats.mode) & 0o777 });
      moveRest(old, copied, manifestPath, buffer);
      return true;
    } finally {
      part.discard();
    }
  } finally {
    if (old !== undefined) closeSync(old);
    lock.release();
  }
}

/** Copies all but the given spans, and ends on a newline. Returns the offset up to which it read. */
function copyAround(old: number, part: PartFile, spans: readonly Span[], buffer: Buffer): number {
  let offset = 0;
  for (const span of spans) {
    copyRange(old, part, offset, span.from, buffer);
    offset = span.to;
  }
  const { size, torn } = lookAtTail(old);
  copyRange(old, part, offset, size, buffer);
  if (torn) part.write(Buffer.from('\n'), 1);
  return size;
}

function copyRange(old: number, part: PartFile, from: number, to: number, buffer: Buffer): number {
  let offset = from;
  while (offset < to) {
    const read = readSync(old, buffer, 0, Math.min(buffer.length, to - offset), offset);
    if (read === 0) break;
    part.write(buffer, read);
    offset += read;
  }
  return offset;
}

/** Lines that were appended to the old file after it was copied. */
function moveRest(old: number, from: number, manifestPath: string, buffer: Buffer): void {
  const size = fstatSync(old).size;
  if (size <= from) return;
  const fd = openSync(manifestPath, constants.O_WRONLY | constants.O_APPEND);
  try {
    for (let offset = from; offset < size; ) {
      // Whole lines only: others append to the same file.
      const end = readLines(old, offset, buffer, (chunk, start, stop) => {
        writeSync(fd, chunk, start, stop - start, null);
      });
      if (end === offset) break;
      offset = end;
    }
  } finally {
    closeSync(fd);
  }
}
