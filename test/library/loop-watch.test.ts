/** Who held the event loop: the function that was called, or all that are in flight. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/index.ts';
import { type HeldFields, LoopWatch } from '../../src/workers/inline-pool/loop-watch.ts';

function setUp() {
  const clock = new TestClock();
  const told: HeldFields[] = [];
  const watch = new LoopWatch((_msg, fields) => told.push(fields), clock);
  const order = (task: string) => ({
    run: `${task}@1`,
    task,
    attempt: 1,
    handler: task,
    input: '{}',
    timeoutMs: 1,
  });
  return { clock, told, watch, order };
}

test('a call that holds the loop is named with its run, once', async () => {
  const { clock, told, watch, order } = setUp();
  const [quick, slow] = [order('quick'), order('slow')];
  watch.call(quick, () => clock.stall(199));
  watch.call(slow, () => clock.stall(250));
  await clock.advance(500);
  watch.ended(slow);
  watch.ended(quick);
  assert.deepEqual(told, [{ task: 'slow', run: 'slow@1', held_ms: 250 }]);
  assert.equal(clock.timers, 0, 'nothing looks while nothing is in flight');
});

test('a call that throws is told too', () => {
  const { clock, told, watch, order } = setUp();
  assert.throws(() =>
    watch.call(order('fails'), () => {
      clock.stall(300);
      throw new Error('no');
    }),
  );
  assert.equal(told.length, 1);
});

test('after an await, the only one in flight is named; of several, all', async () => {
  const { clock, told, watch, order } = setUp();
  const [one, two] = [order('one'), order('two')];
  watch.call(one, () => {});
  await clock.advance(1000);
  assert.deepEqual(told, []);
  clock.stall(700);
  // It ends in the turn in which it held the loop: no timer has fired.
  watch.ended(one);
  assert.deepEqual(told, [{ task: 'one', held_ms: 600 }]);
  watch.call(one, () => {});
  watch.call(two, () => {});
  clock.stall(900);
  await clock.advance(0);
  assert.deepEqual(told[1], { tasks: 'one, two', of: 2, held_ms: 800 });
  await clock.advance(1000);
  assert.equal(told.length, 2);
});
