/**
 * Half waits of 100 to 300 ms, half hashes, in turn, fifty in flight: each that ends brings the next. Of colibri in the
 * process that asks and of the built daemon; beside them Piscina with p-queue for the waits, and Piscina for both.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { median, rounded } from './bench-row.ts';
import { builtTargets, type Target } from './footprint-daemon.ts';
import { type Bound, type BoundedRow, figureRow, processRows } from './footprint-rows.ts';
import { boundPerMinute } from './mixed-bound.ts';
import type { KindFigures, MixedFigures, MixedOrder } from './mixed-child.ts';
import { BUDGET_MB, ContenderName, IN_FLIGHT } from './mixed-contenders.ts';
import { loadPeer } from './peers.ts';
import { runChild } from './run-child.ts';

const WAIT = { fromMs: 100, toMs: 300 } as const;
/** What a hash takes while all cores hash, and what is asked of colibri: a share of the bound. */
const WEIGHTS = [
  { name: 'light', hashMs: 3.4, share: 0.98 },
  { name: 'heavy', hashMs: 8, share: 0.95 },
] as const;
const SECONDS = { quick: 5, full: 60 } as const;

/** Of whom something is asked: those that are where Piscina is. */
const IN_PROCESS: ReadonlySet<ContenderName> = new Set([ContenderName.Library, ContenderName.BuiltIn]);

const CHILD = fileURLToPath(new URL('./mixed-child.ts', import.meta.url));
const TASK = fileURLToPath(new URL('./mixed-task.js', import.meta.url));
const CORES = availableParallelism();

export async function benchMixed(options: {
  readonly quick: boolean;
  readonly target: Target | 'both' | undefined;
}): Promise<BoundedRow[]> {
  const seconds = options.quick ? SECONDS.quick : SECONDS.full;
  const dir = mkdtempSync(join(tmpdir(), 'colibri-mixed-'));
  try {
    return await measured(dir, await contenders(options.target), seconds);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measured(
  dir: string,
  names: readonly ContenderName[],
  seconds: number,
): Promise<BoundedRow[]> {
  const rows: BoundedRow[] = [];
  for (const { name, hashMs, share } of WEIGHTS) {
    const path = join(dir, name);
    writeFileSync(path, randomBytes(await bytesFor(hashMs, path)));
    const waitMs = (WAIT.fromMs + WAIT.toMs) / 2;
    const most = boundPerMinute({ inFlight: IN_FLIGHT, cores: CORES, waitMs, hashMs });
    rows.push({
      name: `${name}: bound`,
      unit: 'tasks/min',
      value: Math.round(most),
      note: `hash ${hashMs} ms`,
    });
    const found = new Map<ContenderName, MixedFigures>();
    for (const contender of names) {
      const order: MixedOrder = { name: contender, path, seconds, wait: WAIT };
      const figures = await runChild<MixedFigures>(CHILD, [JSON.stringify(order)]);
      if (figures !== null) found.set(contender, figures);
    }
    const peerP99Ms = found.get(ContenderName.Separate)?.cpu.total.p99Ms;
    for (const [contender, figures] of found) {
      const wanted = IN_PROCESS.has(contender) ? { share, p99Ms: peerP99Ms } : null;
      rows.push(...contenderRows(`${name}, ${contender}`, figures, { most, wanted }));
    }
  }
  return rows;
}

/** Those that can be had. Peers stand between colibri's own, so that a drift of the machine shows. */
async function contenders(target: Target | 'both' | undefined): Promise<readonly ContenderName[]> {
  const targets = builtTargets(target ?? 'npm');
  return [
    ContenderName.Library,
    ContenderName.BuiltIn,
    ...((await loadPeer('p-queue')) === null ? [] : [ContenderName.Separate]),
    ContenderName.One,
    ...targets.map((built) => (built === 'npm' ? ContenderName.Npm : ContenderName.Binary)),
  ];
}

/** How large a file takes so long while all cores hash. `path`: of a file to find out with. */
async function bytesFor(hashMs: number, path: string): Promise<number> {
  const bytes = 4 * 2 ** 20;
  writeFileSync(path, randomBytes(bytes));
  const piscina = new Piscina({ filename: TASK, minThreads: CORES, maxThreads: CORES });
  const times: number[] = await Promise.all(
    Array.from({ length: 100 * CORES }, () => piscina.run({ path }) as Promise<number>),
  );
  await piscina.destroy();
  return Math.round((bytes * hashMs) / median(times.slice(times.length / 4)));
}

interface RowOptions {
  readonly most: number;
  /** What is asked of it, where something is. */
  readonly wanted: { readonly share: number; readonly p99Ms: number | undefined } | null;
}

function contenderRows(name: string, figures: MixedFigures, { most, wanted }: RowOptions): BoundedRow[] {
  const { perMinute, cpu, io, threads } = figures;
  const isBuilt = name.endsWith(ContenderName.Npm) || name.endsWith(ContenderName.Binary);
  const rate = wanted === null ? undefined : ({ atLeast: rounded(wanted.share * most) } as const);
  const p99 = wanted?.p99Ms === undefined ? undefined : ({ atMost: wanted.p99Ms } as const);
  const rss: Bound | undefined = isBuilt ? { atMost: BUDGET_MB } : undefined;
  return [
    figureRow({
      name,
      unit: 'tasks/min',
      value: perMinute,
      bound: rate,
      note: `${((100 * perMinute) / most).toFixed(1)} % of the bound, ${threads} threads hash`,
    }),
    ...kindRows(`${name}: io`, io),
    ...kindRows(`${name}: cpu`, cpu, p99),
    ...processRows(name, figures.process, { rss }).filter((row) => /RSS|anon|CPU/.test(row.name)),
  ];
}

function kindRows(name: string, kind: KindFigures, p99?: Bound): BoundedRow[] {
  const row = (what: string, key: 'total' | 'run' | 'queued', bound?: Bound) => {
    const { p50Ms, p99Ms } = kind[key];
    return figureRow({ name: `${name} ${what}`, unit: 'ms p99', value: p99Ms, median: p50Ms, bound });
  };
  return [row('from call to answer', 'total', p99), row('run', 'run'), row('queueing', 'queued')];
}
