/**
 * Many runs that do nothing, through a whole daemon in this process, and what they leave behind. The suite runs a
 * short one (soak.test.ts). The long one, of 200,000 runs, is started by hand from the checkout:
 *
 *   npx node --expose-gc --max-semi-space-size=1 --max-old-space-size=24 test/daemon/soak.ts
 *   npx node --expose-gc --max-semi-space-size=1 --max-old-space-size=24 test/daemon/soak.ts 1000000 0
 *
 * The numbers are runs of kind io and cpu. Without the bounds on the heaps, which hold for every thread, what
 * other threads have not collected yet counts as growth. Prints a `SoakReport` as JSON; exit 1 where a bound is
 * broken.
 */
import { setImmediate } from 'node:timers/promises';
import { readProcessMemory } from '../../src/main/memory/process-memory.ts';
import { daemonInside, type Inside } from '../support/daemon-inside.ts';

export interface SoakReport {
  readonly runs: number;
  readonly tookMs: number;
  /** On main after a collection: the legs that grew, summed up, so that none hides behind one that shrank. Bytes. */
  readonly heapGrowth: number;
  /** From after the warm-up to the end, of all threads, of which only main was collected first. Bytes. */
  readonly anonGrowth: number;
  readonly listenersBefore: string;
  readonly listenersAfter: string;
  readonly undeliverable: number;
}

export const HEAP_BOUND = 1_000_000;
/**
 * What the collectors of four threads leave lying about is some 4 MB each, up or down: a leak of 500 bytes a run is
 * seen. `npm run bench -- soak` looks closer, at a daemon that keeps to its budget.
 */
export const ANON_BOUND = 30_000_000;

/** Of each kind, before the first look: what is kept by a bound has reached it then. */
const WARM_UP = 8_000;
const LEGS = 4;
const IN_FLIGHT = 128;

async function soak(ioRuns: number, cpuRuns: number): Promise<SoakReport> {
  const undo: (() => void | Promise<void>)[] = [];
  const threads = countThreads();
  const { run, daemon } = await daemonInside(
    { after: (step) => undo.push(step) },
    {
      tasks: [
        { name: 'io', handler: 'noop', overlap: 'allow' },
        { name: 'cpu', kind: 'cpu', handler: 'noop', overlap: 'allow' },
      ],
      retention: { runs: 1000 },
      pools: { io: { slots: 32 }, cpu: { threads: 2, idle_seconds: 600 } },
    },
  );
  const leg = async (io: number, cpu: number): Promise<Look> => {
    await many(run, 'io', io);
    await many(run, 'cpu', cpu);
    // A run is forgotten once the store, on another thread, has said that it has it.
    while (daemon.view().liveRuns > 0) await setImmediate();
    return look(threads);
  };
  const looks = [await leg(WARM_UP, WARM_UP)];
  const begun = performance.now();
  for (let count = 0; count < LEGS; count++) looks.push(await leg(ioRuns / LEGS, cpuRuns / LEGS));
  const tookMs = Math.round(performance.now() - begun);
  const { undeliverable } = daemon.view();
  for (const step of undo.reverse()) await step();
  const [first, last] = [looks[0]!, looks.at(-1)!];
  return {
    runs: ioRuns + cpuRuns,
    tookMs,
    heapGrowth: looks.slice(1).reduce((sum, { heap }, at) => sum + Math.max(0, heap - looks[at]!.heap), 0),
    anonGrowth: last.anon - first.anon,
    listenersBefore: first.listeners,
    listenersAfter: last.listeners,
    undeliverable: Object.values(undeliverable).reduce((sum, count) => sum + count, 0),
  };
}

async function many(run: Inside['run'], task: string, count: number): Promise<void> {
  let left = count;
  const producer = async (): Promise<void> => {
    while (left-- > 0) {
      const { state, error } = await run(task);
      if (state !== 'success') throw new Error(`expected success, got ${state}: ${error?.message}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, producer));
}

type Emitter = Pick<NodeJS.EventEmitter, 'eventNames' | 'listenerCount'>;

/** Every thread that is made from now on and lives. */
function countThreads(): Set<Emitter> {
  const threads = new Set<Emitter>();
  process.on('worker', (thread) => {
    threads.add(thread);
    thread.once('exit', () => threads.delete(thread));
  });
  return threads;
}

interface Look {
  readonly heap: number;
  readonly anon: number;
  readonly listeners: string;
}

async function look(threads: ReadonlySet<Emitter>): Promise<Look> {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error('expected to be started with --expose-gc');
  // Finalizers let go of more; code that is no longer used goes after some collections, and must not hide growth.
  for (let round = 0; round < 10; round++) {
    gc();
    await setImmediate();
  }
  return {
    heap: process.memoryUsage().heapUsed,
    anon: readProcessMemory().anon,
    listeners: [process, ...threads].map(listenersOf).join(' | '),
  };
}

function listenersOf(emitter: Emitter): string {
  const counts = emitter.eventNames().map((name) => `${String(name)} ${emitter.listenerCount(name)}`);
  return counts.sort().join(', ');
}

if (import.meta.main) {
  const [ioRuns = 120_000, cpuRuns = 80_000] = process.argv.slice(2).map(Number);
  const report = await soak(ioRuns, cpuRuns);
  console.log(JSON.stringify(report));
  const { heapGrowth, anonGrowth, listenersBefore, listenersAfter } = report;
  const grew = heapGrowth >= HEAP_BOUND || anonGrowth >= ANON_BOUND;
  if (grew || listenersBefore !== listenersAfter) process.exitCode = 1;
}
