/**
 * All who go by the wall clock share one watch: whoever wakes first sees that the clock has moved, and none of the others
 * sleeps on by the old time.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TIMER_CAP_MS } from '../../src/actors/delay/index.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { ClockJump } from '../../src/actors/views/runtime-view.ts';
import { ClockWatch, Scheduler } from '../../src/main/schedule/index.ts';
import { setup, taskSpec } from '../runs/runs-setup.ts';
import { at, DAY_MS, every, HOUR_MS, MINUTE_MS, scheduled } from './scheduler-rig.ts';

/** A schedule of one interval, and what is triggered for later; both by one clock. */
function machine(everyMs: number) {
  const clock = new TestClock(at('2026-06-01T10:00'));
  const jumps: [ClockJump, number][] = [];
  const watch = new ClockWatch(clock, (kind, sizeMs) => jumps.push([kind, sizeMs]));
  const made = setup([taskSpec({ name: 'later' })], {
    clock,
    watch,
    slots: 1_000_000,
    queues: { delayed: { capacity: 100_000 } },
  });
  const due: number[] = [];
  const scheduler = new Scheduler({
    clock,
    watch,
    tasks: [scheduled({ name: 'tick', schedule: every(everyMs) })],
    onDue: ({ occurrenceMs }) => due.push(occurrenceMs),
    onMissed: () => {},
    onLost: () => assert.fail('there is always a next one'),
    onEnded: () => assert.fail('it goes on for ever'),
  });
  scheduler.start();
  const close = (): void => {
    scheduler.stop();
    made.runs.destroy();
    assert.equal(clock.timers, 0);
  };
  return { ...made, jumps, due, close };
}

for (const [jump, move, told] of [
  ['set forward', (clock: TestClock) => clock.stepWall(HOUR_MS), 'forward'],
  ['suspended', (clock: TestClock) => clock.suspend(HOUR_MS), 'suspend'],
] as const) {
  test(`${jump} by an hour, seen by the scheduler: what was triggered for then begins with that look`, async () => {
    const { clock, trigger, pool, jumps, close } = machine(1000);
    trigger('later', { dueAtMs: clock.wallMs() + HOUR_MS });
    trigger('later', { dueAtMs: clock.wallMs() + 3 * HOUR_MS });
    await clock.advance(500);
    move(clock);
    await clock.advance(500);
    assert.equal(pool.taken.length, 1, 'and the other one waits');
    assert.deepEqual(jumps, [[told, HOUR_MS]]);
    close();
  });

  test(`${jump} by an hour, seen by what begins later: the schedule goes on with that look`, async () => {
    const { clock, trigger, due, jumps, close } = machine(40 * MINUTE_MS);
    trigger('later', { dueAtMs: clock.wallMs() + 2000 });
    move(clock);
    await clock.advance(2000);
    assert.deepEqual(due, [at('2026-06-01T10:40')], 'late, and at once');
    assert.deepEqual(jumps, [[told, HOUR_MS]]);
    close();
  });
}

test('set back: what was to begin does not before the clock has come there, by whichever look', async () => {
  for (const everyMs of [1000, 40 * MINUTE_MS]) {
    const { clock, trigger, pool, close } = machine(everyMs);
    trigger('later', { dueAtMs: clock.wallMs() + MINUTE_MS });
    await clock.advance(30_000);
    clock.stepWall(-HOUR_MS);
    await clock.advance(HOUR_MS + 29_999);
    assert.equal(pool.taken.length, 0);
    await clock.advance(1);
    assert.equal(pool.taken.length, 1);
    close();
  }
});

test('set back and forth between two looks: what was triggered meanwhile begins with the next one', async () => {
  const { clock, trigger, pool, jumps, close } = machine(1000);
  await clock.advance(400);
  clock.stepWall(-DAY_MS);
  trigger('later', { dueAtMs: clock.wallMs() + HOUR_MS });
  await clock.advance(10);
  clock.stepWall(DAY_MS);
  await clock.advance(600);
  assert.equal(pool.taken.length, 1);
  assert.deepEqual(jumps, []);
  close();
});

test('a stall is told once, however many timers are late', async () => {
  const { clock, trigger, jumps, close } = machine(1000);
  for (let second = 1; second < 20; second++) trigger('later', { dueAtMs: clock.wallMs() + second * 700 });
  await clock.advance(600);
  clock.stall(30_000);
  await clock.advance(5000);
  assert.deepEqual(
    jumps.map(([kind]) => kind),
    ['stall'],
  );
  close();
});

const move = fc.record({
  kind: fc.constantFrom('step', 'suspend', 'stall'),
  sizeMs: fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  thenMs: fc.nat(40_000),
  triggerInMs: fc.array(fc.integer({ min: 1, max: DAY_MS }), { maxLength: 3 }),
});

test('any steps, suspends and stalls: nothing begins early, and what is due has begun with the next look of anybody', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1000, 5000, 40 * MINUTE_MS),
      fc.array(move, { minLength: 1, maxLength: 12 }),
      async (everyMs, moves) => {
        const { clock, trigger, pool, events, runs, due, settle, close } = machine(everyMs);
        const dues = new Map<string, number>();
        for (const { kind, sizeMs, thenMs, triggerInMs } of moves) {
          for (const inMs of triggerInMs) {
            const dueAtMs = clock.wallMs() + inMs;
            const answer = trigger('later', { dueAtMs });
            await settle();
            dues.set((answer.value as { run: string }).run, dueAtMs);
          }
          if (kind === 'step') clock.stepWall(sizeMs);
          else if (kind === 'suspend') clock.suspend(Math.abs(sizeMs));
          else clock.stall(Math.abs(sizeMs));
          const looksWithinMs = Math.min(everyMs, TIMER_CAP_MS);
          await clock.advance(thenMs);
          if (thenMs < looksWithinMs) continue;
          // By then somebody has looked. What came due since the last one may still wait for the next.
          const begun = new Set(pool.taken.map(({ run }) => run));
          for (const [run, dueAtMs] of dues) {
            assert.ok(begun.has(run) || dueAtMs > clock.wallMs() - looksWithinMs, `${run} is late`);
          }
        }
        for (const { run, state, atMs } of events)
          assert.ok(state !== 'running' || atMs >= dues.get(run)!, `${run} is early`);
        assert.equal(new Set(pool.taken.map(({ run }) => run)).size, pool.taken.length, 'none twice');
        assert.ok(due.every((occurrenceMs) => occurrenceMs % everyMs === 0));
        assert.equal(runs.figures.unfinished, dues.size);
        close();
      },
    ),
    { numRuns: 60 },
  );
});
