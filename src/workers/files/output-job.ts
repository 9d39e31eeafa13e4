/**
 * What compress and decompress have in common: a source, a place for the output, a part file between them,
 * and the order in which things become true.
 *
 *     open source → part file → transform → source unchanged? → fsync, rename, fsync folder → remove source
 *
 * Whatever fails before the rename leaves the source and an earlier output as they were, and no part file.
 */
import { lstatSync, unlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { ColibriError } from '../../actors/kernel/errors.ts';
import type { HandlerContext } from '../handler.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import type { Codec } from './codec.ts';
import { placeBelow } from './destination.ts';
import { fileError } from './file-error.ts';
import type { FileInput } from './file-input.ts';
import { PartFile } from './part-file.ts';
import type { PartSweeper } from './part-sweeper.ts';
import { SourceFile } from './source-file.ts';
import { type FileTransform, transformFile } from './transform-file.ts';

export interface OutputJob {
  readonly file: FileInput;
  /** Folder that the output stays below. */
  readonly to: string;
  /** Path of the output below `to`. */
  readonly relative: string;
  readonly removeSource: boolean;
  readonly buffers: ChunkBuffers;
  readonly sweeper: PartSweeper;
  readonly context: HandlerContext;
  readonly openCodec: (sourceBytes: number) => Codec;
  readonly checks: Pick<FileTransform, 'checkOutput' | 'skipRest'>;
  /** What the codec's own errors mean for the user. */
  readonly explain: (thrown: unknown) => unknown;
}

export interface OutputResult {
  readonly fromBytes: number;
  readonly toBytes: number;
  readonly path: string;
}

/** Throws `file-failed`, `file-invalid` (a name too long), `file-changed`, what `explain` gives, or the reason of the abort. */
export function runOutputJob(job: OutputJob): OutputResult {
  const { file, context } = job;
  const source = SourceFile.open(file);
  try {
    const path = placeBelow(job.to, job.relative);
    if (path === resolve(file.path)) {
      throw new ColibriError(
        'input-invalid',
        `expected the output to be another file than the source, got ${JSON.stringify(path)} for both; choose another \`to\``,
      );
    }
    assertTakesName(path);
    job.sweeper.sweep(path, context.run);
    const part = PartFile.create(path, context.run);
    try {
      const bytes = transform(job, source, part);
      source.assertUnchanged(bytes.fromBytes);
      part.commit({ mode: source.mode, times: source.times });
      if (job.removeSource) removeSource(source, bytes.fromBytes);
      return { ...bytes, path };
    } finally {
      part.discard();
    }
  } finally {
    source.close();
  }
}

/** A name that the file system has no room for is found out before the work, not at the rename after it. */
function assertTakesName(path: string): void {
  try {
    lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    throw fileError(path, 'can be made', thrown);
  }
}

function transform(
  job: OutputJob,
  source: SourceFile,
  part: PartFile,
): { fromBytes: number; toBytes: number } {
  const { buffers, context } = job;
  const codec = job.openCodec(source.size);
  try {
    return transformFile({ source, part, codec, buffers, context, ...job.checks });
  } catch (thrown) {
    if (thrown instanceof ColibriError || context.aborted) throw thrown;
    // A file that grows or shrinks while it is read looks like a damaged one to a codec.
    source.assertUnchanged(source.size);
    throw job.explain(thrown);
  } finally {
    codec.close();
  }
}

function removeSource(source: SourceFile, bytesRead: number): void {
  // A file that was put in its place since the rename is not ours to delete.
  source.assertUnchanged(bytesRead);
  try {
    unlinkSync(source.path);
  } catch (thrown) {
    throw fileError(source.path, 'can be removed once its output is in place', thrown);
  }
}
