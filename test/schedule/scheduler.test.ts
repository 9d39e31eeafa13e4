import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { DstPolicy, MisfirePolicy, ScheduleSpec } from '../../src/main/config/config.ts';
import { occurrencesOf, splayOf, TimeZones } from '../../src/main/schedule/index.ts';
import { dueOccurrences } from '../../src/main/schedule/misfire.ts';
import { STEP_BACK_MS } from '../../src/main/schedule/schedule-entry.ts';
import { cron, runOnce, scheduled, start } from './scheduler-rig.ts';

test('cron, every and at give their occurrences, on time', async () => {
  const clock = new TestClock(Date.UTC(2026, 0, 1));
  const { scheduler, due } = start(
    [
      scheduled({ name: 'minute', schedule: cron('* * * * *') }),
      scheduled({ name: 'every', schedule: { kind: 'every', everyMs: 25_000 } }),
      scheduled({ name: 'once', schedule: { kind: 'at', atMs: Date.UTC(2026, 0, 1, 0, 0, 42) } }),
      scheduled({ name: 'past', schedule: { kind: 'at', atMs: 5 } }),
      scheduled({ name: 'boot', runOnStart: true }),
    ],
    clock,
  );
  await clock.advance(120_000);
  const seconds = (name: string) =>
    due.filter(([task]) => task === name).map(([, at]) => (at - Date.UTC(2026, 0, 1)) / 1000);
  assert.deepEqual(seconds('minute'), [60, 120]);
  assert.deepEqual(seconds('every'), [25, 50, 75, 100]);
  assert.deepEqual(seconds('once'), [42]);
  assert.deepEqual(seconds('past'), []);
  assert.deepEqual(seconds('boot'), [0]);
  assert.ok(due.every(([, occurrence, at]) => at === occurrence));
  scheduler.stop();
  assert.equal(clock.timers, 0);
});

test('a timer that wakes early runs nothing, and nothing twice', async () => {
  // Fires every timer 2 ms before its time.
  const inner = new TestClock(Date.UTC(2026, 0, 1));
  const clock: Clock = {
    wallMs: () => inner.wallMs(),
    monoMs: () => inner.monoMs(),
    setTimer: (delayMs, callback) => inner.setTimer(delayMs > 2 ? delayMs - 2 : delayMs, callback),
  };
  const { scheduler, due } = start([scheduled({ name: 'a', schedule: cron('*/5 * * * * *') })], clock);
  await inner.advance(60_000);
  assert.equal(due.length, 12);
  assert.equal(new Set(due.map(([, occurrence]) => occurrence)).size, 12);
  assert.ok(due.every(([, occurrence, at]) => at >= occurrence));
  scheduler.stop();
});

test('coming late: each misfire policy runs what it says, and counts the rest', async () => {
  const policies: MisfirePolicy[] = [
    runOnce,
    { policy: 'run-all', graceMs: null, max: 100 },
    { policy: 'run-all', graceMs: null, max: 3 },
    { policy: 'run-all', graceMs: 110_000, max: 100 },
    { policy: 'skip', graceMs: 10_000, max: 100 },
    { policy: 'run-once', graceMs: 10_000, max: 100 },
  ];
  const expected = [1, 10, 3, 2, 0, 0];
  for (const [index, misfire] of policies.entries()) {
    const clock = new TestClock(Date.UTC(2026, 0, 1));
    const { scheduler, due, missed } = start(
      [scheduled({ name: 'a', schedule: cron('* * * * *'), misfire })],
      clock,
    );
    clock.stepWall(10 * 60_000 + 30_000);
    await clock.advance(15_000);
    assert.equal(due.length, expected[index], JSON.stringify(misfire));
    assert.equal(
      missed.reduce((sum, [, count]) => sum + count, 0),
      10 - expected[index]!,
    );
    await clock.advance(60_000);
    assert.equal(due.length, expected[index]! + 1, 'and goes on');
    scheduler.stop();
  }
});

test('every and at, back and forth', () => {
  const zones = new TimeZones();
  const every = occurrencesOf({ kind: 'every', everyMs: 25 }, zones);
  assert.deepEqual([every.next(99), every.next(100), every.prev(100), every.prev(101)], [100, 125, 75, 100]);
  const once = occurrencesOf({ kind: 'at', atMs: 100 }, zones);
  assert.deepEqual([once.next(99), once.next(100), once.prev(100), once.prev(101)], [100, null, null, 100]);
});

test('what is missed is counted from the first that was due, and more only where there is more', () => {
  const occurrences = occurrencesOf({ kind: 'every', everyMs: 1000 }, new TimeZones());
  const after = (seconds: number) =>
    dueOccurrences({ occurrences, firstMs: 5000, nowMs: 5000 + seconds * 1000 + 0.5, policy: runOnce });
  assert.deepEqual(after(0), { run: [5000], catchUp: false, missed: 0, more: false, next: 6000 });
  assert.deepEqual(after(7), {
    run: [12_000],
    catchUp: false,
    missed: 7,
    more: false,
    next: 13_000,
  });
  const long = after(100_000);
  assert.deepEqual(long.run, [100_005_000]);
  assert.ok(long.more && long.missed > 10);
});

