/**
 * A log file with a bound: when it would grow past `maxBytes` it is renamed to `NAME.<time>` and a new one is
 * begun. Renamed files go when they are older than `keepDays`, or when there are more than 10 of them, so that
 * all of a log stays below 11 × maxBytes. Files are 0600. A file that was moved or deleted by somebody else is
 * begun again. Errors go to the caller, which tries again: the next write opens the file anew if need be.
 */
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import type { DeviceChunk, LineDevice } from './line-writer.ts';
import { type LogFs, writeChunk } from './log-device.ts';

export const KEEP_FILES = 10;
const LOOK_EVERY_MS = 1000;
/** Non-blocking, so that a pipe without a reader is an error and not a wait. */
const OPEN_FLAGS =
  fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_NONBLOCK;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface LogFileOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly keepDays: number;
  readonly clock: Clock;
  readonly files?: LogFs;
}

export class LogFile implements LineDevice {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #keepMs: number;
  readonly #clock: Clock;
  readonly #files: LogFs;
  #fd: number | null = null;
  #inode = 0;
  /** False for a device or a pipe: written to as it is, neither rotated nor pruned. */
  #regular = true;
  #size = 0;
  #lookAtMono = 0;

  constructor(options: LogFileOptions) {
    this.#path = options.path;
    this.#maxBytes = options.maxBytes;
    this.#keepMs = options.keepDays * DAY_MS;
    this.#clock = options.clock;
    this.#files = options.files ?? fs;
  }

  write(chunk: DeviceChunk, done: (error: NodeJS.ErrnoException | null, written: number) => void): void {
    let fd: number;
    try {
      fd = this.#ready(chunk);
    } catch (error) {
      // As an asynchronous write would: never before the caller has returned.
      queueMicrotask(() => done(asErrno(error), 0));
      return;
    }
    writeChunk(this.#files, fd, chunk, (error, written) => {
      this.#size += written;
      done(error, written);
    });
  }

  writeSync(chunk: DeviceChunk): number {
    const written = this.#files.writeSync(this.#ready(chunk), chunk.bytes, chunk.offset, chunk.length);
    this.#size += written;
    return written;
  }

  close(): void {
    if (this.#fd !== null) this.#files.closeSync(this.#fd);
    this.#fd = null;
  }

  #ready(chunk: DeviceChunk): number {
    if (chunk.atLineStart) {
      this.#lookForMove();
      const full = this.#regular && this.#size > 0 && this.#size + chunk.length > this.#maxBytes;
      if (this.#fd !== null && full) this.#rotate();
    }
    return this.#fd ?? this.#open();
  }

  #open(): number {
    this.#files.mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const fd = this.#files.openSync(this.#path, OPEN_FLAGS, 0o600);
    this.#fd = fd;
    const stat = this.#files.fstatSync(fd);
    this.#regular = stat.isFile();
    // An older file may have come with wider rights. A device or a pipe is not ours to change.
    if (this.#regular) this.#files.fchmodSync(fd, 0o600);
    this.#inode = stat.ino;
    this.#size = stat.size;
    this.#lookAtMono = this.#clock.monoMs() + LOOK_EVERY_MS;
    if (this.#regular) this.#prune();
    return fd;
  }

  #rotate(): void {
    this.close();
    // Two rotations within a millisecond must not overwrite each other.
    let name = this.#path;
    for (let i = 0; name === this.#path || this.#exists(name); i++) {
      name = `${this.#path}.${stamp(this.#clock.wallMs())}${i === 0 ? '' : `-${i}`}`;
    }
    this.#files.renameSync(this.#path, name);
  }

  #lookForMove(): void {
    const now = this.#clock.monoMs();
    if (this.#fd === null || now < this.#lookAtMono) return;
    this.#lookAtMono = now + LOOK_EVERY_MS;
    try {
      if (this.#files.statSync(this.#path).ino === this.#inode) return;
    } catch {
      // Gone: begin anew.
    }
    this.close();
  }

  #exists(path: string): boolean {
    try {
      this.#files.statSync(path);
      return true;
    } catch {
      return false;
    }
  }

  /** Housekeeping: what cannot be deleted now is tried again at the next rotation. */
  #prune(): void {
    const folder = dirname(this.#path);
    const prefix = `${basename(this.#path)}.`;
    try {
      const old = this.#files
        .readdirSync(folder)
        .filter((name) => name.startsWith(prefix) && STAMP.test(name.slice(prefix.length)))
        .sort()
        .reverse();
      for (const [index, name] of old.entries()) {
        const path = join(folder, name);
        const ageMs = this.#clock.wallMs() - this.#files.statSync(path).mtimeMs;
        if (index >= KEEP_FILES || ageMs > this.#keepMs) this.#files.unlinkSync(path);
      }
    } catch {
      // See above.
    }
  }
}

const STAMP = /^\d{8}T\d{9}Z(-\d+)?$/;

/** `20261129T153144123Z`: sorts as time goes. */
function stamp(atMs: number): string {
  return new Date(atMs).toISOString().replace(/[-:.]/g, '');
}

function asErrno(error: unknown): NodeJS.ErrnoException {
  return error instanceof Error ? error : new Error(String(error));
}
