/** Threads that are ended by what runs on them, and that are ended by the pool. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../support/temp-dir.ts';
import { fixture, Harness } from './harness.ts';

const EXITS = 20;
const HEAPS = 8;

test('process.exit in a handler fails that run alone, each time', async (t) => {
  const harness = new Harness(t);
  for (let round = 1; round <= EXITS; round++) {
    const runs = [harness.run('nothing'), harness.run('nothing')];
    const outcome = await harness.run('exit');
    assert.equal(outcome.status, 'failed');
    assert.equal(outcome.error?.code, 'worker-lost');
    assert.match(outcome.error?.message ?? '', /exited with code: 1/);
    assert.equal(outcome.retryable, true);
    for (const run of runs) assert.equal((await run).status, 'success');
    assert.equal(harness.lost.length, round);
    assert.ok(harness.pool.threadCount <= 2);
    assert.equal(harness.pool.slots, 2);
  }
  assert.equal((await harness.run('nothing')).status, 'success');
});

test('an exhausted heap fails that run alone, each time', async (t) => {
  const resourceLimits = { maxOldGenerationSizeMb: 10, maxYoungGenerationSizeMb: 1 };
  const harness = new Harness(t, { resourceLimits });
  for (let round = 1; round <= HEAPS; round++) {
    const outcome = await harness.run('heap');
    assert.equal(outcome.error?.code, 'worker-lost');
    assert.match(outcome.error?.message ?? '', /memory/);
    assert.equal(harness.lost.length, round);
    assert.ok(harness.pool.threadCount <= 2);
  }
  assert.equal((await harness.run('nothing')).status, 'success');
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
  assert.equal(interrupted.error?.code, 'thread-lost');
  // A task that cost a thread goes alone from now on.
  const before = harness.batches.length;
  await Promise.all([harness.run('nothing', { task: 'tiny' }), harness.run('nothing', { task: 'tiny' })]);
  assert.equal(harness.batches.length, before + 2);
});

test('an endless loop is ended after its timeout, and its slot and core are free', async (t) => {
  const harness = new Harness(t, { threads: 1, graceMs: 100 });
  await harness.run('nothing');
  const startMono = performance.now();
  const outcome = await harness.run('spin', { timeoutMs: 200 });
  const elapsedMs = performance.now() - startMono;
  assert.equal(outcome.status, 'failed');
  assert.equal(outcome.error?.code, 'timeout');
  assert.equal(outcome.retryable, true);
  assert.ok(outcome.durationMs >= 295, `expected timeout and grace, got ${outcome.durationMs} ms`);
  assert.ok(elapsedMs < 2_000, `expected the slot within 2 s, got ${elapsedMs} ms`);
  assert.equal((await harness.run('nothing')).status, 'success');
  assert.equal(harness.lost.length, 1);
  await harness.pool.destroy();
  assert.equal(harness.pool.stuckThreads, 0);
});

test('a native call that cannot be ended holds neither its slot nor destroy', async (t) => {
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
  const startMono = performance.now();
  await harness.pool.destroy();
  const elapsedMs = performance.now() - startMono;
  assert.ok(elapsedMs < 2_000, `expected destroy within its bound, took ${elapsedMs} ms`);
  assert.equal((await harness.outcome(again)).status, 'interrupted');
});

test('an error from a timer or a promise nobody waits for is the failure of the run that left it', async (t) => {
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
    assert.equal((await harness.run(act)).result, '"done before"');
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

test('threads end when idle, burst after burst', async (t) => {
  const harness = new Harness(t, { idleMs: 5 });
  for (let burst = 0; burst < 10; burst++) {
    const runs = Array.from({ length: 30 }, (_, index) => harness.run(index % 3 === 0 ? 'wait' : 'nothing'));
    await Promise.all(runs);
    assert.ok(harness.pool.threadCount <= 2);
    await harness.threadsEnded();
  }
  assert.deepEqual(harness.lost, []);
});
