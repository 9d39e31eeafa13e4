/** All of what a program writes, for one whose output is its result: up to a bound, beyond which nothing is kept. */
import { Buffer } from 'node:buffer';

export const WHOLE_BYTES = 2 ** 20;

export class OutputWhole {
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** Copies the chunk; it stays the caller's. */
  write(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > WHOLE_BYTES) this.#chunks = [];
    else this.#chunks.push(Buffer.from(chunk));
  }

  json(): { readonly value: unknown } | { readonly problem: string } {
    if (this.#bytes > WHOLE_BYTES)
      return { problem: `${this.#bytes} bytes; at most ${WHOLE_BYTES} are taken` };
    const text = Buffer.concat(this.#chunks, this.#bytes).toString('utf8');
    this.#chunks = [];
    if (text.trim() === '') return { problem: 'nothing' };
    try {
      return { value: JSON.parse(text) };
    } catch (error) {
      return { problem: `text that is none: ${(error as Error).message}` };
    }
  }
}
