/** Makes the loads it is given until they are done or it is told to stop, and answers with the totals. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ColibriError } from '../src/actors/kernel/index.ts';
import { ControlClient } from '../src/main/cli/client.ts';
import type { Job, KeepLoad, LoadThreadData, LoadTotals, OfferLoad } from './footprint-load.ts';

const TICK_MS = 10;
const RETRY_MS = 10;

const { socketPath, loads } = workerData as LoadThreadData;
const control = new ControlClient(socketPath, { keepsConnections: true });
const totals: LoadTotals = { ended: 0, accepted: 0, refused: 0, heldBack: 0 };
let stopped = false;
parentPort!.once('message', () => {
  stopped = true;
});

async function keep({ jobs, inFlight, count = Number.POSITIVE_INFINITY }: KeepLoad): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (!stopped && begun < count) {
      const job = jobs[begun++ % jobs.length]!;
      while (!(await triggered(job, true)) && !stopped) await sleep(RETRY_MS);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

async function offer({ job, perSecond, maxOpen }: OfferLoad): Promise<void> {
  const open = new Set<Promise<unknown>>();
  const failure = Promise.withResolvers<never>();
  const startMono = performance.now();
  for (let made = 0; !stopped; ) {
    const due = Math.floor(((performance.now() - startMono) * perSecond) / 1000);
    for (; made < due; made++) {
      if (open.size >= maxOpen) {
        totals.heldBack++;
        continue;
      }
      const one: Promise<unknown> = triggered(job, false)
        .catch(failure.reject)
        .finally(() => open.delete(one));
      open.add(one);
    }
    await Promise.race([sleep(TICK_MS), failure.promise]);
  }
  await Promise.race([Promise.all(open), failure.promise]);
}

/** False where the queue was full. */
async function triggered({ task, payload }: Job, wait: boolean): Promise<boolean> {
  try {
    const body = { task, wait, ...(payload === undefined ? {} : { payload }) };
    const { ended } = (await control.post('/trigger', { body, timeoutMs: null })) as {
      readonly ended: { readonly state: string; readonly error: unknown } | null;
    };
    if (!wait) totals.accepted++;
    else if (ended?.state === 'success') totals.ended++;
    else throw new Error(`${task}: expected success, got ${ended?.state}: ${JSON.stringify(ended?.error)}`);
    return true;
  } catch (error) {
    if (!(error instanceof ColibriError) || error.code !== 'queue-full') throw error;
    totals.refused++;
    return false;
  }
}

await Promise.all(loads.map((load) => (load.kind === 'keep' ? keep(load) : offer(load))));
parentPort!.postMessage(totals);
parentPort!.close();
