/**
 * One compression or decompression, fed by hand: synchronous, from the caller's buffer into the caller's
 * buffer. The streams of `node:zlib` go through the thread pool and allocate each chunk of output; this runs
 * twice as fast for zstd and allocates nothing a chunk.
 *
 * It drives the native handle inside a `node:zlib` stream object, as `node:zlib/iter` does, which is public
 * but needs a flag in this runtime. The handle is no documented interface: its shape is checked when a codec
 * is opened, and all use of it is in this file.
 */
import type * as Zlib from 'node:zlib';
import { ColibriError } from '../../actors/kernel/errors.ts';

export const CompressionAlgorithm = { Zstd: 'zstd', Gzip: 'gzip', Brotli: 'brotli' } as const;
export type CompressionAlgorithm = (typeof CompressionAlgorithm)[keyof typeof CompressionAlgorithm];

export const COMPRESSION_ALGORITHMS = Object.values(CompressionAlgorithm);

export interface CodecTraits {
  /** Suffix of its files; the first is the one that is written. */
  readonly suffixes: readonly string[];
  readonly minLevel: number;
  readonly maxLevel: number;
  readonly defaultLevel: number;
}

export const CODEC_TRAITS: Readonly<Record<CompressionAlgorithm, CodecTraits>> = {
  zstd: { suffixes: ['.zst', '.zstd'], minLevel: 1, maxLevel: 22, defaultLevel: 3 },
  gzip: { suffixes: ['.gz'], minLevel: 1, maxLevel: 9, defaultLevel: 6 },
  brotli: { suffixes: ['.br'], minLevel: 0, maxLevel: 11, defaultLevel: 4 },
};

interface NativeHandle {
  writeSync(
    flush: number,
    input: Buffer,
    inputOffset: number,
    inputLength: number,
    output: Buffer,
    outputOffset: number,
    outputLength: number,
  ): void;
  close(): void;
  onerror: (message: string, errno: number, code: string) => void;
}

interface NativeStream {
  readonly _handle?: Partial<NativeHandle> | null;
  /** Room left in the output and input left, after each write. */
  readonly _writeState?: Uint32Array;
}

interface FlushModes {
  readonly go: number;
  readonly finish: number;
}

/** The smallest buffer that zlib's stream object can be told to make: it stays unused. */
const LEAST_CHUNK = { chunkSize: 64 };
const NO_OUTPUT = Buffer.alloc(0);

/**
 * Up to this level brotli gets a window of 512 KiB: on log-like text 9 MB of memory and 44 MB/s at level 4, where
 * the default of 4 MiB takes 33 MB and 10 MB/s for outputs smaller by 0.3 %. Above, the smallest output is
 * what was asked for.
 */
const BROTLI_SMALL_WINDOW_LEVEL = 9;

export class Codec {
  readonly #handle: NativeHandle;
  readonly #state: Uint32Array;
  readonly #flush: FlushModes;
  #failure: { readonly message: string; readonly code: string } | undefined;
  #mode: number;
  /** Where the output goes; the caller's, as is how much of it is used. */
  output: Buffer = NO_OUTPUT;
  used = 0;
  /** Input that the last `write` did not take. */
  inputLeft = 0;

  private constructor(stream: unknown, flush: FlushModes) {
    const { _handle: handle, _writeState: state } = stream as NativeStream;
    if (typeof handle?.writeSync !== 'function' || !(state instanceof Uint32Array)) {
      throw new ColibriError(
        'internal',
        `expected the zlib of this runtime to have a handle that writes, got Node ${process.version}; use Node 26`,
      );
    }
    this.#handle = handle as NativeHandle;
    this.#state = state;
    this.#flush = flush;
    this.#mode = flush.go;
    this.#handle.onerror = (message, _errno, code) => {
      this.#failure ??= { message, code };
    };
  }

  /** `sourceBytes` is what will be written, exactly: it makes small files cheap, and is kept in the output. */
  static compressor(algorithm: CompressionAlgorithm, level: number, sourceBytes: number): Codec {
    const zlib = process.getBuiltinModule('node:zlib');
    const { constants } = zlib;
    switch (algorithm) {
      case 'zstd': {
        const params = { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 };
        const options = { ...LEAST_CHUNK, params, pledgedSrcSize: sourceBytes };
        return new Codec(zlib.createZstdCompress(options), zstdFlush(zlib));
      }
      case 'gzip':
        return new Codec(zlib.createGzip({ ...LEAST_CHUNK, level }), gzipFlush(zlib));
      case 'brotli': {
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: level,
          [constants.BROTLI_PARAM_LGWIN]: level <= BROTLI_SMALL_WINDOW_LEVEL ? 19 : 22,
          [constants.BROTLI_PARAM_SIZE_HINT]: Math.min(sourceBytes, 2 ** 30),
        };
        return new Codec(zlib.createBrotliCompress({ ...LEAST_CHUNK, params }), brotliFlush(zlib));
      }
    }
  }

  /**
   * `maxWindowBytes` bounds the memory that a zstd file may ask for; 32 KiB and 16 MiB are the most that gzip
   * and brotli can.
   */
  static decompressor(algorithm: CompressionAlgorithm, maxWindowBytes: number): Codec {
    const zlib = process.getBuiltinModule('node:zlib');
    switch (algorithm) {
      case 'zstd': {
        const params = { [zlib.constants.ZSTD_d_windowLogMax]: Math.floor(Math.log2(maxWindowBytes)) };
        return new Codec(zlib.createZstdDecompress({ ...LEAST_CHUNK, params }), zstdFlush(zlib));
      }
      case 'gzip':
        return new Codec(zlib.createGunzip(LEAST_CHUNK), gzipFlush(zlib));
      case 'brotli':
        return new Codec(zlib.createBrotliDecompress(LEAST_CHUNK), brotliFlush(zlib));
    }
  }

  /** No input follows but what the next calls of `write` still bring. */
  finish(): void {
    this.#mode = this.#flush.finish;
  }

  /**
   * One step: takes what it can of the input from `from` to `to`, and adds what fits to the output. With no
   * room left it has more to give and wants to be called again; with room left, input left over is not part
   * of the data. Throws the library's error as an `Error` with its code.
   */
  write(input: Buffer, from: number, to: number): void {
    const room = this.output.length - this.used;
    this.#handle.writeSync(this.#mode, input, from, to - from, this.output, this.used, room);
    if (this.#failure !== undefined) {
      const { message, code } = this.#failure;
      throw Object.assign(new Error(message), { code });
    }
    this.used = this.output.length - this.#state[0]!;
    this.inputLeft = this.#state[1]!;
  }

  /** Gives the library's memory back at once. */
  close(): void {
    this.#handle.close();
  }
}

function zstdFlush({ constants }: typeof Zlib): FlushModes {
  return { go: constants.ZSTD_e_continue, finish: constants.ZSTD_e_end };
}

function gzipFlush({ constants }: typeof Zlib): FlushModes {
  return { go: constants.Z_NO_FLUSH, finish: constants.Z_FINISH };
}

function brotliFlush({ constants }: typeof Zlib): FlushModes {
  return { go: constants.BROTLI_OPERATION_PROCESS, finish: constants.BROTLI_OPERATION_FINISH };
}
