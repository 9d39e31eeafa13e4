/** What the built daemon takes with its journal on, under runs that come over its control socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BuiltDaemon, builtTargets } from './footprint-daemon.ts';
import { startLoad } from './footprint-load.ts';
import { type BoundedRow, figureRow, MB } from './footprint-rows.ts';
import { ProcessSampler, summarise } from './sample-process.ts';

const IN_FLIGHT = 48;
const SECONDS = 20;
const QUICK_SECONDS = 3;
const RSS_MB = { atMost: 40 } as const;

export async function builtDaemonRows(quick: boolean): Promise<BoundedRow[]> {
  try {
    builtTargets('npm');
  } catch (error) {
    console.log(`  (without the built daemon: ${(error as Error).message})`);
    return [];
  }
  const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  const daemon = await BuiltDaemon.start('npm', dir, {
    store: { kind: 'sqlite', durability: 'process' },
    tasks: [{ name: 'noop', kind: 'io', handler: 'noop', overlap: 'allow' }],
  });
  const sampler = new ProcessSampler(daemon.pid);
  try {
    const load = { kind: 'keep', jobs: [{ task: 'noop' }], inFlight: IN_FLIGHT } as const;
    const running = startLoad({ socketPath: daemon.socketPath, loads: [load] });
    await sleep(1000 * (quick ? QUICK_SECONDS : SECONDS));
    const { ended } = await running.stop();
    const { rss, seconds } = summarise(sampler.since());
    return [
      figureRow({
        name: 'built daemon, durable runs over the socket: most RSS',
        unit: 'MB',
        value: rss.max / MB,
        median: rss.median / MB,
        bound: RSS_MB,
        note: `${Math.round(ended / seconds)} runs/s`,
      }),
    ];
  } finally {
    sampler.stop();
    // After a failure that is the one to tell.
    await daemon.stop().catch(() => {});
    rmSync(dir, { recursive: true, force: true });
  }
}
