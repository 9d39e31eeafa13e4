/** Ways to take the disk from a daemon, and to give it back, from outside. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Shortage {
  readonly name: string;
  /** Nothing at all can be written meanwhile: there is one trouble, and one word on it. */
  readonly steady: boolean;
  /** Why it cannot be had on this machine; null: it can. */
  prepare(stateDir: string): string | null;
  begin(stateDir: string, pid: number): void;
  end(stateDir: string, pid: number): void;
  /** Undoes what `prepare` has done. */
  close(stateDir: string): void;
}

const DISK = '12m';
const BLOCK_BYTES = 4096;

/** A state directory on a disk of its own, which something else fills up: ENOSPC. */
export const fullDisk: Shortage = {
  name: 'full-disk',
  steady: true,
  prepare(stateDir) {
    mkdirSync(stateDir, { recursive: true });
    return failure('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', stateDir]);
  },
  begin(stateDir) {
    const block = Buffer.alloc(BLOCK_BYTES, 1);
    const fd = openSync(join(stateDir, 'filler'), 'w');
    try {
      for (;;) writeSync(fd, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(fd);
    }
  },
  end: (stateDir) => rmSync(join(stateDir, 'filler')),
  close: (stateDir) => void failure('umount', [stateDir]),
};

/** Files that may not grow any more: EFBIG, as an I/O error of the journal. */
export const fileLimit: Shortage = {
  name: 'file-limit',
  steady: false,
  prepare: () => failure('prlimit', ['--version']),
  begin(stateDir, pid) {
    // The journal is as large as its log for now; neither may grow beyond that.
    const { size } = statSync(join(stateDir, 'journal.db-wal'));
    setLimit(pid, `${size}`);
  },
  end: (_stateDir, pid) => setLimit(pid, 'unlimited'),
  close: () => {},
};

function setLimit(pid: number, soft: string): void {
  const problem = failure('prlimit', ['--pid', `${pid}`, `--fsize=${soft}:unlimited`]);
  if (problem !== null) throw new Error(problem);
}

function failure(command: string, args: readonly string[]): string | null {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error !== undefined) return `expected ${command} to be there, got ${error.message}`;
  return status === 0 ? null : `expected ${command} to be permitted, got ${stderr.trim()}`;
}
