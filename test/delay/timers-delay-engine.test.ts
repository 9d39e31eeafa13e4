import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDelayEngine } from '../../src/actors/delay/index.ts';
import type { Clock } from '../../src/actors/kernel/clock.ts';

test('an entry that waits for longer than the cap uses one timer again and again', () => {
  let nowMs = 0;
  const made: number[] = [];
  let refreshed = 0;
  let fire = (): void => {};
  const clock: Clock = {
    wallMs: () => nowMs,
    monoMs: () => nowMs,
    setTimer(delayMs, callback) {
      made.push(delayMs);
      fire = callback;
      return { cancel() {}, unref() {}, refresh: () => void refreshed++ };
    },
  };
  const given: string[] = [];
  const late: number[] = [];
  const engine = createDelayEngine<string>('timers', {
    clock,
    now: () => nowMs,
    onDue: (item) => given.push(item),
    watch: { look: (lateMs) => void late.push(lateMs), onLook() {} },
    capMs: 1000,
  });
  engine.schedule(10_500, 'a');
  for (let look = 0; look < 10; look++) {
    nowMs += 1000;
    fire();
  }
  assert.deepEqual([made, refreshed, given], [[1000, 500], 9, []]);
  nowMs += 500;
  fire();
  assert.deepEqual(given, ['a']);
  assert.deepEqual(late, new Array<number>(11).fill(0));
  engine.close();
});
