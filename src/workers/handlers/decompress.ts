/**
 * `decompress`: the file that went into a zstd, gzip or brotli file. Files of several members or frames come
 * out whole; anything behind them is an error, as is an output beyond the bounds.
 */
import { ColibriError } from '../../actors/kernel/errors.ts';
import { ChunkBuffers } from '../files/chunk-buffers.ts';
import { CODEC_TRAITS, COMPRESSION_ALGORITHMS, Codec, type CompressionAlgorithm } from '../files/codec.ts';
import { invalid, readChoice, readFileInput, readFlag, readNumber, readPath } from '../files/file-input.ts';
import { runOutputJob } from '../files/output-job.ts';
import { PartSweeper } from '../files/part-sweeper.ts';
import type { BuiltInHandler, HandlerContext } from '../handler.ts';
import { type CompressResult, ratioOf } from './compress.ts';

const MIB = 1024 * 1024;
const DEFAULT_MAX_BYTES = 10 * 1024 * MIB;
/** What RFC 8878 asks every decoder of zstd to support; more is asked for by `zstd --ultra` and `--long`. */
const DEFAULT_MAX_WINDOW_MB = 8;
/** A ratio says little of a small file. */
const RATIO_FROM_BYTES = MIB;

export function createDecompressHandler(buffers: ChunkBuffers = new ChunkBuffers()): BuiltInHandler {
  const sweeper = new PartSweeper();

  function handle(input: unknown, context: HandlerContext): CompressResult {
    const file = readFileInput(input);
    const named = readChoice(input, 'algorithm', COMPRESSION_ALGORITHMS);
    const algorithm = named ?? algorithmOf(file.relative);
    const to = readPath(input, 'to');
    if (to === undefined) throw invalid('to', 'the folder that takes the decompressed files', undefined);
    const maxBytes =
      readNumber(input, 'max_bytes', { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? DEFAULT_MAX_BYTES;
    const maxRatio = readNumber(input, 'max_ratio', { min: 1, max: Number.MAX_VALUE });
    const maxWindowMb = readNumber(input, 'max_window_mb', { min: 1, max: 2048 }) ?? DEFAULT_MAX_WINDOW_MB;
    const { fromBytes, toBytes, path } = runOutputJob({
      file,
      to,
      relative: withoutSuffix(file.relative, algorithm),
      removeSource: readFlag(input, 'remove_source'),
      buffers,
      sweeper,
      context,
      openCodec: () => Codec.decompressor(algorithm, maxWindowMb * MIB),
      checks: {
        checkOutput(bytesOut, bytesIn) {
          if (bytesOut > maxBytes) throw tooLarge(file.path, `${maxBytes} bytes`, 'max_bytes');
          if (maxRatio !== undefined && bytesOut > RATIO_FROM_BYTES && bytesOut > bytesIn * maxRatio) {
            throw tooLarge(file.path, `${maxRatio} times its size`, 'max_ratio');
          }
        },
        skipRest(rest, bytesIn) {
          // gzip files may be padded with zeros, as tapes do.
          let zeros = 0;
          if (algorithm === 'gzip') while (rest[zeros] === 0) zeros += 1;
          if (zeros === 0) throw damaged(file.path, algorithm, `other data from byte ${bytesIn} on`);
          return zeros;
        },
      },
      explain: (thrown) => damaged(file.path, algorithm, textOf(thrown), thrown),
    });
    return { from_bytes: fromBytes, to_bytes: toBytes, ratio: ratioOf(toBytes, fromBytes), path };
  }

  return {
    name: 'decompress',
    kind: 'cpu',
    summary: 'Decompresses a zstd, gzip or brotli file to below `to`, within bounds.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['to'],
      properties: {
        algorithm: {
          enum: COMPRESSION_ALGORITHMS,
          description: 'By default what the suffix says: .zst, .zstd, .gz, .tgz, .br.',
        },
        to: {
          type: 'string',
          minLength: 1,
          description: 'Folder of the outputs; paths below the searched folder are kept, without the suffix.',
        },
        remove_source: { type: 'boolean', default: false, description: 'Delete the source afterwards.' },
        max_bytes: {
          type: 'number',
          minimum: 1,
          default: DEFAULT_MAX_BYTES,
          description: 'A larger output is refused.',
        },
        max_ratio: {
          type: 'number',
          minimum: 1,
          description: 'An output of over 1 MiB that is more than so many times its input is refused.',
        },
        max_window_mb: {
          type: 'number',
          minimum: 1,
          maximum: 2048,
          default: DEFAULT_MAX_WINDOW_MB,
          description:
            'Memory that a zstd file may ask for; files of `zstd --ultra` or `--long` ask for more.',
        },
      },
    },
    perFile: true,
    pathKeys: ['to'],
    handle,
  };
}

function algorithmOf(relative: string): CompressionAlgorithm {
  if (relative.endsWith('.tgz')) return 'gzip';
  const algorithm = COMPRESSION_ALGORITHMS.find((known) =>
    CODEC_TRAITS[known].suffixes.some((suffix) => relative.endsWith(suffix)),
  );
  if (algorithm !== undefined) return algorithm;
  throw invalid('algorithm', 'given for a name that does not end in .zst, .zstd, .gz, .tgz or .br', relative);
}

/** A name that is nothing but its suffix, or has none, stays as it is. */
function withoutSuffix(relative: string, algorithm: CompressionAlgorithm): string {
  if (algorithm === 'gzip' && relative.endsWith('.tgz')) return `${relative.slice(0, -4)}.tar`;
  const suffix = CODEC_TRAITS[algorithm].suffixes.find((known) => relative.endsWith(known));
  if (suffix === undefined) return relative;
  const shorter = relative.slice(0, -suffix.length);
  return shorter === '' || shorter.endsWith('/') ? relative : shorter;
}

function damaged(path: string, algorithm: CompressionAlgorithm, got: string, cause?: unknown): ColibriError {
  return new ColibriError(
    'file-invalid',
    `expected ${JSON.stringify(path)} to be a whole ${algorithm} file, got ${got}`,
    cause === undefined ? undefined : { cause },
  );
}

function tooLarge(path: string, bound: string, key: string): ColibriError {
  return new ColibriError(
    'file-invalid',
    `expected ${JSON.stringify(path)} to decompress to at most ${bound}, got more; raise \`${key}\` if that is right`,
  );
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
