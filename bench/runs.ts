/**
 * No-op runs end to end: trigger → ready → a slot → the handler on its thread → outcome → store → answer. Beside
 * them, raw Piscina with its default options, and for io p-queue, which has no thread to cross and nothing to keep, in
 * the same process. The contenders alternate; medians are shown.
 */
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { startBenchDaemon } from './bench-daemon.ts';
import { type BenchRow, median, rounded } from './bench-row.ts';
import { closedLoop, type LoopFigures } from './closed-loop.ts';
import { loadPeer } from './peers.ts';

/** What is used of p-queue. */
interface PromiseQueue {
  add(work: () => Promise<unknown>): Promise<unknown>;
}

const IN_FLIGHT = [1, 64, 1024] as const;
/** Of each contender. */
const WARM_UP_MS = 2000;

export async function benchRuns(options: { readonly quick: boolean }): Promise<BenchRow[]> {
  const rounds = options.quick ? 1 : 5;
  const { daemon, close } = await startBenchDaemon({
    defaults: { max_retry: 0 },
    // As many slots as the deepest load: it is the way of a run that is measured, not the waiting for a slot.
    pools: { io: { slots: 1000 } },
    tasks: [
      { name: 'cpu-noop', kind: 'cpu', handler: 'noop', overlap: 'allow' },
      { name: 'io-noop', kind: 'io', handler: 'noop', overlap: 'allow' },
    ],
  });
  const piscina = new Piscina({ filename: fileURLToPath(new URL('./noop-task.js', import.meta.url)) });
  const trigger = (task: string) => () =>
    daemon.runs.ask(
      'trigger',
      { task, payload: null, force: false, wait: true, dueAtMs: null },
      { timeoutMs: null },
    );
  const peer = (await loadPeer('p-queue')) as { readonly default: new () => PromiseQueue } | null;
  const queue = peer === null ? null : new peer.default();
  const contenders = {
    'cpu runs': trigger('cpu-noop'),
    'io runs': trigger('io-noop'),
    piscina: () => piscina.run(0),
    ...(queue === null ? {} : { 'p-queue': () => queue.add(async () => null) }),
  };
  const rows: BenchRow[] = [];
  try {
    for (const call of Object.values(contenders)) await warmUp(call);
    for (const inFlight of IN_FLIGHT) {
      const count = (inFlight === 1 ? 5_000 : 100_000) / (options.quick ? 5 : 1);
      const found = new Map<string, LoopFigures[]>();
      for (let round = 0; round < rounds; round++) {
        for (const [name, call] of Object.entries(contenders)) {
          const figures = await closedLoop({ inFlight, count: name === 'piscina' ? count / 2 : count, call });
          found.set(name, [...(found.get(name) ?? []), figures]);
        }
      }
      const middle = (name: string, key: keyof LoopFigures) =>
        median(found.get(name)!.map((figures) => figures[key]));
      for (const name of found.keys()) {
        for (const [key, unit] of [
          ['perSecond', 'runs/s'],
          ['p50Ms', 'ms p50'],
          ['p99Ms', 'ms p99'],
        ] as const) {
          const value = middle(name, key);
          const ratio = name === 'piscina' ? {} : { ratio: value / middle('piscina', key) };
          rows.push({ name: `${name}, ${inFlight} in flight`, unit, value: rounded(value), ...ratio });
        }
      }
    }
  } finally {
    await piscina.destroy();
    await close();
  }
  return rows;
}

/** A governed daemon has its compilers on once there were many runs for a whole second. */
async function warmUp(call: () => Promise<unknown>): Promise<void> {
  const endMono = performance.now() + WARM_UP_MS;
  do await closedLoop({ inFlight: 64, count: 10_000, call });
  while (performance.now() < endMono);
}
