/**
 * Deletes part files of runs that never came back: after a kill, their part file stays beside the output. A
 * run that makes its own looks through the folder, at most once an hour for each folder, so that a folder
 * with many outputs is not read for each of them.
 *
 * Age is told by the change time, which every write moves and nobody can set back: a part file that is about
 * to be renamed already has the modification time of its source.
 */
import { lstatSync, opendirSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isPartName, partName } from './part-name.ts';

const SWEEP_EVERY_MS = 60 * 60 * 1000;
const STALE_MS = 24 * 60 * 60 * 1000;
/** For part files of the very output that is made anew. */
const SAME_OUTPUT_STALE_MS = 60 * 1000;
/** Names looked at in one sweep, about 30 ms. */
const NAMES_LIMIT = 50_000;
/** The folder that was swept longest ago is forgotten, and swept again at its next output. */
const FOLDERS_KEPT = 64;

export class PartSweeper {
  readonly #nowMs: () => number;
  /** When each folder was swept, oldest first. */
  readonly #sweptAtMs = new Map<string, number>();

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Call before `run` makes its part file for `path`. Never throws: a sweep that fails harms no output. */
  sweep(path: string, run: string): void {
    const folder = dirname(path);
    const nowMs = this.#nowMs();
    const sweptAtMs = this.#sweptAtMs.get(folder);
    if (sweptAtMs !== undefined && Math.abs(nowMs - sweptAtMs) < SWEEP_EVERY_MS) return;
    this.#remember(folder, nowMs);
    const name = basename(path);
    try {
      for (const found of partNamesIn(folder)) {
        if (found === partName(name, run)) continue;
        const staleMs = found.startsWith(`${name}.part-`) ? SAME_OUTPUT_STALE_MS : STALE_MS;
        removeOlder(join(folder, found), nowMs - staleMs);
      }
    } catch {
      // What could not be read or removed now is tried again an hour later.
    }
  }

  #remember(folder: string, nowMs: number): void {
    this.#sweptAtMs.delete(folder);
    this.#sweptAtMs.set(folder, nowMs);
    if (this.#sweptAtMs.size <= FOLDERS_KEPT) return;
    for (const oldest of this.#sweptAtMs.keys()) {
      this.#sweptAtMs.delete(oldest);
      return;
    }
  }
}

function* partNamesIn(folder: string): Generator<string> {
  const entries = opendirSync(folder, { bufferSize: 512 });
  try {
    for (let looked = 0; looked < NAMES_LIMIT; looked += 1) {
      const entry = entries.readSync();
      if (entry === null) return;
      if (entry.isFile() && isPartName(entry.name)) yield entry.name;
    }
  } finally {
    entries.closeSync();
  }
}

function removeOlder(path: string, thanMs: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.ctimeMs >= thanMs) return;
  try {
    unlinkSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
  }
}
