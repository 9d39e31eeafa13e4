/**
 * A manifest: one line a file, added to by several threads and processes at once.
 *
 * What must always hold:
 * - a line is written by a single call in append mode, so lines of several writers never mix;
 * - a line that a full disk or a crash cut short becomes a comment, and so spoils no other;
 * - a file has one line: the same line is not added again, and when its digest changed the old line goes.
 *
 * A line is replaced by writing the manifest anew beside itself and renaming it over. Appenders take no lock
 * for that: after its write, each looks whether the path still names the file it wrote to, and if not writes
 * its line again; the replacer, after its rename, moves lines over that came into the old file meanwhile.
 * Either sees the other, whichever comes first; at worst a line stands twice, which the tools accept.
 *
 * Limit: two versions of one file hashed at the same moment by two tasks can leave a line each, until the
 * file changes the next time.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { ColibriError } from '../../actors/kernel/errors.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import { fileError } from './file-error.ts';
import { ManifestIndex } from './manifest-index.ts';
import { type ManifestLine, manifestLine } from './manifest-line.ts';
import { replaceLines } from './manifest-rewrite.ts';
import { lookAtTail } from './manifest-tail.ts';
import { settleTornLine, undoShortWrite } from './torn-line.ts';

export interface ManifestEntry {
  /** Absolute. */
  readonly manifestPath: string;
  /** Absolute path of the file that was hashed. */
  readonly path: string;
  readonly hex: string;
  readonly run: string;
}

/** Manifests that one thread keeps an index of; the one that was used longest ago goes. */
const INDEXES_KEPT = 4;
/** Each try fails only where somebody replaced the manifest meanwhile. */
const TRIES = 100;
const NEWLINE = Buffer.from('\n');

export class Manifest {
  readonly #buffers: ChunkBuffers;
  readonly #indexes = new Map<string, ManifestIndex>();

  constructor(buffers: ChunkBuffers) {
    this.#buffers = buffers;
  }

  /** Sees to it that the manifest has this line and no other for this file. Throws `file-failed`. */
  write(entry: ManifestEntry): 'added' | 'kept' | 'replaced' {
    const { manifestPath, path, hex, run } = entry;
    try {
      const line = manifestLine(openFolder(manifestPath), path, hex);
      const buffer = this.#buffers.input;
      for (let tries = 0; tries < TRIES; tries += 1) {
        const done = this.#tryAppend(manifestPath, line);
        if (done === 'replace') {
          if (replaceLines({ manifestPath, line, run, buffer })) return 'replaced';
        } else if (done !== 'again') return done;
      }
    } catch (thrown) {
      throw fileError(manifestPath, 'can take a line', thrown);
    }
    throw new ColibriError(
      'file-failed',
      `expected ${JSON.stringify(manifestPath)} to stay in place for one write, got it replaced ${TRIES} times`,
    );
  }

  #tryAppend(manifestPath: string, line: ManifestLine): 'added' | 'kept' | 'replace' | 'again' {
    const fd = openSync(manifestPath, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o644);
    try {
      const index = this.#indexOf(manifestPath);
      index.catchUp(fd, this.#buffers.input);
      const found = index.find(fd, line, this.#buffers.input);
      if (found.others.length > 0) return 'replace';
      if (found.same) return 'kept';
      appendWhole(fd, manifestPath, line.line);
      return isStill(fd, manifestPath) ? 'added' : 'again';
    } finally {
      closeSync(fd);
    }
  }

  #indexOf(manifestPath: string): ManifestIndex {
    const index = this.#indexes.get(manifestPath) ?? new ManifestIndex();
    this.#indexes.delete(manifestPath);
    this.#indexes.set(manifestPath, index);
    if (this.#indexes.size > INDEXES_KEPT) {
      for (const oldest of this.#indexes.keys()) {
        this.#indexes.delete(oldest);
        break;
      }
    }
    return index;
  }
}

function openFolder(manifestPath: string): string {
  mkdirSync(dirname(manifestPath), { recursive: true });
  return manifestPath;
}

/** One call, one line; before it a newline where the last line has none. */
function appendWhole(fd: number, manifestPath: string, line: Buffer): void {
  const { size, torn } = lookAtTail(fd);
  if (torn) settleTornLine(fd, manifestPath, size);
  const whole = torn ? Buffer.concat([NEWLINE, line]) : line;
  const written = writeSync(fd, whole, 0, whole.length, null);
  if (written === whole.length) return;
  undoShortWrite(fd, written, whole.length - line.length);
  throw new ColibriError(
    'file-failed',
    `expected ${JSON.stringify(manifestPath)} to take ${whole.length} bytes, got ${written} written; is the disk full?`,
  );
}

function isStill(fd: number, manifestPath: string): boolean {
  const named = statSync(manifestPath, { bigint: true, throwIfNoEntry: false });
  const open = fstatSync(fd, { bigint: true });
  return named?.ino === open.ino && named.dev === open.dev;
}
