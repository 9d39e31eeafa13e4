import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TestClock } from '../../src/actors/kernel/index.ts';
import { FlowMeter } from '../../src/actors/runs/flow-meter.ts';
import { setup, taskSpec } from './runs-setup.ts';

test("Little's law holds: mean depth over arrivals a second is the mean wait, whatever came when", async () => {
  const runs = fc.array(fc.record({ atMs: fc.nat(20_000), waitMs: fc.nat(5000) }), {
    minLength: 1,
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(runs, async (all) => {
      const clock = new TestClock();
      const meter = new FlowMeter(clock);
      let depth = 0;
      const moves = all
        .flatMap(({ atMs, waitMs }) => [
          { atMs, arrives: true },
          { atMs: atMs + waitMs, arrives: false },
        ])
        .sort((a, b) => a.atMs - b.atMs || Number(b.arrives) - Number(a.arrives));
      let nowMs = 0;
      for (const { atMs, arrives } of moves) {
        await clock.advance(atMs - nowMs);
        nowMs = atMs;
        if (arrives) meter.arrived(++depth);
        else meter.left(--depth);
      }
      await clock.advance(1000);
      const { windowMs, arrivals, meanDepth } = meter.read();
      assert.equal(windowMs, nowMs + 1000);
      assert.equal(arrivals, all.length);
      const meanWaitMs = all.reduce((sum, run) => sum + run.waitMs, 0) / all.length;
      assert.ok(Math.abs((meanDepth / arrivals) * windowMs - meanWaitMs) < 1e-6);
    }),
    { numRuns: 50 },
  );
});

test('what is older than a minute is forgotten; the window is half a minute to a whole one', async () => {
  const clock = new TestClock();
  const meter = new FlowMeter(clock);
  meter.arrived(1);
  for (let second = 0; second < 200; second++) {
    await clock.advance(1000);
    meter.arrived(2);
    meter.left(1);
    meter.ended(40);
    const { windowMs, arrivals, ended, durationMs } = meter.read();
    assert.ok(windowMs <= 60_000 && windowMs >= Math.min(30_000, (second + 1) * 1000), `${windowMs}`);
    assert.ok(Math.abs(arrivals - windowMs / 1000) <= 2, `${arrivals} in ${windowMs}`);
    assert.equal(durationMs, ended * 40);
    assert.ok(Math.abs(meter.read().meanDepth - 1) < 0.01);
  }
});

test('after a long pause nothing is left of what came before it, but who still waits', async () => {
  const clock = new TestClock();
  const meter = new FlowMeter(clock);
  meter.arrived(1);
  meter.arrived(2);
  meter.ended(10);
  await clock.advance(3_600_000);
  const flow = meter.read();
  assert.deepEqual([flow.arrivals, flow.ended, flow.windowMs], [0, 0, 30_000]);
  assert.ok(Math.abs(flow.meanDepth - 2) < 1e-9);
});

test('the runs feed it: what became ready, how long it stood there, how long it ran', async () => {
  const { clock, pool, runs, trigger, finish } = setup([taskSpec({ name: 'a' })], { slots: 0 });
  for (let count = 0; count < 4; count++) trigger('a');
  await clock.advance(5000);
  pool.slots = 4;
  pool.wake();
  for (const { run } of [...pool.taken]) finish(run, { durationMs: 25 });
  await clock.advance(5000);
  const { arrivals, meanDepth, windowMs, ended, durationMs } = runs.figures.flow.read();
  assert.deepEqual([arrivals, windowMs, ended, durationMs], [4, 10_000, 4, 100]);
  assert.equal((meanDepth / arrivals) * windowMs, 5000);
});
