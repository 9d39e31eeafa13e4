/**
 * `compress`: one file into one zstd, gzip or brotli file that the usual tools read. The output keeps mode
 * and mtime of its source, and takes the place of an earlier output in one step.
 */

import { ChunkBuffers } from '../files/chunk-buffers.ts';
import { CODEC_TRAITS, COMPRESSION_ALGORITHMS, Codec, CompressionAlgorithm } from '../files/codec.ts';
import { isBelow } from '../files/destination.ts';
import { fileError } from '../files/file-error.ts';
import { invalid, readChoice, readFileInput, readFlag, readNumber, readPath } from '../files/file-input.ts';
import { runOutputJob } from '../files/output-job.ts';
import { PartSweeper } from '../files/part-sweeper.ts';
import type { BuiltInHandler, HandlerContext } from '../handler.ts';

export interface CompressResult {
  readonly from_bytes: number;
  readonly to_bytes: number;
  /** Input over output, three decimals. */
  readonly ratio: number;
  readonly path: string;
}

/** A file that is left alone because it is an output of this very task. */
export interface CompressSkipped {
  readonly skipped: string;
}

export function createCompressHandler(buffers: ChunkBuffers = new ChunkBuffers()): BuiltInHandler {
  const sweeper = new PartSweeper();

  function handle(input: unknown, context: HandlerContext): CompressResult | CompressSkipped {
    const file = readFileInput(input);
    const algorithm = readChoice(input, 'algorithm', COMPRESSION_ALGORITHMS) ?? CompressionAlgorithm.Zstd;
    const traits = CODEC_TRAITS[algorithm];
    const level = readLevel(input, algorithm);
    const to = readPath(input, 'to');
    if (to === undefined) throw invalid('to', 'the folder that takes the compressed files', undefined);
    if (isBelow(to, file.path) && traits.suffixes.some((suffix) => file.path.endsWith(suffix))) {
      return { skipped: 'it lies below `to` and is compressed already' };
    }
    const { fromBytes, toBytes, path } = runOutputJob({
      file,
      to,
      relative: file.relative + traits.suffixes[0]!,
      removeSource: readFlag(input, 'remove_source'),
      buffers,
      sweeper,
      context,
      openCodec: (sourceBytes) => Codec.compressor(algorithm, level, sourceBytes),
      checks: {},
      explain: (thrown) => fileError(file.path, `${algorithm} can compress`, thrown),
    });
    return { from_bytes: fromBytes, to_bytes: toBytes, ratio: ratioOf(fromBytes, toBytes), path };
  }

  return {
    name: 'compress',
    kind: 'cpu',
    summary: 'Compresses a file to below `to`; the source stays untouched until the output is in place.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['to'],
      properties: {
        algorithm: { enum: COMPRESSION_ALGORITHMS, default: CompressionAlgorithm.Zstd },
        level: {
          type: 'integer',
          minimum: 0,
          maximum: 22,
          description: 'zstd 1 to 22, default 3; gzip 1 to 9, default 6; brotli 0 to 11, default 4.',
        },
        to: {
          type: 'string',
          minLength: 1,
          description: 'Folder of the outputs; paths below the searched folder are kept.',
        },
        remove_source: { type: 'boolean', default: false, description: 'Delete the source afterwards.' },
      },
    },
    perFile: true,
    pathKeys: ['to'],
    handle,
  };
}

/** Three decimals. */
export function ratioOf(plainBytes: number, packedBytes: number): number {
  return packedBytes === 0 ? 0 : Math.round((plainBytes / packedBytes) * 1000) / 1000;
}

function readLevel(input: unknown, algorithm: CompressionAlgorithm): number {
  const { minLevel, maxLevel, defaultLevel } = CODEC_TRAITS[algorithm];
  const level = readNumber(input, 'level', { min: minLevel, max: maxLevel }) ?? defaultLevel;
  if (!Number.isInteger(level)) throw invalid('level', 'a whole number', level);
  return level;
}
