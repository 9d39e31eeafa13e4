/** Threads that are ended by what runs on them, and that are ended by the pool. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { MachineLag, threadsOfProcess } from '../support/process-facts.ts';
import { StallMeter } from '../support/stalls.ts';
import { tempDir } from '../support/temp-dir.ts';
import { fixture, Harness } from './harness.ts';

/** More than a hundred, by either slot in turn. */
const EXITS = 104;
const HEAPS = 20;
const THREADS = 2;

/** Two runs at a time lose their threads, again and again; what it left behind is looked at by the caller. */
async function loseThreads(harness: Harness, act: 'exit' | 'heap', total: number, said: RegExp) {
  await Promise.all([harness.run('wait', { ms: 30 }), harness.run('wait', { ms: 30 })]);
  assert.equal(harness.pool.threadCount, THREADS);
  const before = threadsOfProcess();
  for (let lost = 0; lost < total; lost += THREADS) {
    const outcomes = await Promise.all(Array.from({ length: THREADS }, () => harness.run(act)));
    for (const { status, error, retryable } of outcomes) {
      assert.equal(status, 'failed');
      assert.equal(error?.code, 'worker-lost');
      assert.match(error?.message ?? '', said);
      assert.equal(retryable, true);
    }
    assert.equal(harness.lost.length, lost + THREADS);
    assert.ok(harness.pool.threadCount <= THREADS);
    assert.equal(harness.pool.slots, THREADS);
  }
  await Promise.all([harness.run('wait', { ms: 30 }), harness.run('wait', { ms: 30 })]);
  assert.equal(harness.pool.threadCount, THREADS);
  assert.equal(harness.pool.stuckThreads, 0);
  const now = await fewestThreads(before);
  assert.ok(now <= before, `${now} threads, ${before} before`);
}

test('W1: process.exit in a handler, over a hundred times: each fails as worker-lost, as many threads as before', async (t) => {
  const harness = new Harness(t, { threads: THREADS });
  await loseThreads(harness, 'exit', EXITS, /exited with code: 1/);
});

test('W1: an exhausted heap, twenty times: each fails as worker-lost, as many threads as before', async (t) => {
  const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 };
  const harness = new Harness(t, { threads: THREADS, resourceLimits });
  await loseThreads(harness, 'heap', HEAPS, /memory/);
});

test('W1: a run beside one that loses its thread is not to blame for it', async (t) => {
  const harness = new Harness(t, { threads: THREADS });
  const beside = harness.run('async-gate');
  await harness.reached(1);
  for (let round = 0; round < 4; round++) {
    assert.equal((await harness.run('exit')).error?.code, 'worker-lost');
    assert.equal((await harness.run('nothing')).status, 'success');
  }
  harness.openGate();
  assert.equal((await beside).status, 'success');
});

test('of a batch whose thread is lost, what was done counts, and what had not begun is interrupted', async (t) => {
  const harness = new Harness(t, { threads: 1 });
  harness.makeTiny('tiny');
  const done = harness.add('nothing', { task: 'tiny' });
  const exits = harness.add('exit', { task: 'tiny' });
  const after = harness.add('nothing', { task: 'tiny' });
  harness.pool.wake();
  assert.equal((await harness.outcome(done)).status, 'success');
  assert.equal((await harness.outcome(exits)).error?.code, 'worker-lost');
  const interrupted = await harness.outcome(after);
  assert.equal(interrupted.status, 'interrupted');
  assert.equal(interrupted.error?.code, 'thread-lost-by-another');
  // A task that cost a thread goes alone from now on.
  const before = harness.batches.length;
  await Promise.all([harness.run('nothing', { task: 'tiny' }), harness.run('nothing', { task: 'tiny' })]);
  assert.equal(harness.batches.length, before + 2);
});

test('W2: an endless loop: slot and core are free within a second after its timeout', async (t) => {
  const harness = new Harness(t, { threads: 1, graceMs: 200 });
  await harness.run('nothing');
  const stalls = await StallMeter.start(t);
  const lag = new MachineLag();
  const startMono = performance.now();
  const outcome = await harness.run('spin', { timeoutMs: 300 });
  assert.equal(outcome.status, 'failed');
  assert.equal(outcome.error?.code, 'timeout');
  assert.equal(outcome.retryable, true);
  assert.ok(outcome.durationMs >= 495, `expected timeout and grace, got ${outcome.durationMs} ms`);
  await harness.until(() => harness.lost.length === 1);
  while (harness.pool.stuckThreads > 0) await setImmediate();
  const next = await harness.run('nothing');
  const elapsedMs = performance.now() - startMono;
  const boundMs = 1300 + lag.takenMs() + stalls.takenMs();
  assert.ok(
    elapsedMs < boundMs,
    `expected the next run to be over within ${boundMs} ms, got ${elapsedMs} ms`,
  );
  assert.equal(next.status, 'success');
  assert.equal(harness.lost.length, 1);
});

