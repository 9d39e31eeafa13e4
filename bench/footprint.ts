/**
 * Memory, threads and processor time of the built daemon, sampled from outside, through idling and every kind of
 * load; the time it takes to start; and beside it what others take when idle. See docs/benchmarks.md.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadedConfig, makeFileJobs } from './footprint-config.ts';
import { builtTargets, type Target } from './footprint-daemon.ts';
import { benchIdlePeers } from './footprint-peers.ts';
import type { BoundedRow } from './footprint-rows.ts';
import { allBusyScenario, everyScenario, type ScenarioOptions } from './footprint-scenarios.ts';
import { benchStart } from './footprint-start.ts';

export interface FootprintOptions {
  readonly quick: boolean;
  /** Default: both, where they are built. */
  readonly target?: Target | 'both' | undefined;
}

/**
 * Cpu threads that the config asks for, and its budget. Within the default one the governor begins as many as fit; with
 * more room, as little as lets all of them run, that many do: `busy` says of how many slots.
 */
const FORCED: readonly Pick<LoadedConfig, 'threads' | 'budgetMb'>[] = [
  { threads: 1, budgetMb: null },
  { threads: 2, budgetMb: null },
  { threads: 4, budgetMb: null },
  { threads: 2, budgetMb: 64 },
  { threads: 4, budgetMb: 80 },
];

export async function benchFootprint({ quick, target = 'both' }: FootprintOptions): Promise<BoundedRow[]> {
  const seconds = quick ? 10 : 60;
  const targets = builtTargets(target);
  const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  const rows: BoundedRow[] = [];
  try {
    const corpus = join(dir, 'corpus');
    mkdirSync(corpus);
    const jobs = makeFileJobs(corpus);
    for (const one of targets) {
      const starts = { starts: quick ? 5 : 20, coldStarts: quick ? 2 : 5 };
      rows.push(...(await benchStart({ target: one, dir, ...starts })));
      const options: ScenarioOptions = {
        target: one,
        dir,
        jobs,
        seconds,
        reloads: quick ? 100 : 1000,
        idleSeconds: quick ? 2 : 10,
      };
      rows.push(...(await everyScenario(options)));
      const auto = { threads: 'auto', budgetMb: null, whenFull: 'reject' } as const;
      rows.push(...(await allBusyScenario({ ...options, ...auto })));
      for (const forced of FORCED) {
        rows.push(...(await allBusyScenario({ ...options, ...forced, whenFull: 'block' })));
      }
    }
    rows.push(...(await benchIdlePeers(seconds)));
    return rows;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
