/**
 * Whole lines on their way to a device that may be slow, full or gone.
 *
 * - `write` neither waits nor throws. Lines gather in 64 KiB chunks; at most 16 chunks (1 MiB) stand in
 *   memory, and a line that finds no room is dropped and counted.
 * - One write is under way at a time, so lines keep their order and a line is never torn.
 * - A failed write is counted, warned of once, and tried again until it works; then `onResumed` is told how
 *   many lines were lost. Nothing that the device does reaches the caller of `write`.
 */
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { setLimit } from '../kernel/index.ts';
import { LOG_BUFFERS } from '../mailboxes.ts';

/** Where bytes go. Errors are passed on, never thrown by `write`. */
export interface LineDevice {
  /** Writes some or all of the bytes. `atLineStart`: the device may change files before it writes. */
  write(chunk: DeviceChunk, done: (error: NodeJS.ErrnoException | null, written: number) => void): void;
  /** The same at once, for the last words of a dying process; throws. */
  writeSync(chunk: DeviceChunk): number;
  close(): void;
}

export interface DeviceChunk {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly length: number;
  readonly atLineStart: boolean;
}

export interface LineWriterOptions {
  readonly device: LineDevice;
  readonly clock: Clock;
  /** How long a line may wait for company. */
  readonly flushMs: number;
  /** Told once each time the device begins to fail. */
  readonly onFailing: (error: NodeJS.ErrnoException) => void;
  /** Told when it works again, with the number of lines lost meanwhile. */
  readonly onResumed: (lost: number) => void;
}

export const CHUNK_BYTES = LOG_BUFFERS.chunkBytes;
export const MAX_CHUNKS = LOG_BUFFERS.chunks;
/** A chunk this full is written without waiting for the timer. */
const WRITE_AT_BYTES = 32 * 1024;
const BUSY_RETRY_MS = 50;
/** While somebody waits for a flush. */
const BUSY_FLUSH_RETRY_MS = 2;
const FAILED_RETRY_MS = 1000;

interface Chunk {
  readonly bytes: Buffer;
  start: number;
  end: number;
  lines: number;
}

export class LineWriter {
  readonly #options: LineWriterOptions;
  /** Oldest first; the last one is being filled. */
  readonly #chunks: Chunk[] = [];
  #spare: Buffer | null = null;
  #writing = false;
  #failing = false;
  /** Between a failed write and its repetition nothing else is tried. */
  #backingOff = false;
  #closed = false;
  #timer: ClockTimer | null = null;
  #waiters: (() => void)[] = [];
  #lostSinceFailing = 0;
  #dropped = 0;
  #errors = 0;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Lines that were given up since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes that failed since the start. */
  get errors(): number {
    return this.#errors;
  }

