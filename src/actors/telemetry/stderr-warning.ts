import { write } from 'node:fs';

/** One line on the standard error, without waiting for it: its reader may have stopped reading. */
export function warnOnStderr(text: string): void {
  write(2, `colibri: ${text}\n`, () => {});
}
