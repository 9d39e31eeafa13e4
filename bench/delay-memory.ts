/** What one entry takes, in a process of its own that was started with `--expose-gc`. */
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../src/actors/kernel/index.ts';
import { type ContenderName, openContender } from './delay-contenders.ts';

const HOUR_MS = 3_600_000;

export interface EntryBytes {
  /** Of the heap of objects and of typed arrays. */
  readonly heap: number;
  readonly rss: number;
}

/** The item is a number, which takes no more than its place. */
export async function measureBytes(name: ContenderName, count: number, batchMs: number): Promise<EntryBytes> {
  const before = await usage();
  const contender = openContender(name, {
    clock: systemClock,
    now: () => performance.now(),
    onDue: () => {},
    batchMs,
  });
  const nowMono = performance.now();
  for (let index = 0; index < count; index++) contender.add(nowMono + HOUR_MS + Math.random() * HOUR_MS);
  const after = await usage();
  contender.close();
  return { heap: (after.heap - before.heap) / count, rss: (after.rss - before.rss) / count };
}

async function usage(): Promise<EntryBytes> {
  for (let times = 0; times < 3; times++) {
    globalThis.gc!();
    await turn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}
