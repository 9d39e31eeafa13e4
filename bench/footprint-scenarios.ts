/**
 * What a daemon is put through while it is sampled, from its `ready` line to its end. A daemon that has to be
 * configured differently is another process.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusDocument } from '../src/actors/control/index.ts';
import { ColibriError } from '../src/actors/kernel/index.ts';
import { type FileJobs, IO_RUN_MS, IO_SLOTS, type LoadedConfig, loadedConfig } from './footprint-config.ts';
import { BuiltDaemon, type Target } from './footprint-daemon.ts';
import { type Job, type Load, type LoadTotals, startLoad } from './footprint-load.ts';
import { type BoundedRow, figureRow, type ProcessBounds, processRows } from './footprint-rows.ts';
import { ProcessSampler, summarise } from './sample-process.ts';

export interface ScenarioOptions {
  readonly target: Target;
  readonly dir: string;
  readonly jobs: FileJobs;
  /** How long each scenario is sampled. */
  readonly seconds: number;
  readonly reloads: number;
  readonly idleSeconds: number;
}

/** Between the begin of a load and the first sample that counts for it: pools and queues fill. */
const RAMP_MS = 2000;
/** After `ready`, and after idle threads have ended. */
const SETTLE_MS = 2000;
const DRAIN_LIMIT_MS = 120_000;

/** Connections: the control socket takes 64. */
const CPU_IN_FLIGHT = 24;
const IO_OPEN = 24;

const ALL_BUSY = 'all busy, queue full';

const IDLE: ProcessBounds = { rss: { atMost: 30 }, cpu: { below: 0.5 } };
/** Of the slots that a scenario is to keep busy. */
const BUSY = { atLeast: 90 } as const;
const IDLE_AGAIN: ProcessBounds = { rss: { atMost: 30 } };

/** What a daemon is configured for, beside its idle threads. */
type LoadedPart = Omit<LoadedConfig, 'idleSeconds'>;

/** By threads that the config asks for; none is set for more than four. */
function busyBounds(threads: number): ProcessBounds {
  if (threads <= 2) return { rss: { atMost: 40 } };
  return threads <= 4 ? { rss: { atMost: 48 } } : {};
}

/** One daemon through everything: idle, each kind of load, all at once, reloads, idle again. */
export async function everyScenario(options: ScenarioOptions): Promise<BoundedRow[]> {
  const { target, jobs, reloads } = options;
  const plain = { threads: 'auto', budgetMb: null, whenFull: 'block' } as const;
  return withDaemon({ ...options, name: target, ...plain }, async (measured) => {
    const bounds = busyBounds(availableParallelism());
    await sleep(SETTLE_MS);
    await measured.phase('idle, 200 cron tasks', IDLE);
    await measured.loaded('all cpu threads hash', bounds, [
      { kind: 'keep', jobs: jobs.hash, inFlight: CPU_IN_FLIGHT },
    ]);
    await measured.loaded('all cpu threads compress', bounds, [
      { kind: 'keep', jobs: jobs.compress, inFlight: CPU_IN_FLIGHT },
    ]);
    await measured.loaded(`${IO_SLOTS} io runs in flight`, bounds, [
      { kind: 'keep', jobs: [{ task: 'wait' }], inFlight: IO_SLOTS },
    ]);
    await measured.loaded(ALL_BUSY, bounds, allBusy(jobs));
    await measured.drained();
    await measured.reloaded(reloads, 'of nothing', bounds);
    await measured.reloaded(reloads, 'of another text', bounds);
    await sleep(options.idleSeconds * 1000 + SETTLE_MS);
    await measured.phase('idle again', IDLE_AGAIN);
    return bounds;
  });
}

/** A daemon that is configured for it, all busy and nothing else. */
export async function allBusyScenario(options: ScenarioOptions & LoadedPart): Promise<BoundedRow[]> {
  const { target, jobs, threads, budgetMb, whenFull } = options;
  const forced = threads === 'auto' ? '' : `, ${threads} cpu thread${threads === 1 ? '' : 's'}`;
  const room = budgetMb === null ? '' : `, budget ${budgetMb} MB`;
  return withDaemon({ ...options, name: `${target}, ${whenFull}${forced}${room}` }, async (measured) => {
    const bounds = busyBounds(threads === 'auto' ? availableParallelism() : threads);
    await sleep(SETTLE_MS);
    await measured.loaded(ALL_BUSY, bounds, allBusy(jobs));
    return bounds;
  });
}

/** The cpu pool always has work; runs of kind io are offered at ten times the rate that the slots can take. */
function allBusy(jobs: FileJobs): readonly Load[] {
  return [
    { kind: 'keep', jobs: jobs.mixed, inFlight: CPU_IN_FLIGHT },
    {
      kind: 'offer',
      job: { task: 'wait' },
      perSecond: (10 * IO_SLOTS * 1000) / IO_RUN_MS,
      maxOpen: IO_OPEN,
    },
  ];
}

type DaemonOptions = ScenarioOptions & LoadedPart & { readonly name: string };

/** Runs the scenarios, stops the daemon, and adds what it took from `ready` to its exit. */
async function withDaemon(
  options: DaemonOptions,
  scenarios: (measured: MeasuredDaemon) => Promise<ProcessBounds>,
): Promise<BoundedRow[]> {
  const { name, target, dir } = options;
  const daemon = await BuiltDaemon.start(
    target,
    join(dir, name.replaceAll(/\W+/g, '-')),
    loadedConfig(options),
  );
  const sampler = new ProcessSampler(daemon.pid);
  const measured = new MeasuredDaemon({ name, daemon, sampler, seconds: options.seconds });
  try {
    const { rss } = await scenarios(measured);
    await daemon.stop();
    return [...measured.rows, ...processRows(`${name}, ready to exit`, summarise(sampler.since()), { rss })];
  } finally {
    sampler.stop();
    // After a failure that is the one to tell.
    await daemon.stop().catch(() => {});
  }
}

