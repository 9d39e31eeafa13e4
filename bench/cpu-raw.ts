/**
 * No-op runs through the cpu pool alone (synthetic source, no queues, no store), beside raw Piscina with its
 * default options in the same process. `bench runs` measures the same end to end.
 */
import { Piscina } from 'piscina';
import type { ExecuteOrder } from '../src/actors/execution.ts';
import { systemClock } from '../src/actors/kernel/clock.ts';
import { CpuPool } from '../src/workers/cpu-pool/cpu-pool.ts';

export interface CpuPoolBench {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the main thread, µs an order. */
  readonly mainUs: number;
}

export interface BenchOptions {
  readonly inFlight: number;
  readonly threads: number;
  readonly count: number;
}

/** `workerFile`: what cpu threads start from, with a handler `noop`. */
export async function benchCpuPool(workerFile: string, options: BenchOptions): Promise<CpuPoolBench> {
  const { inFlight, threads, count } = options;
  const sentMono = new Map<string, number>();
  let made = 0;
  let done = 0;
  let total = count;
  let latencies = new Float64Array(count);
  let finished = Promise.withResolvers<void>();
  const queue: ExecuteOrder[] = [];
  let head = 0;
  const produce = (): void => {
    const run = `bench-${made++}`;
    sentMono.set(run, performance.now());
    queue.push({ run, task: 'noop', attempt: 1, handler: 'noop', input: '{}', timeoutMs: 30_000 });
    pool.wake();
  };
  const pool = new CpuPool({
    workerFile,
    threads,
    idleMs: 10_000,
    source: {
      peekTask: () => queue[head]?.task,
      take: () => {
        const order = queue[head];
        if (order === undefined) return undefined;
        head++;
        if (head === 4096) {
          queue.splice(0, head);
          head = 0;
        }
        return order;
      },
    },
    workerData: { modules: [] },
    clock: systemClock,
    onOutcome: ({ run, status }) => {
      if (status !== 'success') throw new Error(`expected success, got ${status}`);
      latencies[done++] = performance.now() - (sentMono.get(run) ?? 0);
      sentMono.delete(run);
      if (made < total) produce();
      else if (done === total) finished.resolve();
    },
    onLog: () => {},
    onProgress: () => {},
    onThreadStarts: () => {},
    onThreadLost: () => {},
  });
  const measure = async (runs: number): Promise<number> => {
    made = 0;
    done = 0;
    total = runs;
    latencies = new Float64Array(runs);
    finished = Promise.withResolvers<void>();
    const startMono = performance.now();
    for (let index = 0; index < Math.min(inFlight, runs); index++) produce();
    await finished.promise;
    return performance.now() - startMono;
  };
  await measure(Math.min(count, 20_000));
  const cpu = process.threadCpuUsage();
  const elapsedMs = await measure(count);
  const used = process.threadCpuUsage(cpu);
  await pool.destroy();
  return {
    ...summary(latencies, elapsedMs),
    mainUs: (used.user + used.system) / count,
  };
}

/** The same with Piscina alone. */
export async function benchRawPiscina(filename: string, options: BenchOptions): Promise<CpuPoolBench> {
  const { inFlight, threads, count } = options;
  const piscina = new Piscina({ filename, maxThreads: threads, minThreads: threads });
  let latencies = new Float64Array(count);
  const measure = async (runs: number): Promise<number> => {
    let made = 0;
    let done = 0;
    latencies = new Float64Array(runs);
    const lane = async (): Promise<void> => {
      while (made < runs) {
        made++;
        const startMono = performance.now();
        await piscina.run(undefined);
        latencies[done++] = performance.now() - startMono;
      }
    };
    const startMono = performance.now();
    await Promise.all(Array.from({ length: inFlight }, lane));
    return performance.now() - startMono;
  };
  await measure(Math.min(count, 5_000));
  const cpu = process.threadCpuUsage();
  const elapsedMs = await measure(count);
  const used = process.threadCpuUsage(cpu);
  await piscina.destroy();
  return { ...summary(latencies, elapsedMs), mainUs: (used.user + used.system) / count };
}

function summary(latencies: Float64Array, elapsedMs: number): Omit<CpuPoolBench, 'mainUs'> {
  latencies.sort();
  const at = (share: number): number => latencies[Math.floor(share * (latencies.length - 1))] ?? 0;
  return { perSecond: (latencies.length / elapsedMs) * 1000, p50Ms: at(0.5), p99Ms: at(0.99) };
}
