/** A thread that takes a lock and is ended while it holds it. */
import { parentPort, workerData } from 'node:worker_threads';
import { LockFile } from '../../src/workers/files/lock-file.ts';

LockFile.acquire(workerData as string);
parentPort?.postMessage('held');
setInterval(() => {}, 1000);