  /** Of the buffers that are there, full or not. */
  get bufferBytes(): number {
    return (this.#chunks.length + (this.#spare === null ? 0 : LOG_BUFFERS.spare)) * CHUNK_BYTES;
  }

  /** `line` ends with its newline. */
  write(line: string): void {
    const chunk = this.#chunkFor(line);
    if (chunk === null) {
      this.#lose(1);
      return;
    }
    chunk.end += chunk.bytes.write(line, chunk.end, 'utf8');
    chunk.lines++;
    if (this.#writing || this.#backingOff) return;
    if (this.#chunks.length > 1 || chunk.end >= WRITE_AT_BYTES) this.#pump();
    else this.#timer ??= this.#arm(this.#options.flushMs);
  }

  /** Resolves when all lines so far are written, or when `timeoutMs` has passed. */
  async flush(timeoutMs: number): Promise<void> {
    if (this.#chunks.length === 0) return;
    await new Promise<void>((resolve) => {
      const waiter = (): void => {
        timer.cancel();
        resolve();
      };
      const timer = setLimit(this.#options.clock, timeoutMs, () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        resolve();
      });
      this.#waiters.push(waiter);
      this.#pump();
    });
  }

  /**
   * Writes what is left without the event loop; gives up at the first error. What an unfinished write holds is
   * written again: a line twice is better than a last line never.
   */
  flushSync(): void {
    try {
      for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
        chunk.start += this.#options.device.writeSync(viewOf(chunk));
        if (chunk.start === chunk.end) this.#chunks.shift();
      }
    } catch {
      this.#errors++;
    }
  }

  /** Writes what is left: for `timeoutMs` as `flush` does, then as far as it goes at once. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.flush(timeoutMs);
    this.flushSync();
    this.#timer?.cancel();
    this.#timer = null;
    if (!this.#writing) this.#options.device.close();
  }

  #chunkFor(line: string): Chunk | null {
    if (this.#closed) return null;
    const last = this.#chunks[this.#chunks.length - 1];
    // A UTF-16 unit is at most 3 bytes of UTF-8; only near the end of a chunk is the exact size counted.
    const most = line.length * 3;
    if (last !== undefined && most <= CHUNK_BYTES - last.end) return last;
    const bytes = Buffer.byteLength(line, 'utf8');
    if (last !== undefined && bytes <= CHUNK_BYTES - last.end) return last;
    if (bytes > CHUNK_BYTES || this.#chunks.length >= MAX_CHUNKS) return null;
    const fresh: Chunk = {
      bytes: this.#spare ?? Buffer.allocUnsafeSlow(CHUNK_BYTES),
      start: 0,
      end: 0,
      lines: 0,
    };
    this.#spare = null;
    this.#chunks.push(fresh);
    return fresh;
  }

  #arm(delayMs: number): ClockTimer {
    const timer = this.#options.clock.setTimer(delayMs, () => {
      this.#timer = null;
      this.#pump();
    });
    timer.unref();
    return timer;
  }

  #pump(): void {
    if (this.#writing) return;
    this.#timer?.cancel();
    this.#timer = null;
    this.#backingOff = false;
    const chunk = this.#chunks[0];
    if (chunk === undefined) return this.#settle();
    this.#writing = true;
    this.#options.device.write(viewOf(chunk), (error, written) => {
      this.#writing = false;
      if (error === null) this.#written(chunk, written);
      else this.#failed(error);
    });
  }

  #written(chunk: Chunk, written: number): void {
    chunk.start += written;
    if (chunk.start >= chunk.end) {
      // Lines may have been added to this very chunk while it was written; then `end` has moved on.
      this.#chunks.shift();
      this.#spare = chunk.bytes;
    }
    if (this.#failing) {
      this.#failing = false;
      const lost = this.#lostSinceFailing;
      this.#lostSinceFailing = 0;
      this.#options.onResumed(lost);
    }
    const next = this.#chunks[0];
    if (next === undefined) this.#settle();
    else if (this.#waiters.length > 0 || next.end >= WRITE_AT_BYTES || next.start > 0) this.#pump();
    else this.#timer ??= this.#arm(this.#options.flushMs);
  }

  #failed(error: NodeJS.ErrnoException): void {
    const busy = error.code === 'EAGAIN' || error.code === 'EBUSY';
    if (!busy) {
      this.#errors++;
      if (!this.#failing) {
        this.#failing = true;
        this.#options.onFailing(error);
      }
    }
    // Nobody will ever read what stands in a broken pipe; a full disk gets what was kept.
    if (error.code === 'EPIPE') this.#discard();
    if (this.#closed && !busy) return this.#settle();
    this.#backingOff = true;
    const busyMs = this.#waiters.length > 0 ? BUSY_FLUSH_RETRY_MS : BUSY_RETRY_MS;
    this.#timer ??= this.#arm(busy ? busyMs : FAILED_RETRY_MS);
    if (!busy) this.#settle();
  }

  #discard(): void {
    for (const chunk of this.#chunks) this.#lose(chunk.lines);
    this.#chunks.length = 0;
  }

  #lose(lines: number): void {
    this.#dropped += lines;
    if (this.#failing) this.#lostSinceFailing += lines;
  }

  #settle(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }
}

function viewOf(chunk: Chunk): DeviceChunk {
  return {
    bytes: chunk.bytes,
    offset: chunk.start,
    length: chunk.end - chunk.start,
    atLineStart: chunk.start === 0,
  };
}
