/**
 * The processes of the machine, as /proc shows them. Linux only.
 *
 * Reading all takes some 10 µs a process, on a thread that others wait for; so trees that look within the
 * same few milliseconds, as all do when the daemon stops, share one reading.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Ticks since boot: with the pid, the identity of a process. */
  readonly startTicks: number;
}

/** How old a reading may be. */
const MAX_AGE_MS = 3;

/** More than any `stat` line has before its 22nd field. */
const STAT_BYTES = 1024;

export class ProcessTable {
  #entries: ReadonlyMap<number, ProcessEntry> = new Map();
  #readMono = Number.NEGATIVE_INFINITY;
  #buffer: Buffer | null = null;

  /** By pid, those that are alive; zombies are left out. Read after `sinceMono` (of `performance.now`). */
  entries(sinceMono: number): ReadonlyMap<number, ProcessEntry> {
    const oldestMono = Math.max(sinceMono, performance.now() - MAX_AGE_MS);
    if (this.#readMono > oldestMono) return this.#entries;
    this.#readMono = performance.now();
    const entries = new Map<number, ProcessEntry>();
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (!Number.isInteger(pid)) continue;
      const entry = this.read(pid);
      if (entry !== null) entries.set(pid, entry);
    }
    this.#entries = entries;
    return entries;
  }

  /** One process, read now. From /proc/PID/stat, proc_pid_stat(5): fields 3 state, 4 ppid, 6 session, 22 starttime. */
  read(pid: number): ProcessEntry | null {
    this.#buffer ??= Buffer.allocUnsafeSlow(STAT_BYTES);
    let fd: number | null = null;
    try {
      fd = openSync(`/proc/${pid}/stat`, 'r');
      const stat = this.#buffer.toString('latin1', 0, readSync(fd, this.#buffer, 0, STAT_BYTES, 0));
      // The name, field 2, may hold spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20);
      if (fields[0] === 'Z' || fields[0] === 'X') return null;
      return {
        pid,
        parent: Number(fields[1]),
        session: Number(fields[3]),
        startTicks: Number(fields[19]),
      };
    } catch {
      return null;
    } finally {
      if (fd !== null) closeSync(fd);
    }
  }
}

/** The environment a process was started with, each as `NAME=value`. Empty where it may not be read. */
export function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
