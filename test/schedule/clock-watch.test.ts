/** What the watch makes of two clocks: each kind of jump, told apart from the others, with its size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/actors/kernel/clock.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { ClockJump } from '../../src/actors/views/runtime-view.ts';
import { ClockWatch, JUMP_MS } from '../../src/main/schedule/clock-watch.ts';

function watched(clock = new TestClock()) {
  const jumps: [ClockJump, number][] = [];
  const watch = new ClockWatch(clock, (kind, sizeMs) => jumps.push([kind, sizeMs]));
  return { clock, watch, jumps, startMs: clock.wallMs() };
}

test('time that only passes is nothing to tell', async () => {
  const { clock, watch, jumps, startMs } = watched();
  await clock.advance(15_000);
  assert.deepEqual(watch.look(0.7), {
    wallMs: startMs + 15_000,
    passedMs: 15_000,
    stepMs: 0,
    moved: false,
  });
  assert.deepEqual(jumps, []);
});

test('a step forward, a step back, a suspend and a stall are told apart, with their sizes', async () => {
  const { clock, watch, jumps, startMs } = watched();
  await clock.advance(5000);
  clock.stepWall(3_600_000);
  assert.deepEqual(watch.look(0), {
    wallMs: startMs + 3_605_000,
    passedMs: 5000,
    stepMs: 3_600_000,
    moved: true,
  });
  clock.stepWall(-86_400_000);
  assert.equal(watch.look(0).stepMs, -86_400_000);
  clock.suspend(420_000);
  await clock.advance(1000);
  const { passedMs, stepMs, moved } = watch.look(0);
  assert.deepEqual(
    [passedMs, stepMs, moved],
    [421_000, 0, true],
    'the machine has slept: that time has passed',
  );
  clock.stall(8000);
  assert.equal(watch.look(8000).stepMs, 0);
  assert.deepEqual(jumps, [
    ['forward', 3_600_000],
    ['backward', 86_400_000],
    ['suspend', 420_000],
    ['stall', 8000],
  ]);
  assert.deepEqual(watch.counts, { forward: 1, backward: 1, suspend: 1, stall: 1 });
  watch.look(0);
  assert.equal(jumps.length, 4, 'each is told once');
});

test('of several timers that are late for one reason the first tells, with what it saw of it', async () => {
  const { clock, watch, jumps } = watched();
  await clock.advance(5000);
  watch.look(0);
  clock.stall(60_000);
  // One was to fire 3 s before that look, which the process was free to do; one 5 s after.
  watch.look(63_000);
  watch.look(55_000);
  await clock.advance(500);
  watch.look(55_000);
  assert.deepEqual(jumps, [['stall', 60_000]]);
});

test('all who listen are told of each look, whoever looks', async () => {
  const { clock, watch } = watched();
  const seen: [number, boolean][] = [];
  watch.onLook(({ stepMs, moved }) => seen.push([stepMs, moved]));
  watch.onLook(({ stepMs, moved }) => seen.push([stepMs, moved]));
  watch.look(0);
  clock.stepWall(-5000);
  watch.look(0);
  clock.suspend(7000);
  watch.look(0);
  const once: [number, boolean][] = [
    [0, false],
    [-5000, true],
    [0, true],
  ];
  assert.deepEqual(
    seen,
    once.flatMap((look) => [look, look]),
  );
});

test('a suspend in which the clock was set too is both', () => {
  const { clock, watch, jumps } = watched();
  clock.suspend(3_600_000);
  clock.stepWall(-7_200_000);
  assert.deepEqual([watch.look(0).stepMs, watch.look(0).stepMs], [-7_200_000, 0]);
  clock.suspend(10_000);
  clock.stepWall(5000);
  assert.deepEqual(watch.look(0).passedMs, 10_000);
  assert.deepEqual(jumps, [
    ['suspend', 3_600_000],
    ['backward', 7_200_000],
    ['suspend', 10_000],
    ['forward', 5000],
  ]);
});

test('uptime in steps: a suspend is no step as well', () => {
  const clock = new TestClock();
  const coarse = {
    wallMs: () => clock.wallMs(),
    monoMs: () => clock.monoMs(),
    setTimer: clock.setTimer,
    suspendedMs: () => Math.floor(clock.suspendedMs() / 1000) * 1000 + (clock.monoMs() % 10),
  };
  const jumps: [ClockJump, number][] = [];
  const watch = new ClockWatch(coarse, (kind, sizeMs) => jumps.push([kind, sizeMs]));
  clock.suspend(60_900);
  assert.deepEqual([watch.look(0).passedMs, watch.look(0).stepMs], [60_900, 0]);
  assert.deepEqual(jumps, [['suspend', 60_900]]);
});

test('a clock that does not know of suspends: they look like steps forward', () => {
  const clock = new TestClock();
  const plain = { wallMs: () => clock.wallMs(), monoMs: () => clock.monoMs(), setTimer: clock.setTimer };
  const jumps: ClockJump[] = [];
  const watch = new ClockWatch(plain, (kind) => jumps.push(kind));
  clock.suspend(60_000);
  assert.deepEqual([watch.look(0).stepMs, jumps], [60_000, ['forward']]);
});

test('less than a second is not worth a word until it adds up', () => {
  const { clock, watch, jumps } = watched();
  for (const step of [-400, 300, -400, -499]) {
    clock.stepWall(step);
    assert.equal(watch.look(0).stepMs, 0);
  }
  clock.stepWall(-1);
  assert.equal(watch.look(JUMP_MS).stepMs, -1000);
  assert.deepEqual(jumps, [['backward', 1000]]);
});

test('between two looks there are no steps, and a look sees all of them', async () => {
  const move = fc.tuple(fc.nat(5000), fc.integer({ min: -1e7, max: 1e7 }));
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 10 }), async (moves) => {
      const { clock, watch, jumps } = watched();
      let told = 0;
      for (const [passMs, stepMs] of moves) {
        const before = watch.nowMs();
        clock.stepWall(stepMs);
        await clock.advance(passMs);
        assert.equal(watch.nowMs(), before + passMs);
        told += watch.look(0).stepMs;
        assert.equal(watch.nowMs(), clock.wallMs());
      }
      const sum = moves.reduce((total, [, stepMs]) => total + stepMs, 0);
      assert.ok(Math.abs(sum - told) < JUMP_MS);
      for (const [kind, sizeMs] of jumps) assert.ok(sizeMs >= JUMP_MS && kind.endsWith('ward'));
    }),
    { numRuns: 50 },
  );
});

test('the clock of the system knows of suspends, in small steps', () => {
  const before = systemClock.suspendedMs!();
  const after = systemClock.suspendedMs!();
  // Uptime is counted in steps; neither moves by itself.
  assert.ok(Math.abs(after - before) < 1000, `${before}, ${after}`);
});
