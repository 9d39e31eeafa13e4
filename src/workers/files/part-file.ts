/**
 * A file that appears whole or not at all.
 *
 *     create ── write* ──▶ commit (fsync, rename, fsync of the folder)
 *                     └──▶ discard (the part file is deleted)
 *
 * Until `commit` has renamed it, only the part file is there, and what had the name before stays in place.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  futimesSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileError } from './file-error.ts';
import { partName } from './part-name.ts';

export interface CommitOptions {
  /** Permission bits. */
  readonly mode: number;
  /** Kept where this process may; by default the file belongs to who made it. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Seconds. */
  readonly times?: { readonly access: number; readonly modified: number };
}

export class PartFile {
  readonly path: string;
  readonly partPath: string;
  #fd: number | undefined;

  private constructor(path: string, partPath: string, fd: number) {
    this.path = path;
    this.partPath = partPath;
    this.#fd = fd;
  }

  /** In the folder of `path`, which must exist. One that an earlier attempt of the run left is replaced. */
  static create(path: string, run: string): PartFile {
    const partPath = join(dirname(path), partName(basename(path), run));
    try {
      return new PartFile(path, partPath, openNew(partPath));
    } catch (thrown) {
      throw fileError(partPath, 'can be made', thrown);
    }
  }

  /** Writes the first `length` bytes of the buffer. */
  write(buffer: Buffer, length: number): void {
    try {
      for (let done = 0; done < length; ) done += writeSync(this.#open(), buffer, done, length - done);
    } catch (thrown) {
      throw fileError(this.partPath, 'can be written', thrown);
    }
  }

  /** Gives the file its name, over what had it before. Mode and times are set while it is still hidden. */
  commit(options: CommitOptions): void {
    const fd = this.#open();
    try {
      // Before the mode: a change of owner takes bits off it.
      if (options.owner !== undefined) tryChown(fd, options.owner);
      fchmodSync(fd, options.mode);
      if (options.times !== undefined) futimesSync(fd, options.times.access, options.times.modified);
      fsyncSync(fd);
      renameSync(this.partPath, this.path);
    } catch (thrown) {
      throw fileError(this.path, 'can be put in place', thrown);
    }
    this.#fd = undefined;
    closeSync(fd);
    syncFolder(dirname(this.path));
  }

  /** Deletes the part file. Does nothing after a commit, or when done before; never throws. */
  discard(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    try {
      closeSync(fd);
      unlinkSync(this.partPath);
    } catch {
      // Somebody else removed it; it is gone, which is all that was wanted.
    }
  }

  #open(): number {
    if (this.#fd === undefined) throw new Error(`expected ${this.partPath} to be open`);
    return this.#fd;
  }
}

function openNew(partPath: string): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    return openSync(partPath, flags, 0o600);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    unlinkSync(partPath);
    return openSync(partPath, flags, 0o600);
  }
}

function tryChown(fd: number, owner: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(fd, owner.uid, owner.gid);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'EINVAL') throw thrown;
  }
}

/** So that the new name survives a power cut. Some file systems cannot do it for folders, and need not. */
function syncFolder(folder: string): void {
  const fd = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw fileError(folder, 'can be synced', thrown);
  } finally {
    closeSync(fd);
  }
}
