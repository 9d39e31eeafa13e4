/**
 * Bursts of runs that do nothing, with gaps in which the cpu threads end: what is left in memory, and how many
 * threads, after each gap. Through the built daemon, sampled from outside.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './bench-row.ts';
import { cronTasks } from './footprint-config.ts';
import { BuiltDaemon, builtTargets, type Target } from './footprint-daemon.ts';
import { startLoad } from './footprint-load.ts';
import { type BoundedRow, figureRow, MB } from './footprint-rows.ts';
import { ProcessSampler, sampleProcess } from './sample-process.ts';

export interface SoakOptions {
  readonly quick: boolean;
  /** Of each target; it takes longer where the machine cannot make the runs in that time. */
  readonly minutes: number;
  /** Default: npm. */
  readonly target?: Target | 'both' | undefined;
}

const IDLE_SECONDS = 1;
/** A gap is never shorter: the threads have ended, and what ends after them has too. */
const MIN_GAP_MS = 5 * IDLE_SECONDS * 1000;
const LOOK_MS = 1000;
const IN_FLIGHT = 48;
/**
 * Before the first look: what is kept by a bound, such as ended runs, has reached it then, and what runs often is compiled.
 * On a fast machine 12,000 are over before the compilers have begun, and 1.4 MB of code and of its feedback come after them.
 */
const WARM_UP_RUNS = 30_000;
/** 200,000 in ten minutes. */
const RUNS_PER_BURST = 10_000;
const BURST_EVERY_MS = 30_000;
const GROWTH_RUNS = 200_000;
const GROWTH_MB = { below: 1 } as const;

/** After a gap. */
interface Look {
  /** Since the first look. */
  readonly runs: number;
  readonly anon: number;
  readonly threads: number;
}

export async function benchSoak({ quick, minutes, target = 'npm' }: SoakOptions): Promise<BoundedRow[]> {
  const bursts = quick ? 4 : Math.max(2, Math.round((minutes * 60_000) / BURST_EVERY_MS));
  const pace = quick ? { runs: 2500, everyMs: 8000 } : { runs: RUNS_PER_BURST, everyMs: BURST_EVERY_MS };
  const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  try {
    const rows: BoundedRow[] = [];
    for (const one of builtTargets(target))
      rows.push(...(await soak(one, join(dir, one), { bursts, ...pace })));
    return rows;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Pace {
  readonly bursts: number;
  readonly runs: number;
  readonly everyMs: number;
}

async function soak(target: Target, dir: string, { bursts, runs, everyMs }: Pace): Promise<BoundedRow[]> {
  const daemon = await BuiltDaemon.start(target, dir, {
    pools: { cpu: { idle_seconds: IDLE_SECONDS } },
    tasks: [
      ...cronTasks(),
      { name: 'cpu', kind: 'cpu', handler: 'noop', overlap: 'allow' },
      { name: 'io', kind: 'io', handler: 'noop', overlap: 'allow' },
    ],
  });
  const sampler = new ProcessSampler(daemon.pid);
  try {
    await sleep(MIN_GAP_MS);
    const floor = sampleProcess(daemon.pid)!.threads;
    await burstAndGap(daemon, WARM_UP_RUNS, everyMs);
    const looks = [lookAt(sampler, 0)];
    for (let count = 1; count <= bursts; count++) {
      await burstAndGap(daemon, runs, everyMs);
      looks.push(lookAt(sampler, count * runs));
    }
    await daemon.stop();
    return soakRows(target, looks, floor);
  } finally {
    sampler.stop();
    // After a failure that is the one to tell.
    await daemon.stop().catch(() => {});
  }
}

/** The gap fills what the burst has left of `everyMs`. */
async function burstAndGap(daemon: BuiltDaemon, runs: number, everyMs: number): Promise<void> {
  const startMono = performance.now();
  await burst(daemon, runs);
  await sleep(Math.max(MIN_GAP_MS, everyMs - (performance.now() - startMono)));
}

/** As many of kind cpu as of kind io, each waited for. */
async function burst(daemon: BuiltDaemon, runs: number): Promise<void> {
  const jobs = [{ task: 'cpu' }, { task: 'io' }];
  const load = { kind: 'keep', jobs, inFlight: IN_FLIGHT, count: runs } as const;
  const { ended } = await startLoad({ socketPath: daemon.socketPath, loads: [load] }).finished;
  if (ended !== runs) throw new Error(`expected ${runs} runs to end with success, got ${ended}`);
}

/** Throws where the daemon has ended. */
function lookAt(sampler: ProcessSampler, runs: number): Look {
  const samples = sampler.since(performance.now() - LOOK_MS);
  const last = samples.at(-1);
  if (last === undefined) throw new Error('expected the daemon to live, got no sample of it');
  return { runs, anon: median(samples.map(({ anon }) => anon)), threads: last.threads };
}

function soakRows(target: Target, looks: readonly Look[], floor: number): BoundedRow[] {
  const [first, last] = [looks[0]!, looks.at(-1)!];
  const growth = slope(looks.map(({ runs, anon }) => ({ x: runs, y: anon / MB })));
  const anons = looks.map(({ anon }) => anon);
  const apart = (Math.max(...anons) - Math.min(...anons)) / MB;
  const name = (what: string) => `${target}, ${last.runs} runs in ${looks.length - 1} bursts: ${what}`;
  return [
    figureRow({ name: name('anon after the warm-up'), unit: 'MB', value: first.anon / MB }),
    figureRow({
      name: name('anon after the last gap'),
      unit: 'MB',
      value: last.anon / MB,
      note: `after each: ${anons.map((anon) => (anon / MB).toFixed(1)).join(' ')}`,
    }),
    figureRow({ name: name('slope of anon'), unit: 'MB / 100,000 runs', value: growth * 100_000 }),
    figureRow({
      name: name('growth of anon'),
      unit: 'MB / 200,000 runs',
      value: growth * GROWTH_RUNS,
      bound: GROWTH_MB,
      note: `the gaps lie up to ${apart.toFixed(1)} MB apart`,
    }),
    figureRow({
      name: name('most threads after a gap'),
      unit: 'threads',
      value: Math.max(...looks.map(({ threads }) => threads)),
      bound: { atMost: floor },
      note: `after each: ${looks.map(({ threads }) => threads).join(' ')}`,
    }),
  ];
}

/** Of the straight line that fits best, by least squares; NaN for fewer than two points. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (key: 'x' | 'y') => points.reduce((sum, point) => sum + point[key], 0) / points.length;
  const [meanX, meanY] = [mean('x'), mean('y')];
  let over = 0;
  let under = 0;
  for (const { x, y } of points) {
    over += (x - meanX) * (y - meanY);
    under += (x - meanX) ** 2;
  }
  return over / under;
}
