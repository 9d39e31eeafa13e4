/** A machine that sleeps, and a process that stands still: the exact set of runs, for each misfire policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { MisfirePolicy } from '../../src/main/config/config.ts';
import {
  at,
  cron,
  DAY_MS,
  every,
  given,
  HOUR_MS,
  instants,
  MINUTE_MS,
  missedOf,
  type Rig,
  runAll,
  runOnce,
  scheduled,
  skip,
  start,
} from './scheduler-rig.ts';

/** At 13:05 the machine goes to sleep; when it is up again it stays so for 20 minutes. */
async function asleep(suspendMs: number, misfire: MisfirePolicy): Promise<Rig> {
  const clock = new TestClock(at('2026-06-01T12:50'));
  const rig = start([scheduled({ name: 'a', schedule: cron('*/15 0-22 * * *'), misfire })], clock);
  await clock.advance(15 * MINUTE_MS);
  clock.suspend(suspendMs);
  await clock.advance(20 * MINUTE_MS);
  // Time that was slept through has passed: set back into it, what was due then is over.
  clock.stepWall(-Math.min(suspendMs, 30 * MINUTE_MS));
  await clock.advance(15_000);
  rig.scheduler.stop();
  return rig;
}

interface Sleep {
  readonly ms: number;
  /** Of what came due meanwhile, the newest; then what comes on time. */
  readonly newest: string;
  readonly onTime: string;
  /** How many of the others run with run-all. */
  readonly others: number;
  readonly missed: readonly [runOnce: number, runAll: number, skip: number];
}

/** Of more than fifty that are missed, fifty are counted beside those that run. */
const SLEEPS: readonly Sleep[] = [
  { ms: MINUTE_MS, newest: '', onTime: '2026-06-01T13:15', others: 0, missed: [0, 0, 0] },
  { ms: 7 * MINUTE_MS, newest: '', onTime: '2026-06-01T13:15 13:30', others: 0, missed: [0, 0, 0] },
  {
    ms: HOUR_MS,
    newest: '2026-06-01T14:00',
    onTime: '2026-06-01T14:15',
    others: 3,
    missed: [3, 0, 4],
  },
  // There are 92 in a day without its last hour.
  {
    ms: DAY_MS,
    newest: '2026-06-02T13:00',
    onTime: '2026-06-02T13:15',
    others: 91,
    missed: [50, 0, 51],
  },
  {
    ms: 14 * DAY_MS,
    newest: '2026-06-15T13:00',
    onTime: '2026-06-15T13:15',
    others: 99,
    missed: [50, 50, 51],
  },
];

test('T14: suspends of a minute to two weeks: runs on the grid of the wall clock, missed ones by policy', async () => {
  for (const { ms, newest, onTime, others, missed } of SLEEPS) {
    for (const [index, misfire] of [runOnce, runAll, skip].entries()) {
      const what = `${ms / MINUTE_MS} minutes, ${misfire.policy}`;
      const rig = await asleep(ms, misfire);
      const late = misfire === skip ? [] : instants(newest);
      const [first, ...rest] = given(rig, 'a');
      assert.equal(first, '2026-06-01T13:00', what);
      const before = misfire === runAll ? others : 0;
      assert.deepEqual(rest.slice(before), [...late, ...instants(onTime)], what);
      assert.equal(new Set(rest).size, rest.length, what);
      assert.deepEqual(rest, rest.toSorted(), what);
      assert.equal(missedOf(rig, 'a'), missed[index], what);
      assert.deepEqual(rig.jumps[0], ['suspend', ms]);
    }
  }
});

test('T14: suspended from 13:05 to 13:12, every 15 minutes as cron and as an interval: the next run is at 13:15', async () => {
  for (const schedule of [cron('*/15 * * * *'), every(15 * MINUTE_MS)]) {
    const clock = new TestClock(at('2026-06-01T13:01'));
    const rig = start([scheduled({ name: 'a', schedule })], clock);
    await clock.advance(4 * MINUTE_MS);
    clock.suspend(7 * MINUTE_MS);
    await clock.advance(3 * MINUTE_MS);
    assert.deepEqual(rig.due, [['a', at('2026-06-01T13:15'), at('2026-06-01T13:15')]]);
    assert.deepEqual([rig.jumps, rig.missed], [[['suspend', 7 * MINUTE_MS]], []]);
    rig.scheduler.stop();
  }
});

test('a process that stood still for an hour: late by policy, and told as what it was', async () => {
  for (const [misfire, late] of [
    [runOnce, '2026-06-01T14:00'],
    [runAll, '2026-06-01T13:15 13:30 13:45 14:00'],
    [skip, ''],
  ] as const) {
    const clock = new TestClock(at('2026-06-01T13:01'));
    const rig = start([scheduled({ name: 'a', schedule: cron('*/15 * * * *'), misfire })], clock);
    await clock.advance(4 * MINUTE_MS);
    clock.stall(HOUR_MS);
    await clock.advance(10 * MINUTE_MS);
    assert.deepEqual(given(rig, 'a'), instants(`${late} 2026-06-01T14:15`));
    // The timer had been set for 15 seconds after 13:05.
    assert.deepEqual(rig.jumps, [['stall', HOUR_MS - 15_000]]);
    rig.scheduler.stop();
  }
});
