/**
 * Ends a command with everything it started.
 *
 * The command leads its own session, so most of its tree is found by that. A child may leave it (`setsid`),
 * and is given to init when its parent dies; so the tree is also followed by parent, and orphans are known
 * by a mark in the environment that every descendant inherits. A process is signalled only while its start
 * time is still the one that was read, so a recycled pid is safe. Linux only.
 */
import { environmentOf, type ProcessEntry, type ProcessTable } from './process-table.ts';

/** In the environment of every process of a tree; its value is unique to one spawn. */
export const TREE_MARK = 'COLIBRI_TREE';
/** The same of its run. */
export const RUN_MARK = 'COLIBRI_RUN';

/** The value of a mark: it begins with who has spawned the tree. */
export function treeMarkOf(spawn: string): string {
  return `${process.pid}-${spawn}`;
}

export class ProcessTree {
  readonly #table: ProcessTable;
  readonly #root: number;
  readonly #assignment: string;
  /** Ticks at the start of the root; nothing of the tree is older. */
  readonly #rootTicks: number;
  /** A reading of the table from before the tree was there would show it as gone. */
  readonly #sinceMono: number;
  /** Everything ever seen of the tree, pid → start ticks; kept across the death of parents. */
  readonly #seen = new Map<number, number>();

  /** `root` leads its own session and was started with `mark` as its `COLIBRI_TREE`. */
  constructor(table: ProcessTable, root: number, mark: string) {
    this.#table = table;
    this.#root = root;
    this.#assignment = `${TREE_MARK}=${mark}`;
    this.#sinceMono = performance.now();
    this.#rootTicks = table.read(root)?.startTicks ?? 0;
  }

  /**
   * Signals every member there is now, and remembers them. The number of members found: after SIGKILL, call
   * again a little later until it is 0, because a member may have been about to fork.
   */
  signal(signal: NodeJS.Signals): number {
    const members = this.members();
    signalAll(this.#table, members, signal);
    return members.length;
  }

  /** The members alive now; zombies are not counted. */
  members(): readonly ProcessEntry[] {
    const entries = this.#table.entries(this.#sinceMono);
    const found = new Map<number, ProcessEntry>();
    for (const entry of entries.values()) {
      if (entry.startTicks >= this.#rootTicks && this.#belongs(entry, entries)) found.set(entry.pid, entry);
    }
    // Children of members, to any depth: /proc is not sorted by ancestry.
    for (let before = -1; before !== found.size && found.size > 0; ) {
      before = found.size;
      for (const entry of entries.values()) if (found.has(entry.parent)) found.set(entry.pid, entry);
    }
    found.delete(process.pid);
    for (const entry of found.values()) this.#seen.set(entry.pid, entry.startTicks);
    return [...found.values()];
  }

  #belongs(entry: ProcessEntry, entries: ReadonlyMap<number, ProcessEntry>): boolean {
    if (entry.pid === this.#root || entry.session === this.#root) return true;
    if (this.#seen.get(entry.pid) === entry.startTicks) return true;
    return this.#mayBeOrphan(entry, entries) && environmentOf(entry.pid).includes(this.#assignment);
  }

  /** An orphan is given to init or another old ancestor; reading environments of all others would be dear. */
  #mayBeOrphan(entry: ProcessEntry, entries: ReadonlyMap<number, ProcessEntry>): boolean {
    if (entry.parent === process.pid && process.pid !== 1) return false;
    const parent = entries.get(entry.parent);
    return parent === undefined || parent.startTicks <= this.#rootTicks;
  }
}

/** Only while each is the process that was read: its pid may be another's by now. */
export function signalAll(
  table: ProcessTable,
  members: readonly ProcessEntry[],
  signal: NodeJS.Signals,
): void {
  for (const { pid, startTicks } of members) {
    if (table.read(pid)?.startTicks === startTicks) send(pid, signal);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone between reading and signalling, which is what was wanted.
  }
}
