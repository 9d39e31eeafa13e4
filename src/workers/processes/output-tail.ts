/**
 * What is kept of a stream of any length: its first 8 KiB, its last 8 KiB, and the count of all bytes. The
 * memory is that and no more, however much is written.
 */
import { Buffer } from 'node:buffer';

/** Bytes kept of each end. */
export const KEPT_BYTES = 8 * 1024;

export class OutputTail {
  #head: Buffer | null = null;
  #headLength = 0;
  /** A ring: `#written` bytes went through it. */
  #tail: Buffer | null = null;
  #written = 0;

  /** All bytes seen. */
  get bytes(): number {
    return this.#headLength + this.#written;
  }

  /** Copies what is kept; the chunk stays the caller's. */
  write(chunk: Uint8Array): void {
    let rest = chunk;
    if (this.#headLength < KEPT_BYTES) {
      this.#head = grown(this.#head, Math.min(KEPT_BYTES, this.#headLength + rest.length));
      const part = rest.subarray(0, KEPT_BYTES - this.#headLength);
      this.#head.set(part, this.#headLength);
      this.#headLength += part.length;
      rest = rest.subarray(part.length);
    }
    if (rest.length === 0) return;
    this.#tail ??= Buffer.allocUnsafeSlow(KEPT_BYTES);
    const kept = rest.subarray(Math.max(0, rest.length - KEPT_BYTES));
    const start = (this.#written + rest.length - kept.length) % KEPT_BYTES;
    const first = kept.subarray(0, KEPT_BYTES - start);
    this.#tail.set(first, start);
    this.#tail.set(kept.subarray(first.length), 0);
    this.#written += rest.length;
  }

  /** Head and tail as text; what lies between is named by its size. Bytes that are not UTF-8 are replaced. */
  text(): string {
    if (this.#head === null) return '';
    const head = this.#head.subarray(0, this.#headLength);
    if (this.#tail === null) return head.toString('utf8');
    const tail = this.#tailBytes(this.#tail);
    if (this.#written <= KEPT_BYTES) return Buffer.concat([head, tail]).toString('utf8');
    const whole = head.subarray(0, wholeCharactersEnd(head));
    const end = tail.subarray(firstCharacterStart(tail));
    const cut = this.bytes - whole.length - end.length;
    return `${whole.toString('utf8')}\n… [${cut} bytes cut] …\n${end.toString('utf8')}`;
  }

  /** The last part alone, at most `limit` UTF-16 code units. */
  end(limit: number): string {
    const head = this.#head?.subarray(0, this.#headLength) ?? Buffer.alloc(0);
    const whole =
      this.#tail === null
        ? head
        : Buffer.concat(
            this.#written < KEPT_BYTES ? [head, this.#tailBytes(this.#tail)] : [this.#tailBytes(this.#tail)],
          );
    const text = whole.subarray(firstCharacterStart(whole)).toString('utf8');
    return text.length <= limit ? text : text.slice(-limit).replace(/^[\uDC00-\uDFFF]/, '');
  }

  /** The ring in order. */
  #tailBytes(tail: Buffer): Buffer {
    if (this.#written <= KEPT_BYTES) return tail.subarray(0, this.#written);
    const start = this.#written % KEPT_BYTES;
    return Buffer.concat([tail.subarray(start), tail.subarray(0, start)]);
  }
}

/** Room for `size` bytes, by doubling: most commands print a line or two. */
function grown(buffer: Buffer | null, size: number): Buffer {
  if (buffer !== null && buffer.length >= size) return buffer;
  const next = Buffer.allocUnsafeSlow(Math.min(KEPT_BYTES, Math.max(256, 2 ** Math.ceil(Math.log2(size)))));
  if (buffer !== null) next.set(buffer);
  return next;
}

/** Where the last whole UTF-8 character ends; a sequence that was cut at the end is left out. */
function wholeCharactersEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (isContinuation(byte)) continue;
    return sequenceLength(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Where the first whole character starts: past at most three continuation bytes. */
function firstCharacterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && start < bytes.length && isContinuation(bytes[start]!)) start++;
  return start;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
