/** Where a file of lines ends, while others append to it. */
import { fstatSync, readSync, writeSync } from 'node:fs';

export interface ManifestTail {
  /** Bytes; a line starts there, or, where it is torn, the last line has no newline and never gets one. */
  readonly size: number;
  readonly torn: boolean;
}

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/**
 * A write in flight shows page by page to those who look, and so looks like a line that a crash cut short. An
 * empty write waits for its end, as writes to one file go one at a time; what has not grown then is torn.
 * `fd` must be open for appending.
 */
export function lookAtTail(fd: number): ManifestTail {
  const last = Buffer.alloc(1);
  for (let size = fstatSync(fd).size; ; ) {
    if (size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === NEWLINE)) {
      return { size, torn: false };
    }
    writeSync(fd, NOTHING, 0, 0, null);
    const now = fstatSync(fd).size;
    if (now === size) return { size, torn: true };
    size = now;
  }
}
