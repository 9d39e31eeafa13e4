/**
 * Measuring what objects cost, in the heap of a thread of its own: in that of a test there is what tests before it
 * held, which goes at any time after their end, and what was compiled for them.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { GarbageCollector } from '../../src/actors/kernel/index.ts';

/** Compiled code, its bytecode and what both refer to come and go with what runs, some 0.7 MB of it at a time. */
const OF_CODE = /code|trusted|read_only/;

export interface Order {
  readonly url: string;
  readonly name: string;
}

/** What the exported function `name` of the module at `url` finds in a heap that holds nothing else. */
export async function inFreshHeap<T>(url: string, name: string): Promise<T> {
  const thread = new Worker(new URL('./fresh-heap-thread.ts', import.meta.url), {
    workerData: { url, name } satisfies Order,
  });
  const found: T[] = [];
  thread.on('message', (message: T) => found.push(message));
  // Rejects with what was thrown there.
  await once(thread, 'exit');
  if (found.length === 0) throw new Error(`${name} has ended without a figure`);
  return found[0]!;
}

/** Bytes of objects and texts in this thread's heap, its garbage collected. */
export function objectBytes(): number {
  new GarbageCollector().collect();
  const spaces = process.getBuiltinModule('node:v8').getHeapSpaceStatistics();
  const objects = spaces.filter(({ space_name }) => !OF_CODE.test(space_name));
  return objects.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}
