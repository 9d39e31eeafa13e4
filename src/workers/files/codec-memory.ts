/** What one compression or decompression takes of memory beside its two buffers: for the memory ledger. */
import { CODEC_TRAITS, COMPRESSION_ALGORITHMS, CompressionAlgorithm } from './codec.ts';

const MIB = 1024 * 1024;

/**
 * At most, up to a level, MiB: growth of the anonymous memory of the process over 24 MB of log-like text and 64 MB of
 * noise, measured and rounded up.
 */
const COMPRESSOR_MIB: Readonly<
  Record<CompressionAlgorithm, readonly (readonly [level: number, mib: number])[]>
> = {
  zstd: [
    [3, 4],
    [6, 5],
    [8, 8],
    [9, 15],
    [16, 70],
    [19, 85],
    [20, 165],
    [21, 345],
    [22, 650],
  ],
  gzip: [[9, 1]],
  brotli: [
    [5, 10],
    [9, 35],
    [11, 45],
  ],
};

/** Beside the window of the data. */
const DECOMPRESSOR_MIB = 1;
const BROTLI_WINDOW_MIB = 16;

export function compressorBytes(algorithm: CompressionAlgorithm, level: number): number {
  const row = COMPRESSOR_MIB[algorithm].find(([upTo]) => level <= upTo) ?? COMPRESSOR_MIB[algorithm].at(-1)!;
  return row[1] * MIB;
}

/** `maxWindowMib`: what a zstd file may ask for; brotli may ask for 16 MiB whatever it is. */
export function decompressorBytes(maxWindowMib: number): number {
  return (DECOMPRESSOR_MIB + Math.max(BROTLI_WINDOW_MIB, maxWindowMib)) * MIB;
}

/** Of a run of a task as the config has it; 0 where its handler needs none. A payload may ask for more. */
export function codecBytes(handler: string, input: Readonly<Record<string, unknown>>): number {
  if (handler === 'decompress') return decompressorBytes(numberOr(input.max_window_mb, 0));
  if (handler !== 'compress') return 0;
  const algorithm =
    COMPRESSION_ALGORITHMS.find((one) => one === input.algorithm) ?? CompressionAlgorithm.Zstd;
  return compressorBytes(algorithm, numberOr(input.level, CODEC_TRAITS[algorithm].defaultLevel));
}

function numberOr(value: unknown, other: number): number {
  return typeof value === 'number' ? value : other;
}
