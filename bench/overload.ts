/**
 * Overload: a producer that offers ten times what the pool can do. With `block` the producer is held back, with
 * `reject` the surplus is refused and counted; in both the queue stays within its capacity and memory flat.
 */
import { GarbageCollector, usedHeapBytes } from '../src/actors/kernel/index.ts';
import { startBenchDaemon } from './bench-daemon.ts';
import { type BenchRow, rounded } from './bench-row.ts';

/** Runs of 10 ms on 4 slots: 400 a second; offered: 4,000. */
const SLOTS = 4;
const RUN_MS = 10;
const OFFERED_PER_SECOND = (10 * SLOTS * 1000) / RUN_MS;
const CAPACITY = 500;
const TICK_MS = 10;

export async function benchOverload(options: { readonly quick: boolean }): Promise<BenchRow[]> {
  const seconds = options.quick ? 3 : 60;
  return [...(await overload('block', seconds)), ...(await overload('reject', seconds))];
}

async function overload(whenFull: 'block' | 'reject', seconds: number): Promise<BenchRow[]> {
  const { daemon, close } = await startBenchDaemon({
    pools: { io: { slots: SLOTS } },
    queues: { ready: { capacity: CAPACITY, when_full: whenFull }, delayed: { capacity: CAPACITY } },
    tasks: [
      { name: 'slow', kind: 'io', handler: 'sleep', with: { ms: RUN_MS }, overlap: 'allow', max_retry: 0 },
    ],
  });
  const collector = new GarbageCollector();
  /** In use after a collection, at each third of the time. */
  const heaps: number[] = [];
  const takeHeap = (): void => {
    collector.collect();
    heaps.push(usedHeapBytes());
  };
  const thirdMs = (seconds * 1000) / 3;
  let accepted = 0;
  let refused = 0;
  let held = 0;
  let deepest = 0;
  let longestBlockMs = 0;
  /** A producer waits for its accepted triggers before it makes more than it may have open. */
  const MAX_OPEN = CAPACITY;
  const end = performance.now() + seconds * 1000;
  let open = 0;
  while (performance.now() < end) {
    for (let count = 0; count < (OFFERED_PER_SECOND * TICK_MS) / 1000; count++) {
      if (open >= MAX_OPEN) {
        held++;
        continue;
      }
      open++;
      const start = performance.now();
      daemon.runs
        .ask(
          'trigger',
          { task: 'slow', payload: null, force: false, wait: false, dueAtMs: null },
          { timeoutMs: null },
        )
        .then(
          () => accepted++,
          () => refused++,
        )
        .finally(() => {
          open--;
          longestBlockMs = Math.max(longestBlockMs, performance.now() - start);
        });
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    const ready = daemon.view().queues.find((queue) => queue.name === 'ready')!;
    deepest = Math.max(deepest, ready.depth);
    if (performance.now() > end - (2 - heaps.length) * thirdMs) takeHeap();
  }
  const rejected = daemon.view().queues.find((queue) => queue.name === 'ready')!.rejected;
  takeHeap();
  await close();
  const growth = heaps.at(-1)! - heaps[0]!;
  const name = (what: string) => `${whenFull}: ${what}`;
  return [
    { name: name('offered'), unit: 'runs/s', value: OFFERED_PER_SECOND },
    { name: name('accepted'), unit: 'runs/s', value: rounded(accepted / seconds) },
    {
      name: name('refused'),
      unit: 'runs/s',
      value: rounded(refused / seconds),
      note: `counted: ${rejected}`,
    },
    { name: name('held back at the source'), unit: 'runs/s', value: rounded(held / seconds) },
    { name: name('longest wait of the source'), unit: 'ms', value: rounded(longestBlockMs) },
    { name: name('deepest ready queue'), unit: 'runs', value: deepest, note: `capacity ${CAPACITY}` },
    { name: name('heap in use, end over the first third'), unit: 'kB', value: rounded(growth / 1000) },
  ];
}
