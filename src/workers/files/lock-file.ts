/**
 * A lock between threads and processes: a file that only one can make, `.<name>.lock` beside what it guards.
 * It carries the pid of its maker. A lock whose maker is gone, or that is older than any honest use of it,
 * is taken over.
 */
import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ColibriError } from '../../actors/kernel/errors.ts';

/** Rewriting a manifest takes a second at most; a thread that was ended in the middle leaves its lock. */
const STALE_MS = 30_000;
const WAIT_MS = 5;
/** A little more than `STALE_MS`, so that a stale lock never makes a waiter fail. */
const GIVE_UP_MS = 35_000;

export class LockFile {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Waits, blocking the thread, until the lock is free. Throws `file-failed` after 35 s. */
  static acquire(guardedPath: string): LockFile {
    const path = join(dirname(guardedPath), `.${basename(guardedPath)}.lock`);
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const giveUpMono = performance.now() + GIVE_UP_MS;
    while (!tryCreate(path)) {
      if (performance.now() > giveUpMono) {
        throw new ColibriError(
          'file-failed',
          `expected the lock ${JSON.stringify(path)} to come free within ${GIVE_UP_MS / 1000} s; delete it if no daemon runs`,
        );
      }
      if (!removeStale(path)) Atomics.wait(cell, 0, 0, WAIT_MS);
    }
    return new LockFile(path);
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}

function tryCreate(path: string): boolean {
  try {
    const fd = openSync(path, 'wx', 0o600);
    writeSync(fd, String(process.pid));
    closeSync(fd);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
}

function removeStale(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (Date.now() - stats.mtimeMs < STALE_MS && makerLives(path)) return false;
  if (statSync(path, { throwIfNoEntry: false })?.ino === stats.ino) rmSync(path, { force: true });
  return true;
}

function makerLives(path: string): boolean {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10);
    // Not written yet: it was made this instant.
    return Number.isNaN(pid) || process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
