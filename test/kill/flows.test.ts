/** Flows at random under a daemon that is killed and started again; `npm run test:kill` has them among all else. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import type { StatusDocument } from '../../src/actors/control/documents.ts';
import { CANCELLED, flowConfig, orderViolations, randomGraphs } from './graphs.ts';
import { cancel } from './load.ts';
import { buildProgram } from './program.ts';
import { Random } from './random.ts';
import { Stage } from './stage.ts';
import type { Victim } from './victim.ts';
import { workload } from './workload.ts';

const KILLS = 1;
const RUNS_A_LIFE = 6;
const LATEST_MS = 150;
const LOOK_MS = 50;
const DRAIN_MS = 30_000;

/** Nothing is live, or it takes too long. */
async function idle({ control }: Victim): Promise<void> {
  const endMono = performance.now() + DRAIN_MS;
  while (performance.now() < endMono) {
    const { live_runs: live } = (await control.get('/status')) as StatusDocument;
    if (live === 0) return;
    await passed(LOOK_MS);
  }
}

test('flows at random, under a daemon that is killed: each step ends with a reason, none too soon, none twice', {
  timeout: 110_000,
}, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = new Random(seed);
  const dir = mkdtempSync(join(tmpdir(), 'colibri-kill-'));
  const store = { kind: 'sqlite', durability: 'process' } as const;
  const graphs = randomGraphs(random, { count: 3, most: 7 });
  const names = new Set(graphs.flatMap(({ steps }) => steps.map(({ task }) => task)));
  const { tasks } = workload({ ledger: join(dir, 'ledger.txt'), store, graphs });
  const stage = new Stage({
    dir,
    program: await buildProgram(join(dir, 'installed')),
    store,
    graphs,
    config: {
      tasks: tasks.filter((task) => names.has((task as { readonly name: string }).name)),
      flows: graphs.map(flowConfig),
    },
  });
  const { inspection, ledger, acknowledged } = stage;
  for (let life = 0; life <= KILLS; life++) {
    stage.where = `life ${life + 1}`;
    const victim = stage.spawn();
    try {
      await stage.ready(victim);
      await inspection.afterStart(victim.control, victim.spawnedAtMs);
      if (life < KILLS) {
        for (let count = 0; count < RUNS_A_LIFE; count++) {
          const run = await stage.trigger(victim, random.pick(graphs).flow);
          if (random.between(1, 100) > CANCELLED) continue;
          stage.acknowledged.cancelled.add(run);
          await cancel(victim.control, run);
        }
        await passed(random.between(0, LATEST_MS));
      } else {
        await idle(victim);
        await inspection.drained(victim.control, DRAIN_MS);
        await inspection.flows(victim.control);
        stage.report(...orderViolations(graphs, ledger.lines));
      }
    } finally {
      await victim.kill();
    }
  }
  const told = `seed ${seed}, evidence in ${dir}\n${stage.figures.lines().join('\n')}`;
  assert.deepEqual(stage.violations, [], told);
  assert.equal(inspection.flowsSeen, acknowledged.size, told);
  assert.equal(acknowledged.size, KILLS * RUNS_A_LIFE);
  rmSync(dir, { recursive: true, force: true });
});
