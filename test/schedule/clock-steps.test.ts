/**
 * The exact set of runs through steps of the clock and back, for each misfire policy. What is expected is written by hand,
 * or counted minute by minute.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { ClockJump } from '../../src/actors/views/runtime-view.ts';
import type { MisfirePolicy } from '../../src/main/config/config.ts';
import {
  at,
  cron,
  DAY_MS,
  every,
  given,
  HOUR_MS,
  instants,
  iso,
  MINUTE_MS,
  missedOf,
  type Rig,
  runAll,
  runOnce,
  scheduled,
  skip,
  start,
} from './scheduler-rig.ts';

/** Minute by minute: those after one instant, up to and with another, that a schedule of every 20 minutes has. */
function scan(fromText: string, toText: string, hours: (hour: number) => boolean = () => true): string[] {
  const found: string[] = [];
  for (let now = at(fromText) + MINUTE_MS; now <= at(toText); now += MINUTE_MS) {
    const date = new Date(now);
    if (date.getUTCMinutes() % 20 === 0 && hours(date.getUTCHours())) found.push(iso(now));
  }
  return found;
}

/** Every 20 minutes but in the last hour of the day: fixed times. */
const FIXED = cron('*/20 0-22 * * *');
const isFixed = (hour: number) => hour !== 23;
const REAL = every(20 * MINUTE_MS);

interface Expected {
  /** From the step to the step back, then from there on; both with what is late. */
  readonly fixed: readonly [away: string | readonly string[], back: string | readonly string[]];
  readonly real: readonly [away: string | readonly string[], back: string | readonly string[]];
  readonly missed: readonly [fixed: number, real: number];
}

const list = (expected: string | readonly string[]) =>
  typeof expected === 'string' ? instants(expected) : expected;

/** 10:05 to 11:05, a step, an hour, the step back, an hour and a half. */
async function thereAndBack(stepMs: number, misfire: MisfirePolicy): Promise<Rig> {
  const clock = new TestClock(at('2026-06-01T10:05'));
  const rig = start(
    [
      scheduled({ name: 'fixed', schedule: FIXED, misfire }),
      scheduled({ name: 'real', schedule: REAL, misfire }),
    ],
    clock,
  );
  await clock.advance(HOUR_MS);
  clock.stepWall(stepMs);
  await clock.advance(HOUR_MS);
  clock.stepWall(-stepMs);
  await clock.advance(1.5 * HOUR_MS);
  rig.scheduler.stop();
  return rig;
}

const BEFORE = '2026-06-01T10:20 10:40 11:00';
const YEAR_MS = at('2027-06-01T00:00') - at('2026-06-01T00:00');
const LONG_MS = at('2026-06-01T00:00') - at('1956-06-01T00:00');

