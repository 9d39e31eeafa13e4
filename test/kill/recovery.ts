/** What coming back costs with ten thousand live runs: killed and started again, five times over. */
import { setTimeout as passed } from 'node:timers/promises';
import { median } from '../../bench/bench-row.ts';
import { MB } from '../../bench/footprint-rows.ts';
import { ProcessSampler, summarise } from '../../bench/sample-process.ts';
import type { StatusDocument } from '../../src/actors/control/documents.ts';
import { Stage, type StageOptions } from './stage.ts';
import type { Victim } from './victim.ts';

const LIVE_RUNS = 10_000;
const RESTARTS = 5;
const LANES = 32;
const MEDIAN_LIMIT_MS = 500;
const LOOK_MS = 50;
/** Memory is looked at for so long, once they are there. */
const SAMPLED_MS = 2000;
const SLOT_LIMIT_MS = 10_000;

export async function measureRecovery(options: Omit<StageOptions, 'config'>): Promise<Stage> {
  const stage = new Stage({
    ...options,
    config: {
      pools: { io: { slots: 1 } },
      queues: {},
      flows: [],
      // One of them holds the only slot, the others wait for it.
      tasks: [
        { name: 'slow', handler: 'sleep', with: { ms: 600_000 }, overlap: 'allow', timeout_seconds: 900 },
      ],
    },
  });
  await fill(stage);
  let most = 0;
  for (let restart = 1; restart <= RESTARTS; restart++) {
    stage.where = `restart ${restart}`;
    const victim = stage.spawn();
    try {
      await stage.ready(victim);
      const sampler = new ProcessSampler(victim.pid);
      await settled(stage, victim);
      await passed(SAMPLED_MS);
      sampler.stop();
      most = Math.max(most, summarise(sampler.since()).rss.max);
    } finally {
      await victim.kill();
    }
  }
  // The first start is the one that has nothing to take over.
  const middle = (name: string) => median(stage.figures.times(name).slice(1));
  const readyMs = middle('exec to ready');
  const limitMs = MEDIAN_LIMIT_MS + middle('meanwhile no core was free for');
  stage.figures.count('live runs', LIVE_RUNS);
  stage.figures.count('most RSS from ready on, MB', Math.round(most / MB));
  stage.where = '';
  if (readyMs > limitMs) {
    const text = `expected ready ${Math.round(limitMs)} ms after exec in the median, got ${Math.round(readyMs)}`;
    stage.report({ rule: 'late', text });
  }
  return stage;
}

/** Ends with a kill. */
async function fill(stage: Stage): Promise<void> {
  const victim = stage.spawn();
  try {
    await stage.ready(victim);
    let made = 0;
    const lane = async (): Promise<void> => {
      while (made++ < LIVE_RUNS) await stage.trigger(victim, 'slow', { note: `run ${made}` });
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  } finally {
    await victim.kill();
  }
}

/** All of them are there again, and one has a slot. */
async function settled(stage: Stage, { control }: Victim): Promise<void> {
  const { live_runs: live } = (await control.get('/status')) as StatusDocument;
  // One more dies with each restart beyond its budget of interruptions.
  if (live < LIVE_RUNS - RESTARTS || live > LIVE_RUNS) {
    stage.report({ rule: 'lost', text: `expected ${LIVE_RUNS} live runs, got ${live}` });
  }
  const endMono = performance.now() + SLOT_LIMIT_MS;
  while (performance.now() < endMono) {
    const { pools } = (await control.get('/status')) as StatusDocument;
    if (pools.some(({ active }) => active > 0)) return;
    await passed(LOOK_MS);
  }
  stage.report({ rule: 'stood-still', text: `no run has a slot ${SLOT_LIMIT_MS} ms after ready` });
}
