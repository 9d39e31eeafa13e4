/**
 * The state directory and its lock: one daemon a directory. The lock file names its holder by process id,
 * start time and boot, so that a crash, a reboot or a reused process id never keeps a directory locked.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ColibriError } from '../actors/kernel/index.ts';

export interface StateDirLock {
  /** Idempotent. */
  release(): void;
}

interface Holder {
  readonly pid: number;
  readonly startTicks: string;
  readonly bootId: string;
}

/** Longest lock file that is looked at, bytes. */
const LOCK_LIMIT = 4096;

/**
 * Makes the directory (0700) if need be and takes its lock.
 * Throws `state-dir-held` if a living daemon has it, `config-invalid` if the directory cannot be used.
 */
export function lockStateDir(dir: string): StateDirLock {
  const file = join(dir, 'lock');
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const me = holderOf(process.pid);
    for (let tries = 0; tries < 3; tries++) {
      if (tryCreate(file, me)) return { release: () => releaseLock(file, me) };
      const other = readHolder(file);
      if (other !== null && isAlive(other)) {
        throw new ColibriError(
          'state-dir-held',
          `expected a state directory of its own, got ${dir}, which the daemon with pid ${other.pid} holds; ` +
            'stop that one, or give this one another state_dir',
        );
      }
      setAside(file);
    }
  } catch (error) {
    if (error instanceof ColibriError) throw error;
    throw new ColibriError(
      'config-invalid',
      `state_dir: expected a directory that can be written, got ${dir}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  throw new ColibriError(
    'state-dir-held',
    `expected to get the lock of ${dir}; another daemon is starting there`,
  );
}

function tryCreate(file: string, me: Holder): boolean {
  let fd: number;
  try {
    fd = openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(fd, `${JSON.stringify(me)}\n`);
  } finally {
    closeSync(fd);
  }
  return true;
}

/** Moves a lock without a living holder away: of two that try, one gets it. */
function setAside(file: string): void {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
    unlinkSync(aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function releaseLock(file: string, me: Holder): void {
  const holder = readHolder(file);
  if (holder?.pid !== me.pid || holder.startTicks !== me.startTicks) return;
  try {
    unlinkSync(file);
  } catch {
    // Gone already: nothing is held.
  }
}

function readHolder(file: string): Holder | null {
  try {
    const text = readFileSync(file, 'utf8').slice(0, LOCK_LIMIT);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { pid, startTicks, bootId } = value as Record<string, unknown>;
    if (typeof pid !== 'number' || typeof startTicks !== 'string' || typeof bootId !== 'string') return null;
    return { pid, startTicks, bootId };
  } catch {
    return null;
  }
}

function isAlive(holder: Holder): boolean {
  try {
    const now = holderOf(holder.pid);
    return now.startTicks === holder.startTicks && now.bootId === holder.bootId;
  } catch {
    return false;
  }
}

/** Field 22 of /proc/PID/stat is the start time in clock ticks since boot (proc(5)). */
function holderOf(pid: number): Holder {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    startTicks: fields[19] ?? '',
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  };
}
