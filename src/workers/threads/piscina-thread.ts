/**
 * How Piscina starts its threads in a bundle, where no file of its own is beside it. The build puts this in the place
 * of `node:worker_threads` there.
 */
import type { Worker as Thread, WorkerOptions } from 'node:worker_threads';
import { startThread } from './thread-files.ts';

export { receiveMessageOnPort } from 'node:worker_threads';

/** Called with `new`, as the class is; the file is Piscina's worker, which is bundled with ours. */
export function Worker(_file: string, options: WorkerOptions): Thread {
  return startThread('cpu-worker', options);
}
