/** Random mixes of everything a handler can do: the harness checks that each order gets one outcome. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Harness } from './harness.ts';

const act = fc.oneof(
  { weight: 12, arbitrary: fc.constant('nothing') },
  { weight: 4, arbitrary: fc.constant('value') },
  { weight: 3, arbitrary: fc.constantFrom('throw', 'reject', 'throw-text', 'unclonable') },
  { weight: 3, arbitrary: fc.constant('wait') },
  { weight: 1, arbitrary: fc.constantFrom('exit', 'spin', 'stray-timer', 'stray-promise', 'never') },
);

const step = fc.record({
  act,
  task: fc.constantFrom('one', 'two', 'three'),
  abort: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  pause: fc.boolean(),
});

test('every order gets exactly one outcome, whatever is in the mix', async (t) => {
  const harness = new Harness(t, { threads: 2, graceMs: 10 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
      const runs: string[] = [];
      // Tasks that cost a thread in the round before may travel together again.
      harness.makeTiny('one');
      harness.makeTiny('two');
      for (const { act, task, abort, pause } of steps) {
        const run = harness.add(act, { task, value: 1, timeoutMs: 30 });
        runs.push(run);
        harness.pool.wake();
        if (pause) await new Promise((resolve) => setImmediate(resolve));
        if (abort) harness.pool.abort(run, 'cancel');
      }
      const outcomes = await Promise.all(runs.map((run) => harness.outcome(run)));
      for (const [index, { status, error }] of outcomes.entries()) {
        const kind = steps[index]?.act;
        if (status !== 'success') assert.ok(error !== null);
        // What escapes one run of a batch cannot be told from what escapes another.
        if (status === 'success') assert.ok(/^(nothing|value|wait|stray-promise)$/.test(kind ?? ''));
      }
      assert.equal(harness.pool.active, 0);
      assert.ok(harness.pool.threadCount <= 2);
    }),
    { numRuns: 25, endOnFailure: true },
  );
});

test('thousands of runs leave nothing behind', async (t) => {
  const harness = new Harness(t, { threads: 2 });
  const burst = async (): Promise<void> => {
    const runs: string[] = [];
    for (let index = 0; index < 2_000; index++)
      runs.push(harness.add(index % 50 === 0 ? 'throw' : 'nothing'));
    harness.pool.wake();
    await Promise.all(runs.map((run) => harness.outcome(run)));
  };
  await burst();
  const { piscina } = harness;
  assert.ok(piscina !== null);
  const count = (): number[] => [
    ...piscina.eventNames().map((name) => piscina.listenerCount(name)),
    ...piscina.threads.flatMap((thread) => thread.eventNames().map((name) => thread.listenerCount(name))),
  ];
  const before = count();
  for (let round = 0; round < 3; round++) await burst();
  assert.deepEqual(count(), before);
  assert.equal(piscina.queueSize, 0);
  assert.equal(harness.pool.active, 0);
});
