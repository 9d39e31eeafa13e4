/**
 * A file that is read from its start to its end, once. `assertUnchanged` is what makes the result true: the
 * path still names the file that was opened, with the size and time it had then.
 */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { ColibriError } from '../../actors/kernel/errors.ts';
import { fileError } from './file-error.ts';
import type { FileInput } from './file-input.ts';

export class SourceFile {
  readonly path: string;
  readonly size: number;
  readonly #fd: number;
  readonly #before: BigIntStats;

  private constructor(path: string, fd: number, stats: BigIntStats) {
    this.path = path;
    this.size = Number(stats.size);
    this.#fd = fd;
    this.#before = stats;
  }

  /** Throws `file-failed`, also for what is no regular file. Opening a pipe does not block. */
  static open(input: FileInput): SourceFile {
    // What a scan found was no link; one that lies there now was put there since.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | (input.scanned ? constants.O_NOFOLLOW : 0);
    let fd: number | undefined;
    try {
      fd = openSync(input.path, flags);
      const stats = fstatSync(fd, { bigint: true });
      if (!stats.isFile()) {
        throw new ColibriError('file-failed', `expected ${JSON.stringify(input.path)} to be a regular file`);
      }
      return new SourceFile(input.path, fd, stats);
    } catch (thrown) {
      if (fd !== undefined) closeSync(fd);
      throw fileError(input.path, 'can be read', thrown);
    }
  }

  get mode(): number {
    return Number(this.#before.mode) & 0o777;
  }

  /** Seconds, as `futimes` takes them. */
  get times(): { readonly access: number; readonly modified: number } {
    return { access: Number(this.#before.atimeNs) / 1e9, modified: Number(this.#before.mtimeNs) / 1e9 };
  }

  /** Reads on into the buffer; 0 at the end of the file. */
  read(buffer: Buffer): number {
    try {
      return readSync(this.#fd, buffer, 0, buffer.length, null);
    } catch (thrown) {
      throw fileError(this.path, 'can be read', thrown);
    }
  }

  /** Throws `file-changed` where what was read is not, or no longer, the file of this path. */
  assertUnchanged(bytesRead: number): void {
    const before = this.#before;
    const now = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (
      now !== undefined &&
      bytesRead === this.size &&
      now.size === before.size &&
      now.mtimeNs === before.mtimeNs &&
      now.ino === before.ino &&
      now.dev === before.dev
    ) {
      return;
    }
    throw new ColibriError(
      'file-changed',
      `expected ${JSON.stringify(this.path)} to stay as it was (${this.size} bytes) while it was read, got ${
        now === undefined ? 'no file' : `a file of ${now.size} bytes, ${bytesRead} read`
      }; it is taken again once it is still`,
    );
  }

  close(): void {
    closeSync(this.#fd);
  }
}