type LoadedPool = 'cpu' | 'io';

export interface Looked {
  readonly ready: StatusDocument['queues'][number];
  readonly cpu: StatusDocument['pools'][number];
  readonly io: StatusDocument['pools'][number];
  readonly liveRuns: number;
}

interface MeasuredOptions {
  readonly name: string;
  readonly daemon: BuiltDaemon;
  readonly sampler: ProcessSampler;
  readonly seconds: number;
}

class MeasuredDaemon {
  readonly rows: BoundedRow[] = [];
  readonly #options: MeasuredOptions;

  constructor(options: MeasuredOptions) {
    this.#options = options;
  }

  async status(): Promise<Looked> {
    const { queues, pools, live_runs } = (await this.#options.daemon.control.get(
      '/status',
    )) as StatusDocument;
    const pool = (name: string) => pools.find((one) => one.name === name)!;
    return {
      ready: queues.find((one) => one.name === 'ready')!,
      cpu: pool('cpu'),
      io: pool('io'),
      liveRuns: live_runs,
    };
  }

  /** Samples while `work` goes on; by default, while nothing does. */
  async phase(what: string, bounds: ProcessBounds, work: Promise<unknown> = this.#pause()): Promise<void> {
    const beginMono = performance.now();
    await work;
    const name = `${this.#options.name}, ${what}`;
    this.rows.push(...processRows(name, summarise(this.#options.sampler.since(beginMono)), bounds));
  }

  /**
   * In the middle it looks at what has been busy since the beginning, so that the figures say under which load they
   * were taken.
   */
  async loaded(what: string, bounds: ProcessBounds, loads: readonly Load[]): Promise<void> {
    const { daemon, name } = this.#options;
    const load = startLoad({ socketPath: daemon.socketPath, loads });
    try {
      await Promise.race([sleep(RAMP_MS), load.finished]);
      const looks: Looked[] = [];
      const work = async (): Promise<void> => {
        for (const _half of [1, 2]) {
          looks.push(await this.status());
          await this.#pause(0.5);
        }
      };
      await this.phase(what, bounds, Promise.race([work(), load.finished]));
      const pools = [...new Set(loads.map((one) => (one.kind === 'keep' ? one.jobs[0]! : one.job)))].map(
        poolOf,
      );
      this.rows.push(
        ...loadRows(`${name}, ${what}`, { looked: looks[1]!, totals: await load.stop(), pools }),
      );
    } finally {
      await load.stop();
    }
  }

  /** Waits until nothing is left of a load. */
  async drained(): Promise<void> {
    const limitMono = performance.now() + DRAIN_LIMIT_MS;
    while ((await this.status()).liveRuns > 0) {
      if (performance.now() > limitMono)
        throw new Error('expected all runs to end within two minutes, got some left');
      await sleep(200);
    }
  }

  /**
   * As `colibri reload` asks for it, one after the other. Nothing has changed, or the file has been written anew with another
   * comment, so that all of it is read and compared.
   */
  async reloaded(
    count: number,
    what: 'of nothing' | 'of another text',
    bounds: ProcessBounds,
  ): Promise<void> {
    const { daemon, name } = this.#options;
    let written = 0;
    const reload = async (): Promise<number> => {
      if (what === 'of another text') daemon.writeConfig(`# ${++written}\n`);
      const startMono = performance.now();
      await daemon.control.post('/reload', { timeoutMs: null });
      return performance.now() - startMono;
    };
    try {
      await reload();
    } catch (error) {
      if (!(error instanceof ColibriError && error.message.startsWith('expected a known path'))) throw error;
      console.log(`  (${name}: without reloads, this daemon has no route for them)`);
      return;
    }
    let tookMs = 0;
    const all = async (): Promise<void> => {
      for (let done = 0; done < count; done++) tookMs += await reload();
    };
    const phase = `${count} reloads ${what}`;
    await this.phase(phase, bounds, all());
    this.rows.push(figureRow({ name: `${name}, ${phase}: each`, unit: 'ms', value: tookMs / count }));
  }

  #pause(share = 1): Promise<void> {
    return sleep(this.#options.seconds * 1000 * share);
  }
}

/** Of the tasks of `loadedConfig`, one waits and the others compute. */
function poolOf({ task }: Job): LoadedPool {
  return task === 'wait' ? 'io' : 'cpu';
}

export interface LoadFacts {
  readonly looked: Looked;
  readonly totals: LoadTotals;
  /** Those that the load is to keep busy. */
  readonly pools: readonly LoadedPool[];
}

/** Under which load the figures were taken: one of pools that had little to do shows nothing. */
export function loadRows(name: string, { looked, totals, pools: loaded }: LoadFacts): BoundedRow[] {
  const { ready, cpu, io } = looked;
  const pools = [cpu, io].map(({ name, slots, busy_ratio }) => {
    return `${name} ${Math.round(100 * busy_ratio)} % of ${slots} slots`;
  });
  const { ended, accepted, refused, heldBack } = totals;
  const made = `ended ${ended}, accepted ${accepted}, refused ${refused}, held back ${heldBack}`;
  const note = `of ${ready.capacity}; busy: ${pools.join(', ')}; ${made}`;
  return [
    figureRow({ name: `${name}: ready queue`, unit: 'runs', value: ready.depth, note }),
    figureRow({
      name: `${name}: busy`,
      unit: '% of slots',
      value: 100 * Math.min(...loaded.map((pool) => looked[pool].busy_ratio)),
      bound: BUSY,
    }),
  ];
}
