/**
 * What the built daemon takes with its journal on, beside the same without: 2,000 runs a second that its schedule makes, so
 * that nothing of it is due to requests.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BuiltDaemon, builtTargets } from './footprint-daemon.ts';
import { type BoundedRow, figureRow, MB } from './footprint-rows.ts';
import { ProcessSampler, summarise } from './sample-process.ts';

const TASKS = 200;
const EVERY_MS = 100;
const RUNS_A_SECOND = (TASKS * 1000) / EVERY_MS;
const SECONDS = 20;
const QUICK_SECONDS = 4;
const RSS_MB = { atMost: 40 } as const;
const STORES = ['sqlite', 'memory'] as const;

export async function builtDaemonRows(quick: boolean): Promise<BoundedRow[]> {
  try {
    builtTargets('npm');
  } catch (error) {
    console.log(`  (without the built daemon: ${(error as Error).message})`);
    return [];
  }
  const rows: BoundedRow[] = [];
  for (const kind of STORES) rows.push(...(await storeRows(kind, quick ? QUICK_SECONDS : SECONDS)));
  return rows;
}

async function storeRows(kind: (typeof STORES)[number], seconds: number): Promise<BoundedRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  const daemon = await BuiltDaemon.start('npm', dir, {
    store: { kind },
    tasks: Array.from({ length: TASKS }, (_, index) => {
      return { name: `noop-${index}`, kind: 'io', handler: 'noop', every: `${EVERY_MS}ms` };
    }),
  });
  const sampler = new ProcessSampler(daemon.pid);
  try {
    await sleep(1000 * seconds);
    const { rss, cpuShare } = summarise(sampler.since());
    const name = `built daemon, ${RUNS_A_SECOND} scheduled runs/s, store ${kind}`;
    return [
      figureRow({
        name: `${name}: most RSS`,
        unit: 'MB',
        value: rss.max / MB,
        median: rss.median / MB,
        bound: RSS_MB,
      }),
      figureRow({ name: `${name}: CPU`, unit: '% of a core', value: 100 * cpuShare }),
    ];
  } finally {
    sampler.stop();
    // After a failure that is the one to tell.
    await daemon.stop().catch(() => {});
    rmSync(dir, { recursive: true, force: true });
  }
}
