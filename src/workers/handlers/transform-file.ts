/**
 * Pushes a source file through a codec into a part file, through the two buffers of the thread. The run's
 * order to stop is looked at every 64 KiB of input and at each full buffer of output, so a file that
 * swells without end is stopped too.
 */
import type { HandlerContext } from '../handler.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import type { Codec } from './codec.ts';
import type { PartFile } from './part-file.ts';
import type { SourceFile } from './source-file.ts';

export interface FileTransform {
  readonly source: SourceFile;
  readonly part: PartFile;
  readonly codec: Codec;
  readonly buffers: ChunkBuffers;
  readonly context: HandlerContext;
  /** Called before output is written; throws where there is too much of it. */
  readonly checkOutput?: (bytesOut: number, bytesIn: number) => void;
  /** What the codec left over of a chunk, at its end; throws where that may not be. Returns how many bytes to pass by. */
  readonly skipRest?: (chunk: Buffer, offset: number, length: number, bytesIn: number) => number;
}

const SLICE_BYTES = 64 * 1024;
const PROGRESS_BYTES = 8 * 1024 * 1024;

/** Returns the bytes read and written. */
export function transformFile(transform: FileTransform): { fromBytes: number; toBytes: number } {
  const pump = new Pump(transform);
  const { source, buffers, context } = transform;
  const input = buffers.input;
  let nextProgress = PROGRESS_BYTES;
  for (let read = source.read(input); read > 0; read = source.read(input)) {
    for (let offset = 0; offset < read; offset += SLICE_BYTES) {
      pump.feed(input, offset, Math.min(SLICE_BYTES, read - offset), false);
    }
    if (pump.bytesIn >= nextProgress) {
      nextProgress += PROGRESS_BYTES;
      if (source.size > 0) context.progress(Math.min(1, pump.bytesIn / source.size));
    }
  }
  pump.feed(input, 0, 0, true);
  pump.flush();
  return { fromBytes: pump.bytesIn, toBytes: pump.bytesOut };
}

class Pump {
  readonly #transform: FileTransform;
  readonly #output: Buffer;
  #used = 0;
  bytesIn = 0;
  bytesOut = 0;

  constructor(transform: FileTransform) {
    this.#transform = transform;
    this.#output = transform.buffers.output;
  }

  /** Takes `length` bytes of the input from `offset` on, whole. */
  feed(input: Buffer, offset: number, length: number, finish: boolean): void {
    const { codec, context, skipRest } = this.#transform;
    const end = offset + length;
    for (let at = offset; ; ) {
      if (context.aborted) throw context.signal.reason;
      codec.write(input, at, end - at, this.#output, this.#used, finish);
      this.bytesIn += end - at - codec.inputLeft;
      at = end - codec.inputLeft;
      this.#used = this.#output.length - codec.outputLeft;
      if (codec.outputLeft === 0) {
        this.flush();
      } else if (at === end) {
        return;
      } else {
        const skipped = skipRest?.(input, at, end - at, this.bytesIn) ?? end - at;
        this.bytesIn += skipped;
        at += skipped;
        if (at === end) return;
      }
    }
  }

  flush(): void {
    if (this.#used === 0) return;
    this.bytesOut += this.#used;
    this.#transform.checkOutput?.(this.bytesOut, this.bytesIn);
    this.#transform.part.write(this.#output, this.#used);
    this.#used = 0;
  }
}
