/** Finds the lines for one file in a manifest, by reading all of it. */
import { readLines } from './line-reader.ts';
import type { ManifestLine } from './manifest-line.ts';

/** A stretch of bytes of the manifest. */
export interface Span {
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
