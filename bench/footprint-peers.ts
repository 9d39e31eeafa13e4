/** What others take when idle, each alone in a process of its own with the same runtime, sampled the same way. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CRON_TASKS, distantSchedules } from './footprint-config.ts';
import { type BoundedRow, processRows } from './footprint-rows.ts';
import { loadPeer } from './peers.ts';
import { ProcessSampler, summarise } from './sample-process.ts';

const PROGRAM = fileURLToPath(new URL('./peers/idle.mjs', import.meta.url));
const SETTLE_MS = 2000;

const PEERS: Readonly<Record<string, string>> = {
  nothing: 'the runtime alone',
  piscina: 'Piscina, two idle threads',
  croner: `croner, ${CRON_TASKS} cron entries`,
  'node-cron': `node-cron, ${CRON_TASKS} cron entries`,
};

/** All at the same time: they do nothing. */
export async function benchIdlePeers(seconds: number): Promise<BoundedRow[]> {
  for (const name of ['croner', 'node-cron']) await loadPeer(name);
  const rows = await Promise.all(
    Object.entries(PEERS).map(([name, title]) => idleRows(name, title, seconds)),
  );
  return rows.flat();
}

async function idleRows(name: string, title: string, seconds: number): Promise<BoundedRow[]> {
  const child = spawn(process.execPath, [PROGRAM, name, JSON.stringify(distantSchedules())], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    if (!Buffer.isBuffer(first)) {
      console.log(`  (without ${title}: expected a process that stays, got its end)`);
      return [];
    }
    await sleep(SETTLE_MS);
    const sampler = new ProcessSampler(child.pid!);
    await sleep(seconds * 1000);
    sampler.stop();
    return processRows(`peer ${title}, idle`, summarise(sampler.since()));
  } finally {
    await ended(child);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
