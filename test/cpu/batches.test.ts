import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ExecuteOrder, WorkSource } from '../../src/actors/execution.ts';
import { BatchSizer } from '../../src/workers/cpu-pool/batch-size.ts';
import { Harness } from './harness.ts';

function sourceOf(tasks: readonly string[]): WorkSource {
  const queue = tasks.map(
    (task, index): ExecuteOrder => ({
      run: `${index}`,
      task,
      attempt: 1,
      handler: 'noop',
      input: '{}',
      timeoutMs: 1000,
    }),
  );
  return { peekTask: () => queue[0]?.task, take: () => queue.shift() };
}

test('a batch keeps to its budget, and what is not tiny goes alone', () => {
  const task = fc.constantFrom('unknown', 'tiny', 'small', 'long', 'distrusted');
  fc.assert(
    fc.property(fc.array(task, { maxLength: 200 }), (tasks) => {
      const sizer = new BatchSizer();
      const means: Record<string, number> = { tiny: 0.001, small: 0.2, long: 5, distrusted: 0.001 };
      for (const [name, meanMs] of Object.entries(means)) sizer.record(name, meanMs);
      sizer.distrust('distrusted');
      const source = sourceOf(tasks);
      const taken: string[] = [];
      for (;;) {
        const batch = sizer.take(source);
        if (batch.length === 0) break;
        taken.push(...batch.map((order) => order.task));
        if (batch.length === 1) continue;
        assert.ok(batch.length <= 64);
        assert.ok(batch.every((order) => order.task === 'tiny' || order.task === 'small'));
        const sum = batch.reduce((total, order) => total + (means[order.task] ?? 0), 0);
        assert.ok(sum <= 1.000_001);
      }
      assert.deepEqual(taken, tasks);
    }),
  );
});

test('the average rises fast, falls slowly, and tasks are forgotten at a bound', () => {
  const sizer = new BatchSizer();
  sizer.record('a', 0.1);
  assert.equal(sizer.tinyMs('a'), 0.1);
  sizer.record('a', 2);
  assert.equal(sizer.tinyMs('a'), undefined);
  for (let run = 0; run < 10; run++) sizer.record('a', 0.1);
  assert.ok((sizer.tinyMs('a') ?? 1) < 0.5);
  for (let task = 0; task < 1_000; task++) sizer.record(`t${task}`, 0.1);
  assert.equal(sizer.tinyMs('a'), undefined);
  sizer.distrust('t999');
  assert.equal(sizer.tinyMs('t999'), undefined);
  for (let run = 0; run < 100; run++) sizer.record('t999', 0.1);
  assert.ok(sizer.tinyMs('t999') !== undefined);
});

test('tiny runs come to travel together, long ones and new ones go alone', async (t) => {
  const harness = new Harness(t, { measured: true });
  const together = (): boolean => harness.batches.some((batch) => batch.length > 5);
  // A machine that is busy may measure a run that does nothing as long, but not every time.
  for (let round = 0; round < 100 && !together(); round++) {
    const runs: string[] = [];
    for (let index = 0; index < 40; index++) {
      runs.push(index % 20 === 0 ? harness.add('wait', { task: 'long', ms: 3 }) : harness.add('nothing'));
    }
    harness.pool.wake();
    await Promise.all(runs.map((run) => harness.outcome(run)));
  }
  assert.ok(together(), 'expected tiny runs to share a batch');
  assert.equal(harness.batches[0]?.length, 1);
  for (const batch of harness.batches) {
    if (batch.some((run) => run.startsWith('wait'))) assert.equal(batch.length, 1);
  }
});

test('a run that turns out slow does not hold back the outcomes before it', async (t) => {
  const harness = new Harness(t, { threads: 1 });
  for (const act of ['async-gate', 'block-gate']) {
    harness.makeTiny('tiny');
    const reached = Atomics.load(harness.gate, 0);
    Atomics.store(harness.gate, 1, 0);
    const first = harness.add('nothing', { task: 'tiny' });
    const value = harness.add('value', { task: 'tiny', value: 7 });
    const slow = harness.add(act, { task: 'tiny' });
    const after = harness.add('nothing', { task: 'tiny' });
    harness.pool.wake();
    await harness.reached(reached + 1);
    assert.equal((await harness.outcome(first)).status, 'success');
    // A result that is text can only leave the thread while its event loop is free.
    if (act === 'async-gate') assert.equal((await harness.outcome(value)).result, '7');
    assert.equal(harness.hasEnded(slow), false);
    assert.equal(harness.hasEnded(after), false);
    harness.openGate();
    assert.equal((await harness.outcome(value)).result, '7');
    assert.equal((await harness.outcome(slow)).status, 'success');
    assert.equal((await harness.outcome(after)).status, 'success');
    assert.equal(harness.batches.at(-1)?.length, 4);
  }
});