const STEPS: readonly {
  readonly name: string;
  readonly stepMs: number;
  readonly byPolicy: readonly [runOnce: Expected, runAll: Expected, skip: Expected];
}[] = [
  ...[1000, -1000].map((stepMs) => {
    const same = ['2026-06-01T11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'] as const;
    const expected: Expected = { fixed: same, real: same, missed: [0, 0] };
    return { name: `${stepMs / 1000} s`, stepMs, byPolicy: [expected, expected, expected] as const };
  }),
  {
    // Passed over: 11:20, 11:40, 12:00. Lived twice: 12:05 to 13:05.
    name: '+1 h',
    stepMs: HOUR_MS,
    byPolicy: [
      {
        fixed: ['2026-06-01T12:00 12:20 12:40 13:00', '2026-06-01T13:20'],
        real: ['2026-06-01T12:00 12:20 12:40 13:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [2, 2],
      },
      {
        fixed: ['2026-06-01T11:20 11:40 12:00 12:20 12:40 13:00', '2026-06-01T13:20'],
        real: ['2026-06-01T11:20 11:40 12:00 12:20 12:40 13:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [0, 0],
      },
      {
        fixed: ['2026-06-01T12:20 12:40 13:00', '2026-06-01T13:20'],
        real: ['2026-06-01T12:20 12:40 13:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [3, 3],
      },
    ],
  },
  {
    // Lived twice: 10:05 to 11:05. Passed over on the way back: 11:20, 11:40, 12:00.
    name: '−1 h',
    stepMs: -HOUR_MS,
    byPolicy: [
      {
        fixed: ['', '2026-06-01T12:00 12:20 12:40 13:00 13:20'],
        real: [BEFORE, '2026-06-01T12:00 12:20 12:40 13:00 13:20'],
        missed: [2, 2],
      },
      {
        fixed: ['', '2026-06-01T11:20 11:40 12:00 12:20 12:40 13:00 13:20'],
        real: [BEFORE, '2026-06-01T11:20 11:40 12:00 12:20 12:40 13:00 13:20'],
        missed: [0, 0],
      },
      {
        fixed: ['', '2026-06-01T12:20 12:40 13:00 13:20'],
        real: [BEFORE, '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [3, 3],
      },
    ],
  },
  {
    // What was missed on the way there comes at its time; what was run for it, and with run-all that is all, does not.
    name: '+1 day',
    stepMs: DAY_MS,
    byPolicy: [
      {
        fixed: ['2026-06-02T11:00 11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        real: ['2026-06-02T11:00 11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [50, 50],
      },
      {
        fixed: [scan('2026-06-01T11:05', '2026-06-02T12:00', isFixed), ''],
        real: [scan('2026-06-01T11:05', '2026-06-02T12:00'), '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [0, 0],
      },
      {
        fixed: ['2026-06-02T11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        real: ['2026-06-02T11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [51, 51],
      },
    ],
  },
  {
    name: '+1 year',
    stepMs: YEAR_MS,
    byPolicy: [
      {
        fixed: ['2027-06-01T11:00 11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        real: ['2027-06-01T11:00 11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [50, 50],
      },
      {
        // A hundred of them and the three that come on time.
        fixed: [
          scan('2027-05-30T00:00', '2027-06-01T12:00', isFixed).slice(-103),
          '2026-06-01T12:20 12:40 13:00 13:20',
        ],
        real: [
          scan('2027-05-30T00:00', '2027-06-01T12:00').slice(-103),
          '2026-06-01T12:20 12:40 13:00 13:20',
        ],
        missed: [50, 50],
      },
      {
        fixed: ['2027-06-01T11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        real: ['2027-06-01T11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [51, 51],
      },
    ],
  },
  {
    // Back again, late is what came after the time that was lived before, and nothing of the seventy years.
    name: '−70 years',
    stepMs: -LONG_MS,
    byPolicy: [
      {
        fixed: ['1956-06-01T11:20 11:40 12:00', '2026-06-01T12:00 12:20 12:40 13:00 13:20'],
        real: ['1956-06-01T11:20 11:40 12:00', '2026-06-01T12:00 12:20 12:40 13:00 13:20'],
        missed: [2, 2],
      },
      {
        fixed: ['1956-06-01T11:20 11:40 12:00', '2026-06-01T11:20 11:40 12:00 12:20 12:40 13:00 13:20'],
        real: ['1956-06-01T11:20 11:40 12:00', '2026-06-01T11:20 11:40 12:00 12:20 12:40 13:00 13:20'],
        missed: [0, 0],
      },
      {
        fixed: ['1956-06-01T11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        real: ['1956-06-01T11:20 11:40 12:00', '2026-06-01T12:20 12:40 13:00 13:20'],
        missed: [3, 3],
      },
    ],
  },
];

for (const { name, stepMs, byPolicy } of STEPS) {
  test(`a step of ${name} and back: the exact runs of each misfire policy`, async () => {
    for (const [index, misfire] of [runOnce, runAll, skip].entries()) {
      const { fixed, real, missed } = byPolicy[index]!;
      const rig = await thereAndBack(stepMs, misfire);
      const before = list(BEFORE);
      assert.deepEqual(
        given(rig, 'fixed'),
        [...before, ...list(fixed[0]), ...list(fixed[1])],
        misfire.policy,
      );
      assert.deepEqual(given(rig, 'real'), [...before, ...list(real[0]), ...list(real[1])], misfire.policy);
      assert.deepEqual([missedOf(rig, 'fixed'), missedOf(rig, 'real')], missed, misfire.policy);
      const size = Math.abs(stepMs);
      const jumps: [ClockJump, number][] = [
        ['forward', size],
        ['backward', size],
      ];
      assert.deepEqual(rig.jumps, stepMs > 0 ? jumps : jumps.toReversed());
    }
  });
}

test('T13: an hour forward after boot: one coalesced run each of a 5-minute and a 5-second task, the step with its size', async () => {
  for (const schedules of [
    [cron('*/5 * * * *'), cron('*/5 * * * * *')],
    [every(5 * MINUTE_MS), every(5000)],
  ]) {
    const clock = new TestClock(at('2026-06-01T10:00:02'));
    const rig = start(
      schedules.map((schedule, index) => scheduled({ name: `${index}`, schedule: schedule! })),
      clock,
    );
    await clock.advance(1000);
    clock.stepWall(HOUR_MS);
    await clock.advance(2000);
    const eleven = ['2026-06-01T11:00'];
    assert.deepEqual([given(rig, '0'), given(rig, '1')], [eleven, eleven]);
    assert.deepEqual(rig.jumps, [['forward', HOUR_MS]]);
    await clock.advance(5000);
    assert.equal(rig.of('1').length, 2, 'and on it goes');
    assert.deepEqual(rig.missed.toSorted(), [
      ['0', 11, false],
      ['1', 50, true],
    ]);
    rig.scheduler.stop();
  }
});
