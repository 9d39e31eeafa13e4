/**
 * Pushes a source file through a codec into a part file, through the two buffers of the thread. The run's
 * order to stop is looked at every 64 KiB of input and at each full buffer of output, so a file that
 * swells without end is stopped too.
 */
import type { HandlerContext } from '../handler.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import type { Codec } from './codec.ts';
import { FileProgress } from './file-progress.ts';
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
  /**
   * Called with what the codec left over of a chunk, at the end of its data, and the bytes before it; throws
   * where nothing may follow, or gives how many bytes to pass by.
   */
  readonly skipRest?: (rest: Buffer, bytesIn: number) => number;
}

const SLICE_BYTES = 64 * 1024;

/** Returns the bytes read and written. */
export function transformFile(transform: FileTransform): { fromBytes: number; toBytes: number } {
  const { source, buffers, context, codec } = transform;
  const input = buffers.input;
  codec.output = buffers.output;
  const pump = new Pump(transform);
  const progress = new FileProgress(context, source.size);
  for (let read = source.read(input); read > 0; read = source.read(input)) {
    for (let offset = 0; offset < read; offset += SLICE_BYTES) {
      pump.feed(input, offset, Math.min(offset + SLICE_BYTES, read));
    }
    progress.reached(pump.bytesIn);
  }
  codec.finish();
  pump.feed(input, 0, 0);
  pump.flush();
  return { fromBytes: pump.bytesIn, toBytes: pump.bytesOut };
}

class Pump {
  readonly #transform: FileTransform;
  bytesIn = 0;
  bytesOut = 0;

  constructor(transform: FileTransform) {
    this.#transform = transform;
  }

  /** Takes the input from `from` to `to`, whole. */
  feed(input: Buffer, from: number, to: number): void {
    const { codec, context, skipRest } = this.#transform;
    for (let at = from; ; ) {
      if (context.aborted) throw context.signal.reason;
      codec.write(input, at, to);
      this.bytesIn += to - codec.inputLeft - at;
      at = to - codec.inputLeft;
      if (codec.used === codec.output.length) {
        this.flush();
      } else if (at === to) {
        return;
      } else {
        const skipped = skipRest?.(input.subarray(at, to), this.bytesIn) ?? to - at;
        this.bytesIn += skipped;
        at += skipped;
        if (at === to) return;
      }
    }
  }

  flush(): void {
    const { codec, part, checkOutput } = this.#transform;
    if (codec.used === 0) return;
    this.bytesOut += codec.used;
    checkOutput?.(this.bytesOut, this.bytesIn);
    part.write(codec.output, codec.used);
    codec.used = 0;
  }
}
