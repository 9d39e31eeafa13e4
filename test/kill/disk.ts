/**
 * The disk is gone for a while: what is accepted stays accepted, nothing is accepted that cannot be kept, the schedule
 * goes on, and writing resumes by itself.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { journalViolations } from './journal-files.ts';
import { fileLimit, fullDisk, type Shortage } from './shortage.ts';
import { Stage, type StageOptions } from './stage.ts';
import type { Victim } from './victim.ts';
import { BEATS, taskOf } from './workload.ts';

const TRIGGERS = 50;
/** Until there is no more room, triggers go on being accepted. */
const REFUSED_LIMIT_MS = 15_000;
/** How long the disk is gone, and how many scheduled runs begin meanwhile at least. */
const OUTAGE_MS = 4000;
const FEWEST_BEATS = 6;
/** The last probe may be so far away. */
const RESUMED_LIMIT_MS = 12_000;
const SAID_LIMIT_MS = 10_000;
const AGAIN_MS = 20;
const ANSWER_MS = 1000;
const DRAIN_MS = 30_000;
const PAYLOAD = { note: 'x'.repeat(3000) };

export type DiskOptions = Omit<StageOptions, 'config'>;

export async function diskTrouble(options: DiskOptions): Promise<readonly Stage[]> {
  const stages: Stage[] = [];
  for (const shortage of [fullDisk, fileLimit]) {
    const dir = join(options.dir, shortage.name);
    const stateDir = join(dir, 'state');
    mkdirSync(dir, { recursive: true });
    const problem = shortage.prepare(stateDir);
    if (problem !== null) {
      console.log(`  (without ${shortage.name}: ${problem})`);
      continue;
    }
    const stage = new Stage({ ...options, dir });
    try {
      await outage(stage, shortage);
      await afterwards(stage);
    } catch (error) {
      stage.report({ rule: 'broken-off', text: `${(error as Error).stack}` });
    } finally {
      shortage.close(stateDir);
    }
    stages.push(stage);
  }
  return stages;
}

/** Ends with a kill. */
async function outage(stage: Stage, shortage: Shortage): Promise<void> {
  const victim = stage.spawn();
  const { figures, stateDir } = stage;
  try {
    await stage.ready(victim);
    for (let count = 0; count < TRIGGERS; count++) await stage.trigger(victim, 'wait', PAYLOAD);
    shortage.begin(stateDir, victim.pid);
    const beganAtMs = Date.now();
    const { refusedMs, accepted } = await untilRefused(stage, victim);
    figures.time(`${shortage.name}: to the first refusal`, refusedMs);
    figures.count(`${shortage.name}: accepted before it`, accepted);
    figures.count(`${shortage.name}: accepted during it`, await goOn(stage, victim));
    lookForBeats(stage, victim, beganAtMs);
    shortage.end(stateDir, victim.pid);
    figures.time(`${shortage.name}: from room to the first acknowledged`, await untilAccepted(stage, victim));
    for (let count = 0; count < TRIGGERS; count++) await stage.trigger(victim, 'wait', PAYLOAD);
    await stage.inspection.drained(victim.control, DRAIN_MS);
    await untilSaid(victim, 'journal is written again');
    lookForLines(stage, victim, shortage);
    if (!victim.alive) stage.report({ rule: 'died', text: `the daemon has ended: ${victim.stderr}` });
  } finally {
    await victim.kill();
  }
}

/** Gives how many were accepted all the same: the journal may find room within its files for a while. */
async function goOn(stage: Stage, victim: Victim): Promise<number> {
  const endMono = performance.now() + OUTAGE_MS;
  let accepted = 0;
  while (performance.now() < endMono) {
    if ((await refusal(stage, victim)) === null) accepted++;
    await passed(AGAIN_MS);
  }
  return accepted;
}

async function untilRefused(stage: Stage, victim: Victim): Promise<{ refusedMs: number; accepted: number }> {
  const startMono = performance.now();
  for (let accepted = 0; ; accepted++) {
    const code = await refusal(stage, victim);
    const refusedMs = performance.now() - startMono;
    if (code === 'store-unavailable') return { refusedMs, accepted };
    if (code !== null && code !== 'no-answer')
      stage.report({ rule: 'refused', text: `expected store-unavailable, got ${code}` });
    if (refusedMs > REFUSED_LIMIT_MS) {
      stage.report({ rule: 'accepted', text: `${accepted} triggers accepted without a disk` });
      return { refusedMs, accepted };
    }
  }
}

/** ms. */
async function untilAccepted(stage: Stage, victim: Victim): Promise<number> {
  const startMono = performance.now();
  for (;;) {
    const code = await refusal(stage, victim);
    const tookMs = performance.now() - startMono;
    if (code === null) return tookMs;
    if (tookMs > RESUMED_LIMIT_MS) {
      stage.report({ rule: 'not-resumed', text: `${code} ${Math.round(tookMs)} ms after there was room` });
      return tookMs;
    }
    await passed(AGAIN_MS);
  }
}

/** The code of it; null: it was acknowledged. One that waits for its acknowledgement may wait as long as the outage. */
async function refusal(stage: Stage, victim: Victim): Promise<string | null> {
  try {
    await stage.trigger(victim, 'wait', PAYLOAD, ANSWER_MS);
    return null;
  } catch (error) {
    if (!(error instanceof ColibriError)) throw error;
    if (error.code !== 'no-daemon') return error.code;
    if (!victim.alive) throw error;
    stage.figures.count('triggers without an answer meanwhile');
    return 'no-answer';
  }
}

function lookForBeats(stage: Stage, { pid }: Victim, sinceMs: number): void {
  stage.ledger.read();
  const beats = stage.ledger
    .begunIn(pid)
    .filter(({ run, atMs }) => atMs > sinceMs && BEATS.includes(taskOf(run)));
  stage.figures.count('scheduled runs meanwhile', beats.length);
  if (beats.length < FEWEST_BEATS) {
    stage.report({
      rule: 'stood-still',
      text: `expected ${FEWEST_BEATS} scheduled runs without a disk, got ${beats.length}`,
    });
  }
}

/** The end of a trouble is said when it has not come again for a moment. */
async function untilSaid(victim: Victim, msg: string): Promise<void> {
  const endMono = performance.now() + SAID_LIMIT_MS;
  while (victim.line(msg) === undefined && performance.now() < endMono) await passed(AGAIN_MS);
}

/** The log says once that a trouble begins, and once that it is over. */
function lookForLines(stage: Stage, { lines }: Victim, { name, steady }: Shortage): void {
  const count = (wanted: string) => lines.filter(({ msg }) => msg === wanted).length;
  const began = count('journal cannot be written');
  const ended = count('journal is written again');
  stage.figures.count(`${name}: troubles told`, began);
  if (began === ended && (steady ? began === 1 : began > 0)) return;
  const text = `expected one line for each beginning and end, got ${began} and ${ended}`;
  stage.report({ rule: 'log', text });
}

async function afterwards(stage: Stage): Promise<void> {
  const next = stage.spawn();
  try {
    await stage.ready(next);
    await stage.inspection.lookAgain(next.control);
    await stage.inspection.drained(next.control, DRAIN_MS);
  } finally {
    await next.kill();
  }
  stage.report(...journalViolations(stage.stateDir));
}
