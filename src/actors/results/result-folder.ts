/**
 * The files of large results in `<state_dir>/results`: mode 0600, in a folder of mode 0700.
 *
 *     room is taken, chunk by chunk ─▶ part file ─ fsync, rename ─▶ file ─ its result is forgotten ─▶ deleted
 *                                         └─ a fault: deleted, room given back
 *
 * Always holds: a file has its name only when it is whole. One that no result refers to, because the process ended in between, is
 * swept at the next start.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ColibriError } from '../kernel/errors.ts';
import { jsonPieces } from './json-pieces.ts';
import {
  FILE_RESULT_BYTES,
  READABLE_RESULT_BYTES,
  type ResultReference,
  resultFileName,
} from './result-reference.ts';
import { ResultRoom } from './result-room.ts';

/** Plain data, for any thread. */
export interface ResultFolderOptions {
  /** Absolute; it need not exist. */
  readonly dir: string;
  readonly capacityBytes: number;
  /** Of the `ResultRoom` of the process. */
  readonly room: SharedArrayBuffer;
}

/** Bytes that are written at a time. */
const CHUNK = 64 * 1024;

export class ResultFolder {
  readonly room: ResultRoom;
  readonly #dir: string;

  constructor({ dir, capacityBytes, room }: ResultFolderOptions) {
    this.#dir = dir;
    this.room = new ResultRoom(capacityBytes, room);
  }

  /**
   * JSON text of the reference to a file that has the value. Rejects with `file-failed`, also where there is no room, and with
   * `result-not-json` for a text above `FILE_RESULT_BYTES`.
   */
  async write(run: string, attempt: number, value: unknown): Promise<string> {
    const unique = process.hrtime.bigint().toString(36);
    const path = join(this.#dir, resultFileName(run, attempt, unique));
    // Loaded by the first one: few threads ever write a result.
    const { open, rename } = process.getBuiltinModule('node:fs/promises');
    let taken = 0;
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      const file = await open(`${path}${PART}`, 'wx', 0o600);
      try {
        for (const chunk of chunksOf(value)) {
          if (taken + chunk.length > FILE_RESULT_BYTES) throw tooLong();
          if (!this.room.tryTake(chunk.length)) throw this.#noRoom();
          taken += chunk.length;
          await file.writeFile(chunk);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}${PART}`, path);
      await syncFolder(this.#dir);
    } catch (error) {
      // First: as long as there is a part file nobody counts anew.
      this.room.give(taken);
      tryUnlink(`${path}${PART}`);
      tryUnlink(path);
      throw fileError(path, error);
    }
    return JSON.stringify({ $file: path, $bytes: taken } satisfies ResultReference);
  }

  /** Deletes files by their names. */
  remove(names: Iterable<string>): void {
    for (const name of names) {
      const bytes = sizeOf(join(this.#dir, name));
      if (bytes !== null && tryUnlink(join(this.#dir, name))) this.room.give(bytes);
    }
  }

  /** By path; for a result that is given to nobody. */
  discard({ $file }: ResultReference): void {
    if (dirname($file) === this.#dir) this.remove([$file.slice(this.#dir.length + 1)]);
  }

  /** Counts what is kept, and deletes the rest: all of it that was there before this start. */
  takeUp(kept: ReadonlySet<string>): void {
    for (const name of this.#names()) {
      const bytes = sizeOf(join(this.#dir, name));
      if (bytes === null) continue;
      if (kept.has(name) || !tryUnlink(join(this.#dir, name))) this.room.add(bytes);
    }
  }

  /** Deletes what no result refers to, if it is older: a run that was given up may have left it. Counts the rest anew. */
  sweep(kept: ReadonlySet<string>, beforeMs: number): void {
    const old = (name: string) =>
      (statSync(join(this.#dir, name), { throwIfNoEntry: false })?.mtimeMs ?? beforeMs) < beforeMs;
    this.remove(this.#names().filter((name) => !kept.has(name) && old(name)));
    this.#recount();
  }

  /**
   * Whoever tidies up by hand, or by a job of the machine, gives no room back: without a look the folder would be full of
   * files that are not there. While one is written the count is ahead of the disk, and is left for the next time.
   */
  #recount(): void {
    const before = this.room.usedBytes;
    const names = this.#names();
    if (names.some((name) => name.endsWith(PART))) return;
    let bytes = 0;
    for (const name of names) bytes += sizeOf(join(this.#dir, name)) ?? 0;
    this.room.correct(before, bytes);
  }

  /** The value within. Throws `input-invalid`: it is too large, gone, or no file of this folder. Waits for the disk. */
  read(path: string): unknown {
    if (dirname(path) !== this.#dir) throw cannotRead('a file of the results folder', JSON.stringify(path));
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch (error) {
      throw cannotRead('the file of a result', (error as Error).message);
    }
    try {
      const { size } = fstatSync(file);
      if (size > READABLE_RESULT_BYTES) {
        const most = `a result of at most ${READABLE_RESULT_BYTES} bytes to look into`;
        throw cannotRead(most, `one of ${size}; pass on the whole of it, which is a reference to its file`);
      }
      const bytes = Buffer.allocUnsafe(size);
      let done = 0;
      for (let read = -1; done < size && read !== 0; done += read)
        read = readSync(file, bytes, done, size - done, null);
      return JSON.parse(bytes.toString('utf8', 0, done));
    } catch (error) {
      if (error instanceof ColibriError) throw error;
      throw cannotRead('the JSON text of a result', (error as Error).message);
    } finally {
      closeSync(file);
    }
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#dir).filter((name) => /\.json(?:\.part)?$/.test(name));
    } catch {
      return [];
    }
  }

  #noRoom(): ColibriError {
    const { capacityBytes, usedBytes } = this.room;
    return new ColibriError(
      'file-failed',
      `expected room for the result in ${this.#dir}, got a folder with ${usedBytes} of ${capacityBytes} bytes; raise retention.result_files_mb`,
    );
  }
}

const PART = '.part';

function* chunksOf(value: unknown): Generator<Buffer> {
  let text = '';
  for (const piece of jsonPieces(value)) {
    text += piece;
    if (text.length < CHUNK) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

function tooLong(): ColibriError {
  return new ColibriError(
    'result-not-json',
    `expected a result of at most ${FILE_RESULT_BYTES} bytes of JSON, got more; write it to a file and return the path`,
  );
}

function cannotRead(expected: string, got: string): ColibriError {
  return new ColibriError('input-invalid', `expected ${expected}, got ${got}`);
}

function fileError(path: string, error: unknown): ColibriError {
  if (error instanceof ColibriError) return error;
  const { code, errno, message } = error as NodeJS.ErrnoException;
  if (errno === undefined) return new ColibriError('result-not-json', message, { cause: error });
  return new ColibriError(
    'file-failed',
    `expected ${JSON.stringify(path)} to be a file for a result that can be written, got ${code}: ${message}`,
    { cause: error },
  );
}

function sizeOf(path: string): number | null {
  try {
    return statSync(path).size;
  } catch {
    return null;
  }
}

/** False where it stays. */
function tryUnlink(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

/** So that the name survives a power cut. Some file systems cannot do it for folders, and need not. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await process.getBuiltinModule('node:fs/promises').open(dir, 'r');
  try {
    await folder.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  } finally {
    await folder.close();
  }
}
