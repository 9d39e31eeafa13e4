/**
 * The two buffers that all file work of a thread goes through, made on first use and kept. A thread runs one
 * cpu job at a time and file work is synchronous, so one pair is enough; memory stays flat however many
 * files pass.
 */

/** Bytes of each buffer. */
export const CHUNK_BYTES = 256 * 1024;

export class ChunkBuffers {
  #input: Buffer | undefined;
  #output: Buffer | undefined;

  get input(): Buffer {
    this.#input ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    return this.#input;
  }

  get output(): Buffer {
    this.#output ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    return this.#output;
  }
}
