/**
 * Walks over the lines of an open file through a given buffer; a line longer than the buffer is passed by.
 */
import { readSync } from 'node:fs';

const NEWLINE = 0x0a;

/**
 * Calls `visit` with each whole line from `from` on. Returns the offset after the last newline: smaller than
 * the size of the file where the last line has none. `visit` must not keep the buffer.
 */
export function readLines(
  fd: number,
  from: number,
  buffer: Buffer,
  visit: (buffer: Buffer, start: number, end: number, offset: number) => void,
): number {
  let offset = from;
  let consumed = from;
  let tooLong = false;
  for (;;) {
    const read = readSync(fd, buffer, 0, buffer.length, offset);
    const chunk = read === buffer.length ? buffer : buffer.subarray(0, read);
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE) + 1; end > 0; end = chunk.indexOf(NEWLINE, start) + 1) {
      if (!tooLong) visit(chunk, start, end, offset + start);
      tooLong = false;
      start = end;
    }
    if (start > 0) consumed = offset + start;
    if (read < buffer.length) {
      if (read === 0 || start === 0) return consumed;
    } else if (start === 0) {
      tooLong = true;
      start = read;
    }
    offset += start;
  }
}
