import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { setLimit } from '../../src/actors/kernel/limit-timer.ts';

/** Timers come when they are made to; time goes on when it is told to. */
function standing() {
  const timers: { delayMs: number; callback: () => void; cancelled: boolean }[] = [];
  const state = { nowMono: 5000 };
  const clock: Clock = {
    wallMs: () => state.nowMono,
    monoMs: () => state.nowMono,
    setTimer(delayMs, callback) {
      const timer = { delayMs, callback, cancelled: false };
      timers.push(timer);
      const cancel = () => {
        timer.cancelled = true;
      };
      return { cancel, unref() {} };
    },
  };
  return { timers, state, clock };
}

test('in time: called back once', () => {
  const { timers, state, clock } = standing();
  let calls = 0;
  setLimit(clock, 250, () => calls++);
  state.nowMono += 300;
  timers[0]!.callback();
  assert.deepEqual([calls, timers.length], [1, 1]);
});

test('a long limit that comes late is half a second longer, not twice as long', () => {
  const { timers, state, clock } = standing();
  let calls = 0;
  setLimit(clock, 15_000, () => calls++);
  state.nowMono += 15_200;
  timers[0]!.callback();
  assert.deepEqual([calls, timers[1]?.delayMs], [0, 500]);
});

test('late, because the machine stood still: as long once more, and then however late', () => {
  const { timers, state, clock } = standing();
  let calls = 0;
  const limit = setLimit(clock, 250, () => calls++);
  state.nowMono += 1700;
  timers[0]!.callback();
  assert.deepEqual([calls, timers[1]?.delayMs], [0, 250]);
  state.nowMono += 1700;
  timers[1]!.callback();
  assert.deepEqual([calls, timers.length], [1, 2]);
  limit.cancel();
  assert.equal(timers[1]!.cancelled, true, 'the timer that is under way');
});
