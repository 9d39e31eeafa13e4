/** Timeouts, aborts, drain, destroy, resize. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import { CpuPool } from '../../src/workers/cpu-pool/cpu-pool.ts';
import { fixture, Harness } from './harness.ts';

test('a run that polls or listens stops at its timeout and keeps its thread', async (t) => {
  const harness = new Harness(t, { graceMs: 10_000 });
  // The module is loaded: its time counts for the timeout, but not as duration of the handler.
  await harness.run('nothing');
  for (const act of ['poll-gate', 'signal-gate']) {
    const startMono = performance.now();
    const outcome = await harness.run(act, { timeoutMs: 60 });
    const tookMs = performance.now() - startMono;
    assert.equal(outcome.status, 'failed');
    assert.equal(outcome.error?.code, 'timeout');
    assert.ok(tookMs >= 59, `expected some 60 ms, got ${tookMs}`);
    assert.ok(outcome.durationMs < 5_000);
  }
  assert.deepEqual(harness.lost, []);
});

test('a run that is told to stop is cancelled', async (t) => {
  const harness = new Harness(t, { graceMs: 10_000 });
  let reached = 0;
  for (const act of ['poll-gate', 'signal-gate']) {
    for (const reason of ['cancel', 'shutdown'] as const) {
      const run = harness.add(act);
      harness.pool.wake();
      await harness.reached(++reached);
      assert.equal(harness.pool.abort(run, reason), true);
      assert.equal(harness.pool.abort(run, 'shutdown'), true);
      const outcome = await harness.outcome(run);
      assert.equal(outcome.status, 'cancelled');
      assert.equal(outcome.error?.code, 'cancelled');
      assert.equal(harness.pool.abort(run, reason), false);
    }
  }
  assert.deepEqual(harness.lost, []);
});

test('a run that ignores it is ended with its thread, and is cancelled all the same', async (t) => {
  const harness = new Harness(t, { threads: 1, graceMs: 30 });
  for (const [index, act] of ['spin', 'never'].entries()) {
    const run = harness.add(act);
    harness.pool.wake();
    await harness.reached(index + 1);
    assert.equal(harness.pool.abort(run, 'cancel'), true);
    assert.equal((await harness.outcome(run)).status, 'cancelled');
    assert.equal((await harness.run('nothing')).status, 'success');
    assert.equal(harness.lost.length, index + 1);
  }
});

test('a run of a batch that has not begun is cancelled at once and never begins', async (t) => {
  const harness = new Harness(t, { threads: 1, graceMs: 10_000 });
  harness.makeTiny('tiny');
  const first = harness.add('async-gate', { task: 'tiny' });
  const second = harness.add('async-gate', { task: 'tiny' });
  const third = harness.add('nothing', { task: 'tiny' });
  harness.pool.wake();
  await harness.reached(1);
  assert.equal(harness.pool.active, 3);
  assert.equal(harness.pool.abort(second, 'cancel'), true);
  assert.equal(harness.hasEnded(second), true);
  assert.equal(harness.pool.active, 2);
  harness.openGate();
  assert.equal((await harness.outcome(second)).status, 'cancelled');
  assert.equal((await harness.outcome(first)).status, 'success');
  assert.equal((await harness.outcome(third)).status, 'success');
  assert.equal(Atomics.load(harness.gate, 0), 1, 'the second run began');
  assert.equal(harness.batches.at(-1)?.length, 3);
});

test('each run of a batch has its timeout from its own start', async (t) => {
  const harness = new Harness(t, { threads: 1, graceMs: 10_000 });
  harness.makeTiny('tiny');
  const runs = Array.from({ length: 6 }, () => harness.add('wait', { task: 'tiny', ms: 60 }));
  const slow = harness.add('poll-gate', { task: 'tiny', timeoutMs: 300 });
  harness.pool.wake();
  for (const run of runs) assert.equal((await harness.outcome(run)).status, 'success');
  const outcome = await harness.outcome(slow);
  assert.equal(outcome.error?.code, 'timeout');
  // Counted from the start of the batch, its time would have been over before it began.
  assert.ok(outcome.durationMs >= 250, `${outcome.durationMs} ms`);
  assert.equal(harness.batches.at(-1)?.length, 7);
});

test('deadlines go by the clock that was injected', async (t) => {
  const clock = new TestClock();
  const harness = new Harness(t, { threads: 1, clock, graceMs: 1_000 });
  const run = harness.add('spin', { timeoutMs: 60_000 });
  harness.pool.wake();
  await harness.reached(1);
  await clock.advance(50_000);
  assert.equal(harness.hasEnded(run), false);
  // The start on the thread was some real milliseconds after it was sent.
  await clock.advance(15_000);
  assert.equal((await harness.outcome(run)).error?.code, 'timeout');
  assert.equal(harness.lost.length, 1);
  await harness.pool.destroy();
  assert.equal(clock.timers, 0);
});

test('drain takes nothing more and waits for what runs', async (t) => {
  const harness = new Harness(t);
  const running = harness.add('async-gate');
  harness.pool.wake();
  await harness.reached(1);
  let drained = false;
  const draining = harness.pool.drain().then(() => {
    drained = true;
  });
  const late = harness.add('nothing');
  harness.pool.wake();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(drained, false);
  harness.openGate();
  await draining;
  assert.equal(harness.hasEnded(running), true);
  assert.equal(harness.hasEnded(late), false);
  await harness.pool.drain();
});

test('destroy gives every order its outcome at once, twice is legal', async (t) => {
  const harness = new Harness(t, { threads: 2 });
  const runs = [harness.add('spin'), harness.add('never')];
  harness.pool.wake();
  await harness.reached(2);
  const drained = harness.pool.drain();
  const destroyed = Promise.all([harness.pool.destroy(), harness.pool.destroy()]);
  for (const run of runs) {
    assert.equal(harness.hasEnded(run), true);
    assert.equal((await harness.outcome(run)).status, 'interrupted');
  }
  await destroyed;
  await drained;
  assert.equal(harness.pool.threadCount, 0);
  assert.deepEqual(harness.lost, []);
});

test('destroy before and during the first start', async (t) => {
  const never = new Harness(t);
  await never.pool.destroy();
  assert.equal(never.piscina, null);
  const early = new Harness(t, { leavesOpen: true });
  const run = early.add('nothing');
  early.pool.wake();
  await Promise.resolve();
  await early.pool.destroy();
  assert.equal(early.hasEnded(run), false);
  assert.equal(early.pool.active, 0);
});

test('a pool that is made smaller uses fewer slots', async (t) => {
  const harness = new Harness(t, { threads: 2 });
  harness.pool.resize(1);
  assert.equal(harness.pool.slots, 1);
  harness.add('async-gate');
  const second = harness.add('async-gate');
  harness.pool.wake();
  await harness.reached(1);
  assert.equal(harness.pool.active, 1);
  assert.ok(harness.pool.busyRatio > 0);
  harness.pool.resize(100);
  assert.equal(harness.pool.slots, 2);
  await harness.reached(2);
  harness.openGate();
  assert.equal((await harness.outcome(second)).result, '"after the gate"');
});

test('a module that cannot be imported fails its run', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const order = { run: 'a', task: 'a', attempt: 1, handler: 'gone', input: '{}', timeoutMs: 1000 };
  const queue = [order];
  const pool = new CpuPool({
    workerFile: fixture('worker'),
    threads: 1,
    idleMs: 1000,
    source: { peekTask: () => queue[0]?.task, take: () => queue.pop() },
    workerData: { modules: [{ name: 'gone', file: '/nowhere/gone.ts' }] },
    clock: new TestClock(),
    onOutcome: (outcome) => resolve(outcome.error?.code ?? outcome.status),
    onLog: () => {},
    onProgress: () => {},
    onThreadStarts: () => {},
    onThreadLost: () => {},
  });
  t.after(() => pool.destroy());
  pool.wake();
  assert.equal(await promise, 'handler-not-loaded');
});
