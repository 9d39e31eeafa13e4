/**
 * `hash`: the digest of one file, and its line in a manifest that the system's own tools check.
 *
 * The file is read in chunks into one buffer of the thread. The digest is only given, and the line only
 * written, when the file did not change meanwhile.
 */
import type { Hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ChunkBuffers } from '../files/chunk-buffers.ts';
import { type FileInput, readChoice, readFileInput, readPath } from '../files/file-input.ts';
import { FileProgress } from '../files/file-progress.ts';
import { Manifest } from '../files/manifest.ts';
import { SourceFile } from '../files/source-file.ts';
import type { BuiltInHandler, HandlerContext } from '../handler.ts';

export const HashAlgorithm = {
  Sha256: 'sha256',
  Sha512: 'sha512',
  Sha1: 'sha1',
  Md5: 'md5',
  Blake2b512: 'blake2b512',
} as const;
export type HashAlgorithm = (typeof HashAlgorithm)[keyof typeof HashAlgorithm];

export interface HashResult {
  readonly algorithm: HashAlgorithm;
  readonly hex: string;
  readonly bytes: number;
  /** What became of the line; null: no manifest is asked for, or the file is the manifest itself. */
  readonly manifest: 'added' | 'kept' | 'replaced' | null;
}

const ALGORITHMS = Object.values(HashAlgorithm);

/** One a thread: it owns the buffer and what it knows of the manifests. `monoMs`: a parameter for tests. */
export function createHashHandler(
  buffers: ChunkBuffers = new ChunkBuffers(),
  monoMs?: () => number,
): BuiltInHandler {
  const manifest = new Manifest(buffers);

  function handle(input: unknown, context: HandlerContext): HashResult {
    const file = readFileInput(input);
    const algorithm = readChoice(input, 'algorithm', ALGORITHMS) ?? HashAlgorithm.Sha256;
    const manifestPath = readPath(input, 'manifest');
    const { hex, bytes } = hashFile(file, { algorithm, buffers, context, monoMs });
    if (manifestPath === undefined || isSameFile(manifestPath, file.path)) {
      return { algorithm, hex, bytes, manifest: null };
    }
    const kept = manifest.write({ manifestPath, path: file.path, hex, run: context.run });
    return { algorithm, hex, bytes, manifest: kept };
  }

  return {
    name: 'hash',
    kind: 'cpu',
    summary: 'The digest of a file; with `manifest`, a line that sha256sum -c and its kin accept.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        algorithm: { enum: ALGORITHMS, default: HashAlgorithm.Sha256, description: 'The digest.' },
        manifest: {
          type: 'string',
          minLength: 1,
          description: 'File that gets a line for each file, named relative to the folder of the manifest.',
        },
      },
    },
    perFile: true,
    pathKeys: ['manifest'],
    handle,
  };
}

interface HashOptions {
  readonly algorithm: HashAlgorithm;
  readonly buffers: ChunkBuffers;
  readonly context: HandlerContext;
  readonly monoMs: (() => number) | undefined;
}

function hashFile(
  file: FileInput,
  { algorithm, buffers, context, monoMs }: HashOptions,
): { hex: string; bytes: number } {
  const source = SourceFile.open(file);
  try {
    const hash: Hash = process.getBuiltinModule('node:crypto').createHash(algorithm);
    const buffer = buffers.input;
    let bytes = 0;
    const progress = new FileProgress(context, source.size, monoMs);
    for (let read = source.read(buffer); read > 0; read = source.read(buffer)) {
      hash.update(read === buffer.length ? buffer : buffer.subarray(0, read));
      bytes += read;
      if (context.aborted) throw context.signal.reason;
      progress.reached(bytes);
    }
    source.assertUnchanged(bytes);
    return { hex: hash.digest('hex'), bytes };
  } finally {
    source.close();
  }
}

/** Also where one of them is a link to the other. */
function isSameFile(one: string, other: string): boolean {
  if (resolve(one) === resolve(other)) return true;
  try {
    const [first, second] = [statSync(one, { bigint: true }), statSync(other, { bigint: true })];
    return first.ino === second.ino && first.dev === second.dev;
  } catch {
    // What is not there yet is no other file; what cannot be looked at fails where it is opened.
    return false;
  }
}
