/**
 * What users' code prints on a thread becomes lines of the log. Left alone, the runtime would hand the raw text to
 * the main thread, without a bound and between the JSON lines of the log, and a standard output that is closed or full
 * would end the daemon.
 */
import { cutText } from '../actors/kernel/errors.ts';

/** Longest line kept, and longest text that waits for its end of line; code units. */
const LINE_LIMIT = 2000;

export type PrintedLine = (level: 'info' | 'warn', line: string) => void;

/** From here on, what is written to the standard output of this thread is given to `write` line by line: `info`; and
 * of the standard error: `warn`. */
export function captureOutput(write: PrintedLine): void {
  process.stdout.write = lineSink('info', write);
  process.stderr.write = lineSink('warn', write);
}

function lineSink(level: 'info' | 'warn', write: PrintedLine): typeof process.stdout.write {
  let rest = '';
  return (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    const text = rest + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
    const lines = text.split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_LIMIT);
    for (const line of lines) if (line !== '') write(level, cutText(line, LINE_LIMIT));
    const done = more.find((one) => typeof one === 'function') as (() => void) | undefined;
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
}
