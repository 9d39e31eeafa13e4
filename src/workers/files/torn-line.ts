/**
 * A line that a full disk or a crash cut short is no line: `HEX  file1`, cut from `HEX  file13`, would name
 * another file. It is made a comment, by a `#` over its first byte, and closed with a newline by the next
 * writer. That needs no room on the disk, moves no byte, and so disturbs nobody who appends meanwhile.
 */
import { closeSync, constants, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findLines } from './find-lines.ts';

const COMMENT = Buffer.from('#');
const NEWLINE = 0x0a;
/** What begins otherwise is no line of ours and names no file. */
const DIGEST_START = /^[\\0-9a-f]/i;
/** What is longer was written by no one who has names of files. */
const LONGEST_LINE_BYTES = 16 * 1024;
/** A digest of 128 to 512 bits, and a name; a name with escapes is not judged. */
const WHOLE_LINE = /^[0-9a-f]{32,128} [ *](.+)$/s;

/** Undoes a write that was cut short: `done` bytes went to `fd`, the line in them began at `lineAt`. */
export function undoShortWrite(fd: number, done: number, lineAt: number): void {
  if (done <= lineAt) return;
  const offset = offsetOf(fd) - done + lineAt;
  if (Number.isSafeInteger(offset) && offset >= 0) writeComment(fd, offset);
}

/**
 * Makes the last line a comment, which must have no newline, `size` being the end of it. An editor that
 * writes none at the end is not a crash: a line that is whole, names a file that is there, and is the only one
 * for it, stays.
 */
export function settleTornLine(fd: number, manifestPath: string, size: number): void {
  const from = Math.max(0, size - LONGEST_LINE_BYTES);
  const bytes = Buffer.alloc(size - from);
  readSync(fd, bytes, 0, bytes.length, from);
  const start = bytes.lastIndexOf(NEWLINE) + 1;
  if (start === 0 && from > 0) return;
  const line = bytes.subarray(start);
  if (DIGEST_START.test(line.toString('latin1', 0, 2)) && !isWhole(fd, manifestPath, line))
    writeComment(fd, from + start);
}

function isWhole(fd: number, manifestPath: string, text: Buffer): boolean {
  const name = WHOLE_LINE.exec(text.toString())?.[1];
  if (name === undefined) return false;
  if (!isFile(resolve(dirname(manifestPath), name))) return false;
  const line = Buffer.from(`${text}\n`);
  const found = findLines(
    fd,
    { line, key: Buffer.from(`  ${name}\n`) },
    Buffer.alloc(LONGEST_LINE_BYTES * 4),
  );
  return !found.same && found.others.length === 0;
}

/** False also for what can be no name: a power cut leaves zeros. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** `fd` appends, wherever one tells it to write: the very file is opened once more. */
function writeComment(fd: number, offset: number): void {
  const other = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY);
  try {
    writeSync(other, COMMENT, 0, 1, offset);
  } finally {
    closeSync(other);
  }
}

/** Where the last write of this descriptor ended (proc(5)); whoever appended since does not move it. */
function offsetOf(fd: number): number {
  return Number(/^pos:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]);
}
