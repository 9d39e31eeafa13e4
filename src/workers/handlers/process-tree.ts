/**
 * Ends a command with everything it started.
 *
 * The command leads its own session and process group, so most of its tree is reached by one signal. A child
 * may leave both (`setsid`), and is then given to init when its parent dies; so before killing, the tree is
 * read from /proc: by parent, by session, and by a mark in the environment that every descendant inherits.
 * A process is killed only while its start time is still the one that was read, so a recycled pid is safe.
 * Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { ColibriError } from '../../actors/kernel/errors.ts';

/** In the environment of every process of a tree; its value is unique to one spawn. */
export const TREE_MARK = 'COLIBRI_TREE';

/** Rounds of reading and killing in one call: a tree that forks meanwhile is caught up with. */
const KILL_ROUNDS = 4;

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Ticks since boot: with the pid, the identity of a process. */
  readonly startTicks: number;
}

export class ProcessTree {
  readonly #root: number;
  readonly #mark: string;
  /** Everything ever seen of the tree, pid → start ticks; kept across the death of parents. */
  readonly #seen = new Map<number, number>();

  /** `root` must lead its own session; `mark` is the value of `COLIBRI_TREE` it was started with. */
  constructor(root: number, mark: string) {
    this.#root = root;
    this.#mark = mark;
    const entry = readEntry(root);
    if (entry !== null) this.#seen.set(root, entry.startTicks);
  }

  /** Remembers who belongs to the tree now, and signals each. For a polite end; errors are ignored. */
  signal(signal: NodeJS.Signals): void {
    for (const entry of this.members()) send(entry.pid, signal);
  }

  /**
   * Kills every member. Synchronous; some milliseconds a round with a few hundred processes. False if
   * members were still seen in the last round, dying or new: call again a little later.
   */
  kill(): boolean {
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const members = this.members();
      if (members.length === 0) return true;
      for (const entry of members) send(entry.pid, 'SIGKILL');
    }
    return false;
  }

  /** The members alive now; zombies are not counted. */
  members(): readonly ProcessEntry[] {
    const entries = readEntries();
    const found = new Map<number, ProcessEntry>();
    for (const entry of entries) if (this.#belongs(entry)) found.set(entry.pid, entry);
    // Children of members, to any depth: /proc is not sorted by ancestry.
    for (let grew = found.size > 0; grew; ) {
      grew = false;
      for (const entry of entries) {
        if (found.has(entry.pid) || !found.has(entry.parent)) continue;
        found.set(entry.pid, entry);
        grew = true;
      }
    }
    found.delete(process.pid);
    for (const entry of found.values()) this.#seen.set(entry.pid, entry.startTicks);
    return [...found.values()];
  }

  #belongs(entry: ProcessEntry): boolean {
    if (this.#seen.get(entry.pid) === entry.startTicks) return true;
    if (entry.session === this.#root && entry.session !== 0) return this.#startedAfterRoot(entry);
    return this.#startedAfterRoot(entry) && hasMark(entry.pid, this.#mark);
  }

  #startedAfterRoot(entry: ProcessEntry): boolean {
    const rootTicks = this.#seen.get(this.#root);
    return rootTicks === undefined || entry.startTicks >= rootTicks;
  }
}

/** Every process that is alive and readable; zombies are left out. */
function readEntries(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const entry = readEntry(pid);
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** From /proc/PID/stat (proc_pid_stat(5)): fields 3 state, 4 ppid, 6 session, 22 starttime. */
function readEntry(pid: number): ProcessEntry | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, field 2, may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return {
      pid,
      parent: Number(fields[1]),
      session: Number(fields[3]),
      startTicks: Number(fields[19]),
    };
  } catch {
    return null;
  }
}

function hasMark(pid: number, mark: string): boolean {
  try {
    const wanted = `${TREE_MARK}=${mark}`;
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(wanted);
  } catch {
    return false;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  if (!(pid > 1)) throw new ColibriError('internal', `expected a pid above 1 to signal, got ${pid}`);
  try {
    process.kill(pid, signal);
  } catch {
    // Gone between reading and killing, which is what was wanted.
  }
}
