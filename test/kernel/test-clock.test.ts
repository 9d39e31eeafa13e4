/** The clock of tests, also of those of a program that has the runtime in it: in order, never back, never without end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/index.ts';

test('what is due on the way fires in order, each at its time, also what is set meanwhile', async () => {
  const clock = new TestClock(1000);
  const fired: string[] = [];
  const note = (name: string) => () => void fired.push(`${name} ${clock.wallMs()}`);
  clock.setTimer(30, note('c'));
  clock.setTimer(10, () => {
    note('a')();
    clock.setTimer(10, note('b'));
    clock.setTimer(100, note('later'));
  });
  clock.setTimer(30, note('d'));
  await clock.advance(50);
  assert.deepEqual(fired, ['a 1010', 'b 1020', 'c 1030', 'd 1030']);
  assert.deepEqual([clock.wallMs(), clock.monoMs(), clock.timers], [1050, 50, 1]);
});

test('a time that is none, or has no end, is refused and moves nothing', async () => {
  const clock = new TestClock(1000);
  clock.setTimer(5, () => assert.fail('it is not due'));
  const wrong = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '5', null, undefined, {}];
  const told = { code: 'usage', message: /expected a number of milliseconds.*, got / };
  for (const ms of wrong as number[]) {
    await assert.rejects(clock.advance(ms), told);
    for (const move of ['stepWall', 'suspend', 'stall'] as const) assert.throws(() => clock[move](ms), told);
    if (ms !== undefined) assert.throws(() => new TestClock(ms), told);
  }
  await assert.rejects(clock.advance(-1), told);
  assert.throws(() => clock.stall(-1), told);
  assert.throws(() => clock.suspend(-1), told);
  assert.deepEqual([clock.wallMs(), clock.monoMs(), clock.suspendedMs()], [1000, 0, 0]);
  clock.stepWall(-1500);
  assert.equal(clock.wallMs(), -500);
});
