import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeapDelayEngine, TIMER_CAP_MS } from '../../src/actors/delay/index.ts';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';

test('gives items out in order of their due time, never early', async () => {
  const clock = new TestClock();
  const given: [string, number][] = [];
  const engine = new HeapDelayEngine<string>({
    clock,
    now: () => clock.monoMs(),
    onDue: (item) => given.push([item, clock.monoMs()]),
  });
  engine.schedule(30, 'c');
  engine.schedule(10, 'a');
  const cancelled = engine.schedule(15, 'x');
  engine.schedule(20, 'b');
  assert.equal(engine.cancel(cancelled), true);
  assert.equal(engine.cancel(cancelled), false);
  await clock.advance(9);
  assert.deepEqual(given, []);
  await clock.advance(100);
  assert.deepEqual(given, [
    ['a', 10],
    ['b', 20],
    ['c', 30],
  ]);
  engine.close();
  assert.equal(clock.timers, 0);
});

test('no timer is longer than the cap, also for an instant 300 years away', () => {
  const delays: number[] = [];
  const clock: Clock = {
    wallMs: () => 0,
    monoMs: () => 0,
    setTimer: (delayMs) => {
      delays.push(delayMs);
      return { cancel() {}, unref() {} };
    },
  };
  const engine = new HeapDelayEngine<number>({ clock, now: () => 0, onDue: () => {} });
  engine.schedule(300 * 365.25 * 86_400_000, 1);
  engine.schedule(30 * 86_400_000, 2);
  assert.deepEqual(delays, [TIMER_CAP_MS, TIMER_CAP_MS]);
  engine.close();
});

test('a timer that wakes early gives nothing out and is armed again', () => {
  let now = 0;
  const callbacks: (() => void)[] = [];
  const clock: Clock = {
    wallMs: () => now,
    monoMs: () => now,
    setTimer: (_delayMs, callback) => {
      callbacks.push(callback);
      return { cancel() {}, unref() {} };
    },
  };
  const given: number[] = [];
  const engine = new HeapDelayEngine<number>({ clock, now: () => now, onDue: (item) => given.push(item) });
  engine.schedule(1000, 7);
  now = 998;
  callbacks.pop()?.();
  assert.deepEqual(given, []);
  now = 1000;
  callbacks.pop()?.();
  assert.deepEqual(given, [7]);
  engine.close();
});

test('an item scheduled while others are given out is given out in its turn', async () => {
  const clock = new TestClock();
  const given: number[] = [];
  const engine = new HeapDelayEngine<number>({
    clock,
    now: () => clock.monoMs(),
    onDue: (item) => {
      given.push(item);
      if (item < 5) engine.schedule(clock.monoMs() + 10, item + 1);
    },
  });
  engine.schedule(0, 1);
  await clock.advance(100);
  assert.deepEqual(given, [1, 2, 3, 4, 5]);
  engine.close();
});
