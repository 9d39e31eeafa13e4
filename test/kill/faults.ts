/** Each statement of the journal fails once under load: the daemon goes on, and writes again by itself. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import type { ControlClient } from '../../src/main/cli/client.ts';
import { withoutTypes } from '../support/program.ts';
import { Inbox } from './files.ts';
import { journalViolations } from './journal-files.ts';
import { Load } from './load.ts';
import type { Random } from './random.ts';
import { Stage, type StageOptions } from './stage.ts';

const PRELOAD = withoutTypes(join(import.meta.dirname, 'preload-store-faults.cts'));
/** What the daemon is told by a file: which statements fail, and how far apart. */
export interface Armed {
  /** Of a regular expression. */
  readonly meant: string;
  readonly gapMs: number;
}

/**
 * What writes fails first; what reads fails more rarely than an actor may fail without its thread being taken for lost.
 */
const PHASES: readonly Armed[] = [
  { meant: '^\\s*(INSERT|UPDATE|DELETE|REPLACE|BEGIN|COMMIT|END|SAVEPOINT|RELEASE)', gapMs: 250 },
  { meant: '^\\s*(SELECT|WITH|PRAGMA)', gapMs: 5000 },
];
/** No other statement has come for so long beyond the gap: there is none. */
const QUIET_MS = 12_000;
const LIMIT_MS = 180_000;
const ASK_MS = 300;
const AGAIN_LIMIT_MS = 15_000;
const DRAIN_MS = 30_000;
/** A journal has more than so many. */
const FEWEST = 5;

export interface FaultsOptions extends Omit<StageOptions, 'config'> {
  readonly random: Random;
}

export async function storeFaults(options: FaultsOptions): Promise<Stage> {
  const stage = new Stage(options);
  const inbox = new Inbox(stage.dir);
  const folder = join(stage.dir, 'faults');
  mkdirSync(folder);
  const victim = stage.spawn({ preloads: [PRELOAD], env: { KILL_TEST_FAULTS: folder } });
  const refusals = new Map<string, number>();
  try {
    await stage.ready(victim);
    const load = new Load({
      control: victim.control,
      random: options.random,
      inbox,
      acknowledged: stage.acknowledged,
      graphs: stage.graphs,
      refusals,
      onUnexpected: (text) => stage.report({ rule: 'refused', text }),
    });
    for (const armed of PHASES) {
      writeFileSync(join(folder, 'armed.json'), JSON.stringify(armed));
      await faultsOver(victim.control, folder, armed.gapMs + QUIET_MS);
      await acknowledgedAgain(stage);
    }
    rmSync(join(folder, 'armed.json'));
    stage.figures.count('statements that failed once', faultsIn(folder));
    await load.stop();
    if (!victim.alive) stage.report({ rule: 'died', text: `the daemon has ended: ${victim.stderr}` });
    await stage.inspection.drained(victim.control, DRAIN_MS);
    await victim.kill();
    await afterwards(stage, inbox);
  } catch (error) {
    stage.report({ rule: 'broken-off', text: `${(error as Error).stack}: ${victim.stderr}` });
  } finally {
    await victim.kill();
  }
  stage.figures.count('triggers acknowledged', stage.acknowledged.size);
  for (const [code, count] of refusals) stage.figures.count(`triggers not acknowledged: ${code}`, count);
  if (stage.figures.of('statements that failed once') < FEWEST) {
    stage.report({ rule: 'not-tried', text: `expected ${FEWEST} statements or more that fail` });
  }
  return stage;
}

/** What was acknowledged in between is there in the next life, too. */
async function afterwards(stage: Stage, inbox: Inbox): Promise<void> {
  const next = stage.spawn();
  try {
    await stage.ready(next);
    await stage.inspection.lookAgain(next.control);
    await stage.inspection.drained(next.control, DRAIN_MS);
    stage.report(...inbox.violations());
  } finally {
    await next.kill();
  }
  stage.report(...journalViolations(stage.stateDir));
}

/** Asks for what has to be read meanwhile; whether it is answered is not the point. */
async function faultsOver(control: ControlClient, folder: string, quietMs: number): Promise<void> {
  const limitMono = performance.now() + LIMIT_MS;
  let count = faultsIn(folder);
  let newMono = performance.now();
  while (performance.now() < Math.min(limitMono, newMono + quietMs)) {
    for (const path of ['/runs', '/runs/no@such', '/dead', '/size', '/status'])
      await control.get(path).catch(() => {});
    const now = faultsIn(folder);
    if (now > count) newMono = performance.now();
    count = now;
    await passed(ASK_MS);
  }
}

/** The load goes on: after the last fault, triggers are taken in again. */
async function acknowledgedAgain(stage: Stage): Promise<void> {
  const { acknowledged, figures } = stage;
  const before = acknowledged.size;
  const startMono = performance.now();
  while (acknowledged.size === before) {
    if (performance.now() - startMono > AGAIN_LIMIT_MS) {
      stage.report({
        rule: 'not-resumed',
        text: `nothing acknowledged ${AGAIN_LIMIT_MS} ms after the last fault`,
      });
      return;
    }
    await passed(ASK_MS);
  }
  figures.count('phases of faults that were got over');
}

function faultsIn(folder: string): number {
  const file = join(folder, 'faults.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}
