/**
 * A lock between threads and processes: a file that only one can make, `.<name>.lock` beside what it guards.
 * It names the thread that made it. A lock whose thread is gone, or that is older than any honest use of it, is
 * taken over; what is deleted is the very lock that was judged or is one's own, told by a token in it.
 */
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ColibriError } from '../../actors/kernel/errors.ts';

/** Rewriting a manifest takes a second at most. */
const STALE_MS = 30_000;
/** Of a lock that was made and not written, by a thread that was ended in between. */
const EMPTY_STALE_MS = 1000;
const WAIT_MS = 5;
/** A little more than `STALE_MS`, so that a stale lock never makes a waiter fail. */
const GIVE_UP_MS = 35_000;

export class LockFile {
  readonly #path: string;
  readonly #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /** Waits, blocking the thread, until the lock is free. Throws `file-failed` after 35 s. */
  static acquire(guardedPath: string): LockFile {
    const path = join(dirname(guardedPath), `.${basename(guardedPath)}.lock`);
    const text = `${thisThread()} ${randomName()}`;
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const giveUpMono = performance.now() + GIVE_UP_MS;
    while (!tryCreate(path, text)) {
      if (performance.now() > giveUpMono) {
        throw new ColibriError(
          'file-failed',
          `expected the lock ${JSON.stringify(path)} to come free within ${GIVE_UP_MS / 1000} s; delete it if no daemon runs`,
        );
      }
      if (!removeStale(path)) Atomics.wait(cell, 0, 0, WAIT_MS);
    }
    return new LockFile(path, text);
  }

  /** A lock that another has taken over meanwhile stays. */
  release(): void {
    if (readLock(this.#path) === this.#text) rmSync(this.#path, { force: true });
  }
}

function tryCreate(path: string, text: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
  try {
    writeSync(fd, text);
  } catch (thrown) {
    rmSync(path, { force: true });
    throw thrown;
  } finally {
    closeSync(fd);
  }
  return true;
}

/** True where it is worth trying at once again. */
function removeStale(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  const text = readLock(path);
  if (stats === undefined || text === null) return true;
  const ageMs = Date.now() - stats.mtimeMs;
  if (ageMs < STALE_MS && (text === '' ? ageMs < EMPTY_STALE_MS : threadLives(text))) return false;
  const aside = `${path}-${randomName()}`;
  try {
    renameSync(path, aside);
    // Of two that found it stale the slower one may have the lock of the faster one in hand.
    if (readLock(aside) !== text) linkSync(aside, path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw thrown;
  } finally {
    rmSync(aside, { force: true });
  }
  return true;
}

/** Loaded with the first lock: not every thread that knows how to lock does so. */
function randomName(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(8).toString('hex');
}

function readLock(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
}

/** `PID/task/TID START`: the thread as the system knows it, so that neither number is mistaken when used again. */
function thisThread(): string {
  const thread = readlinkSync('/proc/thread-self');
  return `${thread} ${startTicksOf(thread)}`;
}

function threadLives(text: string): boolean {
  const [thread = '', startTicks = ''] = text.split(' ');
  if (!/^\d+\/task\/\d+$/.test(thread)) return false;
  try {
    return startTicksOf(thread) === startTicks;
  } catch {
    return false;
  }
}

/** Field 22 of the stat of a thread is its start in clock ticks since boot (proc(5)). */
function startTicksOf(thread: string): string {
  const stat = readFileSync(`/proc/${thread}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
