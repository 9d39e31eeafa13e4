/**
 * Threads whose output is passed on when there is some. The runtime would join it to the process's streams at the
 * start of a thread, and make these for it: a dozen modules on main, for threads that do not print.
 */
import type { Readable } from 'node:stream';
import type { Worker, WorkerOptions } from 'node:worker_threads';

export function quietly(start: (options: WorkerOptions) => Worker, options: WorkerOptions): Worker {
  const worker = start({ ...options, stdout: true, stderr: true });
  passOn(worker.stdout, () => process.stdout);
  passOn(worker.stderr, () => process.stderr);
  return worker;
}

function passOn(from: Readable, to: () => NodeJS.WriteStream): void {
  from.once('readable', () => {
    // Told of its end as well.
    if (from.readableLength === 0) return;
    const stream = to();
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
    from.pipe(stream, { end: false });
  });
}

/** A reader that is gone is no fault of the thread. */
function ignore(): void {}
