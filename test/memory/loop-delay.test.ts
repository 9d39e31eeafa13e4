import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopDelaySampler, TestClock } from '../../src/actors/kernel/index.ts';

/** A thread whose loop is busy for `share` of the time; `armed` are the delays of its timers. */
function rig() {
  const clock = new TestClock();
  const state = { share: 0, activeMs: 0, lateMs: 0, armed: [] as number[] };
  const counted = {
    wallMs: () => clock.wallMs(),
    monoMs: () => clock.monoMs(),
    setTimer(delayMs: number, callback: () => void) {
      state.armed.push(delayMs);
      return clock.setTimer(delayMs + state.lateMs, () => {
        state.activeMs += state.share * (delayMs + state.lateMs);
        callback();
      });
    },
  };
  const sampler = new LoopDelaySampler(counted, () => state.activeMs);
  return { clock, sampler, state };
}

test('an idle thread is woken once a second, in the middle of it, a busy one ten times', async () => {
  const { clock, sampler, state } = rig();
  sampler.start();
  sampler.start();
  await clock.advance(10_000);
  assert.deepEqual(state.armed.slice(0, 7), [100, 200, 400, 800, 1000, 1000, 1000]);
  clock.stepWall(700);
  await clock.advance(2000);
  assert.deepEqual(state.armed.slice(-2), [1300, 1000], 'also after the clock was set');
  state.share = 0.05;
  await clock.advance(2000);
  state.armed.length = 0;
  await clock.advance(1000);
  assert.deepEqual(state.armed, Array(10).fill(100));
  state.share = 0.005;
  await clock.advance(5000);
  assert.equal(state.armed.at(-1), 1000, 'what only beats is not busy');
  sampler.stop();
  assert.equal(clock.timers, 0);
});

test('begun again, it looks often until it knows that there is nothing to do', async () => {
  const { clock, sampler, state } = rig();
  sampler.start();
  await clock.advance(10_000);
  sampler.stop();
  state.activeMs += 1e6;
  state.armed.length = 0;
  sampler.start();
  await clock.advance(250);
  assert.deepEqual(state.armed, [100, 200]);
  sampler.stop();
});

test('it tells how late timers fired since the last look, whatever their distance', async () => {
  const { clock, sampler, state } = rig();
  sampler.start();
  await clock.advance(5000);
  sampler.look();
  state.lateMs = 30;
  await clock.advance(20_000);
  assert.deepEqual(sampler.look(), { p50: 0.03, p99: 0.03, max: 0.03 });
  assert.deepEqual(sampler.look(), { p50: 0, p99: 0, max: 0 });
  sampler.stop();
});

test('by the loop of this thread: a block is seen once the thread is busy', async () => {
  const clock = { wallMs: Date.now, monoMs: () => performance.now(), setTimer: realTimer };
  const sampler = new LoopDelaySampler(clock);
  sampler.start();
  const seen = new Promise<number>((resolve) => {
    const block = (): void => {
      const endMono = performance.now() + 80;
      while (performance.now() < endMono);
      const { max } = sampler.look();
      if (max >= 0.03) resolve(max);
      else setImmediate(block);
    };
    block();
  });
  assert.ok((await seen) < 60);
  sampler.stop();
});

function realTimer(delayMs: number, callback: () => void) {
  const timer = setTimeout(callback, delayMs);
  return { cancel: () => clearTimeout(timer), unref: () => void timer.unref() };
}
