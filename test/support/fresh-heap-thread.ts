/** The thread of `inFreshHeap`. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Order } from './fresh-heap.ts';

const { url, name } = workerData as Order;
const measured = (await import(url)) as Readonly<Record<string, () => unknown>>;
parentPort!.postMessage(await measured[name]!());
