/** The handlers that work on one file each, for one thread: they share its buffers. */

import { ChunkBuffers } from '../files/chunk-buffers.ts';
import type { BuiltInHandler } from '../handler.ts';
import { createCompressHandler } from './compress.ts';
import { createDecompressHandler } from './decompress.ts';
import { createHashHandler } from './hash.ts';

/** Cheap to call: buffers, crypto and zlib are loaded with the first file. */
export function createFileHandlers(): readonly BuiltInHandler[] {
  const buffers = new ChunkBuffers();
  return [createHashHandler(buffers), createCompressHandler(buffers), createDecompressHandler(buffers)];
}