test('W3: a native call that cannot be ended holds neither its slot nor destroy', async (t) => {
  let pipe = '';
  // A writer lets the threads go on; without one the process could not end.
  t.after(() => closeSync(openSync(pipe, 'r+')));
  const harness = new Harness(t, { threads: 1, graceMs: 300 });
  pipe = join(tempDir(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  await harness.run('nothing');
  const outcome = await harness.run('native', { value: pipe, timeoutMs: 300 });
  assert.equal(outcome.error?.code, 'timeout');
  assert.equal((await harness.run('nothing')).status, 'success');
  assert.equal(harness.pool.stuckThreads, 1);
  const again = harness.add('native', { value: pipe });
  harness.pool.wake();
  await harness.reached(2);
  const stalls = await StallMeter.start(t);
  const startMono = performance.now();
  await harness.pool.destroy();
  const elapsedMs = performance.now() - startMono;
  const boundMs = 2_000 + stalls.takenMs();
  assert.ok(elapsedMs < boundMs, `expected destroy within ${boundMs} ms, took ${elapsedMs} ms`);
  assert.equal((await harness.outcome(again)).status, 'interrupted');
});

test('W6: an error from a timer or a promise nobody waits for is the failure of the run that left it', async (t) => {
  const harness = new Harness(t);
  const acts = { 'stray-timer': 'thrown in a timer', 'stray-promise': 'nobody waits for this' };
  let lost = 0;
  for (const [act, message] of Object.entries(acts)) {
    const outcome = await harness.run(act);
    assert.equal(outcome.status, 'failed');
    assert.equal(outcome.error?.code, 'handler-failed');
    assert.match(outcome.error?.message ?? '', new RegExp(`wait for all it starts.*${message}`));
    lost++;
    await harness.until(() => harness.lost.length === lost);
    assert.equal((await harness.run('nothing')).status, 'success');
  }
  assert.equal(harness.lost.length, lost);
});

test('what escapes one run of a batch costs a thread, and the task goes alone from then on', async (t) => {
  const harness = new Harness(t);
  harness.makeTiny('tiny');
  const acts = ['nothing', 'stray-promise', 'value'];
  const runs = acts.map((act) => harness.add(act, { task: 'tiny', value: 1 }));
  harness.pool.wake();
  for (const run of runs) assert.equal((await harness.outcome(run)).status, 'success');
  await harness.until(() => harness.lost.length === 1);
  assert.match(harness.lost[0]?.message ?? '', /nobody waits for this/);
  assert.equal(harness.batches.length, 1);
  const alone = await harness.run('stray-promise', { task: 'tiny' });
  assert.match(alone.error?.message ?? '', /nobody waits for this/);
});

test('what escapes between two runs costs a thread but no run', async (t) => {
  const harness = new Harness(t);
  for (const [index, act] of ['late-stray', 'late-exit'].entries()) {
    Atomics.store(harness.gate, 1, 0);
    assert.equal((await harness.run(act)).result, '"done before"');
    harness.openGate();
    await harness.until(() => harness.lost.length === index + 1);
    await harness.threadsEnded();
    assert.equal((await harness.run('nothing')).status, 'success');
  }
  assert.match(harness.lost[0]?.message ?? '', /thrown after the run/);
  assert.match(harness.lost[1]?.message ?? '', /process\.exit\(3\)/);
});

test('a thread that cannot start gives its order back and is not tried in a loop', async (t) => {
  const harness = new Harness(t, { workerFile: fixture('broken-worker'), threads: 2 });
  const outcomes = await Promise.all([harness.run('nothing'), harness.run('nothing')]);
  for (const outcome of outcomes) assert.equal(outcome.status, 'interrupted');
  harness.add('nothing');
  harness.pool.wake();
  await Promise.resolve();
  assert.equal(harness.pool.active, 0);
  assert.ok(harness.logs.some((record) => /next try in \d+ ms/.test(record.msg)));
});

test('W4: bursts with idle gaps, ten times: the number of threads returns to its floor each time', async (t) => {
  const harness = new Harness(t, { threads: THREADS, idleMs: 5 });
  const floor: number[] = [];
  for (let burst = 0; burst < 10; burst++) {
    const runs = Array.from({ length: 30 }, (_, index) => harness.run(index % 3 === 0 ? 'wait' : 'nothing'));
    await Promise.all(runs);
    assert.ok(harness.pool.threadCount <= THREADS);
    await harness.threadsEnded();
    floor.push(await fewestThreads(floor[0]));
  }
  // The first burst starts the threads that the runtime itself keeps.
  assert.ok(Math.max(...floor) <= floor[0]!, `${floor}`);
  assert.equal(harness.pool.threadCount, 0);
  assert.deepEqual(harness.lost, []);
});

/** Threads of this process, once they are no more than `atMost` or 5 s later: the kernel is told after the pool. */
async function fewestThreads(atMost = 0): Promise<number> {
  const endMono = performance.now() + (atMost === 0 ? 50 : 5000);
  let fewest = threadsOfProcess();
  while (fewest > atMost && performance.now() < endMono) {
    await setImmediate();
    fewest = Math.min(fewest, threadsOfProcess());
  }
  return fewest;
}
