/**
 * How far the work on one file has come, said only of work that takes long: each word wakes the main thread, and a file
 * that is done in some milliseconds is done before anyone looks.
 */
import type { HandlerContext } from '../handler.ts';

/** Bytes between two looks at the clock. */
const LOOK_BYTES = 8 * 1024 * 1024;
/** Nothing is said before. */
const LONG_MS = 250;

export class FileProgress {
  readonly #context: Pick<HandlerContext, 'progress'>;
  readonly #totalBytes: number;
  readonly #monoMs: () => number;
  readonly #fromMono: number;
  #lookBytes = LOOK_BYTES;

  /** `totalBytes`: of the file; 0 where that is not known, and nothing is said. `monoMs`: a parameter for tests. */
  constructor(
    context: Pick<HandlerContext, 'progress'>,
    totalBytes: number,
    monoMs: () => number = () => performance.now(),
  ) {
    this.#context = context;
    this.#totalBytes = totalBytes;
    this.#monoMs = monoMs;
    this.#fromMono = monoMs();
  }

  /** So many bytes are done, of all. */
  reached(bytes: number): void {
    if (bytes < this.#lookBytes || this.#totalBytes <= 0) return;
    this.#lookBytes = bytes + LOOK_BYTES;
    if (this.#monoMs() - this.#fromMono < LONG_MS) return;
    this.#context.progress(Math.min(1, bytes / this.#totalBytes));
  }
}