test('after two weeks away a task of every 5 s runs once, at once', async () => {
  const clock = new TestClock();
  const { scheduler, due } = start(
    [scheduled({ name: 'a', schedule: { kind: 'every', everyMs: 5000 } })],
    clock,
  );
  clock.stepWall(14 * 86_400_000);
  const before = process.threadCpuUsage();
  await clock.advance(15_000);
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 1_000_000, `${user + system} µs`);
  assert.ok(due.length >= 1 && due.length <= 4, `${due.length}`);
  const [, occurrence, at] = due[0]!;
  assert.ok(at - occurrence < 5000, 'the newest of the missed');
  scheduler.stop();
});

test('a step back by a day: told with its size, and schedules go on at once', async () => {
  const clock = new TestClock();
  const { scheduler, due, jumps } = start(
    [
      scheduled({ name: 'every', schedule: { kind: 'every', everyMs: 5000 } }),
      scheduled({ name: 'cron', schedule: cron('* * * * *') }),
    ],
    clock,
  );
  await clock.advance(60_000);
  const before = due.length;
  clock.stepWall(-86_400_000);
  await clock.advance(3_600_000);
  assert.deepEqual(jumps, [['backward', 86_400_000]]);
  const after = due.slice(before);
  assert.ok(after.filter(([task]) => task === 'every').length >= 3_540_000 / 5000);
  assert.ok(after.filter(([task]) => task === 'cron').length >= 59);
  assert.ok(after.every(([, occurrence, at]) => at >= occurrence));
  scheduler.stop();
});

test('small steps back that add up to more than a minute do not stand still for their sum', async () => {
  const clock = new TestClock();
  const { scheduler, due } = start(
    [scheduled({ name: 'a', schedule: { kind: 'every', everyMs: 50 } })],
    clock,
  );
  for (const step of [-35_674, -39_377, -50_000]) {
    clock.stepWall(step);
    await clock.advance(50);
  }
  const before = due.length;
  await clock.advance(30_000);
  assert.ok(due.length > before);
  scheduler.stop();
});

test('a step back by less than a minute runs nothing twice', async () => {
  const clock = new TestClock();
  const { scheduler, due } = start(
    [scheduled({ name: 'a', schedule: { kind: 'every', everyMs: 5000 } })],
    clock,
  );
  await clock.advance(60_000);
  clock.stepWall(-30_000);
  await clock.advance(120_000);
  const occurrences = due.map(([, occurrence]) => occurrence);
  assert.equal(new Set(occurrences).size, occurrences.length);
  assert.equal(due.length, 12 + 18);
  scheduler.stop();
});

test('coming back after 8 hours costs next to nothing, whatever the policy', () => {
  const occurrences = occurrencesOf(cron('*/5 * * * * *', 'Europe/Berlin'), new TimeZones());
  let asked = 0;
  const counted = {
    next: (afterMs: number) => {
      asked++;
      return occurrences.next(afterMs);
    },
    prev: (beforeMs: number) => {
      asked++;
      return occurrences.prev(beforeMs);
    },
  };
  const firstMs = Date.UTC(2026, 0, 1);
  const nowMs = firstMs + 8 * 3_600_000 + 2500;
  for (const [policy, expected] of [
    [runOnce, 1],
    [{ policy: 'run-all', graceMs: null, max: 100 }, 100],
    [{ policy: 'skip', graceMs: null, max: 100 }, 1],
  ] as const) {
    asked = 0;
    const due = dueOccurrences({ occurrences: counted, firstMs, nowMs, policy });
    assert.equal(due.run.length, expected);
    assert.equal(due.run.at(-1), nowMs - 2500);
    assert.equal(due.next, nowMs + 2500);
    assert.equal(due.more, true);
    assert.ok(asked < 200, `${asked} occurrences computed`);
  }
});

test('any grid, any steps of time: none comes early, none twice but after a large step back, and they go on', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 50, max: 100_000 }),
      fc.array(fc.tuple(fc.nat(200_000), fc.integer({ min: -50_000, max: 500_000 })), { maxLength: 12 }),
      async (everyMs, moves) => {
        const clock = new TestClock();
        const { scheduler, due } = start(
          [scheduled({ name: 'a', schedule: { kind: 'every', everyMs } })],
          clock,
        );
        /** How many were due by the moments at which the clock was more than a minute behind where it had been. */
        const farBack = new Set<number>();
        let latest = clock.wallMs();
        for (const [advance, step] of moves) {
          clock.stepWall(step);
          if (latest - clock.wallMs() > STEP_BACK_MS) farBack.add(due.length);
          await clock.advance(Math.min(advance, everyMs * 20));
          latest = Math.max(latest, clock.wallMs());
        }
        for (const [index, [, occurrence, at]] of due.entries()) {
          assert.ok(at >= occurrence);
          assert.equal(occurrence % everyMs, 0);
          // Only a clock that was set back so far has the schedule computed anew, sooner or later after it.
          if (index > 0 && occurrence <= due[index - 1]![1]) {
            assert.ok(
              [...farBack].some((count) => count <= index),
              `${occurrence} twice`,
            );
          }
        }
        const before = due.length;
        await clock.advance(everyMs + 75_000);
        assert.ok(due.length > before, 'goes on');
        scheduler.stop();
      },
    ),
    {
      numRuns: 60,
      // The same instant by a clock that was set back by 75 s in two steps.
      examples: [
        [
          48_987,
          [
            [34_800, 0],
            [0, -25_012],
            [60_001, -49_989],
          ],
        ],
      ],
    },
  );
});

