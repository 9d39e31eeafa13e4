/**
 * Delay engines beside timers of the runtime and the schedulers that others use: operations a second and bytes an entry,
 * how late things come with nothing else on the machine and with all cores busy, and what a batch threshold is worth. Each
 * measurement has a process of its own.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchRow } from './bench-row.ts';
import type { DelayOrder } from './delay-child.ts';
import { CONTENDERS, type ContenderName, TITLES } from './delay-contenders.ts';
import { type BatchPoint, delayFigure } from './delay-figure.ts';
import type { EntryBytes } from './delay-memory.ts';
import type { Rates } from './delay-rates.ts';
import { batchRow, boundRows, bytesRow, type Counted, latenessRow, rateRows } from './delay-rows.ts';
import type { LateFigures } from './lateness.ts';
import { loadPeer } from './peers.ts';
import { type ChildOptions, runChild } from './run-child.ts';
import { Spinners } from './spinners.ts';

const CHILD = fileURLToPath(new URL('./delay-child.ts', import.meta.url));
const PEER = fileURLToPath(new URL('./peers/every-second.mjs', import.meta.url));
const FIGURE = fileURLToPath(new URL('../docs/figures/delay.svg', import.meta.url));

const PEERS = ['croner', 'node-cron', 'toad-scheduler'] as const;
const ENGINES = ['heap', 'wheel', 'timers', 'poll'] as const;
/** Milliseconds. */
const BATCHES = [1, 10, 100];
const JOBS = 200;
const LOADS = ['idle', 'busy'] as const;

interface Size {
  readonly counts: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** Few and many, within those seconds. */
  readonly firings: readonly number[];
}

const FULL: Size = { counts: [10_000, 100_000, 1_000_000], rounds: 5, seconds: 10, firings: [1000, 100_000] };
const QUICK: Size = { counts: [10_000, 100_000], rounds: 1, seconds: 1, firings: [100, 10_000] };

export async function benchDelay({ quick }: { readonly quick: boolean }): Promise<BenchRow[]> {
  const size = quick ? QUICK : FULL;
  for (const peer of PEERS) await loadPeer(peer);
  const rates = await ratesOf(size);
  const bytes = await bytesOf(size);
  const lateness = await latenessRows(size);
  const { rows: batches, points } = await batchRows(size);
  const figure = quick ? join(tmpdir(), 'colibri-delay.svg') : FIGURE;
  mkdirSync(dirname(figure), { recursive: true });
  writeFileSync(figure, delayFigure(points, captionOf(size)));
  console.log(`  (the figure is ${figure})`);
  return [
    ...rates.flatMap(({ rows }) => rows),
    ...bytes.flatMap(({ rows }) => rows),
    ...boundRows(rates, bytes),
    ...lateness,
    ...batches,
  ];
}

/** Memory is counted as the daemon has it: new objects in small halves, and what is free given back. */
const COUNTED: ChildOptions = {
  flags: ['--expose-gc', '--max-semi-space-size=1'],
  env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' },
};

async function measured<Answer>(order: DelayOrder): Promise<Answer> {
  const options = order.what === 'bytes' ? COUNTED : {};
  const answer = await runChild<Answer>(CHILD, [JSON.stringify(order)], options);
  if (answer === null) throw new Error(`expected an answer to ${JSON.stringify(order)}, got an error`);
  return answer;
}

/** The heap without its fine timer is no other heap. */
const DISTINCT: readonly ContenderName[] = CONTENDERS.filter((name) => name !== 'heap-whole');

async function ratesOf({ counts, rounds }: Size): Promise<readonly Counted<Rates>[]> {
  const found: Counted<Rates>[] = [];
  for (const count of counts) {
    const of = new Map<ContenderName, Rates>();
    for (const name of DISTINCT) of.set(name, await measured({ what: 'rates', name, count, rounds }));
    found.push({
      count,
      of,
      rows: [...of].flatMap(([name, one]) => rateRows({ name, count, rates: one, of })),
    });
  }
  return found;
}

async function bytesOf({ counts }: Size): Promise<readonly Counted<EntryBytes>[]> {
  const found: Counted<EntryBytes>[] = [];
  for (const count of counts) {
    const of = new Map<ContenderName, EntryBytes>();
    for (const name of DISTINCT) of.set(name, await measured({ what: 'bytes', name, count, batchMs: 0 }));
    found.push({ count, of, rows: [...of].map(([name, bytes]) => bytesRow({ name, count, bytes, of })) });
  }
  return found;
}

async function latenessRows({ firings, seconds }: Size): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const load of LOADS) {
    const spinners = new Spinners(load === 'busy' ? availableParallelism() : 0);
    try {
      for (const many of firings) {
        const title = `${many.toLocaleString('en')} in ${seconds} s, ${load}`;
        for (const name of CONTENDERS) {
          const order = { what: 'random', name, firings: many, seconds, batchMs: 0 } as const;
          const figures = await measured<LateFigures>(order);
          rows.push(latenessRow({ name: `${TITLES[name]}: ${title}`, expected: many, figures }));
        }
      }
      rows.push(...(await everySecondRows(seconds, load)));
    } finally {
      await spinners.stop();
    }
  }
  return rows;
}

async function everySecondRows(seconds: number, load: (typeof LOADS)[number]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const title = `${JOBS} jobs each second, ${seconds} s, ${load}`;
  const expected = JOBS * seconds;
  for (const name of ['heap', 'setTimeout'] as const) {
    const figures = await measured<LateFigures>({ what: 'every-second', name, jobs: JOBS, seconds });
    rows.push(latenessRow({ name: `${TITLES[name]}: ${title}`, expected, figures }));
  }
  for (const peer of PEERS) {
    const figures = await runChild<LateFigures>(PEER, [peer, `${JOBS}`, `${seconds}`]);
    if (figures !== null) rows.push(latenessRow({ name: `${peer}: ${title}`, expected, figures }));
  }
  return rows;
}

function captionOf({ firings, seconds }: Size): string {
  const many = firings.at(-1)!.toLocaleString('en');
  const model = cpus()[0]?.model.trim() ?? 'unknown';
  return `${many} due within ${seconds} s; Node ${process.version}, ${availableParallelism()} cores (${model})`;
}

async function batchRows({ firings, seconds }: Size): Promise<{ rows: BenchRow[]; points: BatchPoint[] }> {
  const rows: BenchRow[] = [];
  const points: BatchPoint[] = [];
  const many = firings.at(-1)!;
  for (const name of ENGINES) {
    for (const batchMs of [0, ...BATCHES]) {
      const figures = await measured<LateFigures>({ what: 'random', name, firings: many, seconds, batchMs });
      const bytes = await measured<EntryBytes>({ what: 'bytes', name, count: 100_000, batchMs });
      const title = `${many.toLocaleString('en')} in ${seconds} s, ${batchMs === 0 ? 'no batches' : `batches of ${batchMs} ms`}`;
      rows.push(batchRow({ name: `${TITLES[name]}: ${title}`, figures, bytes }));
      points.push({ engine: name, batchMs, figures, bytes });
    }
  }
  return { rows, points };
}