test('a splay is stable for a task, within its bound, and spreads tasks', () => {
  const splays = Array.from({ length: 200 }, (_, index) => splayOf(`task-${index}`, 60_000));
  assert.deepEqual(
    splays,
    Array.from({ length: 200 }, (_, index) => splayOf(`task-${index}`, 60_000)),
  );
  assert.ok(splays.every((splay) => splay >= 0 && splay < 60_000));
  const buckets = new Set(splays.map((splay) => Math.floor(splay / 6000)));
  assert.equal(buckets.size, 10);
  assert.equal(splayOf('a', 0), 0);
});

const DAY_MS = 86_400_000;

test('T16, T17: what was missed while the daemon was away, by the policy of the task, once', async () => {
  const now = Date.UTC(2026, 0, 15, 12, 0, 2);
  const away = now - 14 * DAY_MS;
  const clock = new TestClock(now);
  const every: ScheduleSpec = { kind: 'every', everyMs: 5000 };
  const { due, missed, scheduler } = start(
    [
      scheduled({ name: 'often', schedule: every }),
      scheduled({ name: 'weekly', schedule: cron('0 3 * * 1') }),
      scheduled({ name: 'skips', schedule: cron('0 3 * * 1'), misfire: { ...runOnce, policy: 'skip' } }),
      scheduled({ name: 'all', schedule: cron('0 3 * * *'), misfire: { ...runOnce, policy: 'run-all' } }),
      scheduled({ name: 'fresh', schedule: every }),
      scheduled({ name: 'ahead', schedule: every }),
      scheduled({ name: 'one-shot', schedule: { kind: 'at', atMs: now - DAY_MS } }),
      scheduled({ name: 'was-run', schedule: { kind: 'at', atMs: now - DAY_MS } }),
    ],
    clock,
    {
      often: away,
      weekly: away,
      skips: away,
      all: away,
      ahead: now + DAY_MS,
      'one-shot': away,
      'was-run': now - DAY_MS,
    },
  );
  await clock.advance(0);
  const of = (name: string) => due.filter(([task]) => task === name).map(([, at]) => at);
  assert.deepEqual(of('often'), [now - 2000], 'one run, not 241,920');
  assert.deepEqual(of('weekly'), [Date.UTC(2026, 0, 12, 3)]);
  assert.deepEqual(of('skips'), []);
  assert.equal(of('all').length, 14);
  assert.deepEqual([of('fresh'), of('ahead')], [[], []], 'nothing was missed, or nobody knows');
  assert.deepEqual([of('one-shot'), of('was-run')], [[now - DAY_MS], []]);
  assert.deepEqual(missed.toSorted(), [
    ['often', 50, true],
    ['skips', 2, false],
    ['weekly', 1, false],
  ]);
  assert.deepEqual(
    ['often', 'skips', 'weekly', 'all', 'fresh'].map((name) => scheduler.missedOf(name)),
    [50, 2, 1, 0, 0],
  );
  scheduler.stop();
});

test('the policy of a task for changes of the clocks is the one by which it runs', async () => {
  // In Berlin, clocks went from 3:00 back to 2:00 at 1:00 UTC on 25 October 2026.
  const clock = new TestClock(Date.UTC(2026, 9, 24, 23));
  const both: DstPolicy = { gap: 'shift', repeat: 'both' };
  const last: DstPolicy = { gap: 'shift', repeat: 'last' };
  const { due, scheduler } = start(
    [
      scheduled({ name: 'first', schedule: cron('30 2 * * *', 'Europe/Berlin') }),
      scheduled({ name: 'last', schedule: cron('30 2 * * *', 'Europe/Berlin', last) }),
      scheduled({ name: 'both', schedule: cron('30 2 * * *', 'Europe/Berlin', both) }),
    ],
    clock,
  );
  await clock.advance(3 * 3_600_000);
  const hours = (name: string) =>
    due.filter(([task]) => task === name).map(([, at]) => (at - Date.UTC(2026, 9, 25)) / 3_600_000);
  assert.deepEqual([hours('first'), hours('last'), hours('both')], [[0.5], [1.5], [0.5, 1.5]]);
  scheduler.stop();
});
