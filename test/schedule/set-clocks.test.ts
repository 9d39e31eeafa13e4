/** Clocks that are wrong at the start, are set in the middle of something, or are set again and again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DUE_PER_TURN } from '../../src/actors/delay/delay-engine.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { ScheduleSpec } from '../../src/main/config/config.ts';
import { occurrencesOf, splayOf, TimeZones } from '../../src/main/schedule/index.ts';
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
  runAll,
  runOnce,
  scheduled,
  skip,
  start,
} from './scheduler-rig.ts';

const YEAR_MS = 365 * DAY_MS;

test('a clock that was wrong by a year at the start and is mended: schedules go on at once', async () => {
  for (const wrongMs of [YEAR_MS, -YEAR_MS]) {
    const clock = new TestClock(at('2026-06-01T10:05') + wrongMs);
    const rig = start(
      [
        scheduled({ name: 'fixed', schedule: cron('*/20 0-22 * * *') }),
        scheduled({ name: 'real', schedule: every(20 * MINUTE_MS) }),
        scheduled({ name: 'once', schedule: { kind: 'at', atMs: at('2026-06-01T10:20') } }),
      ],
      clock,
    );
    await clock.advance(1000);
    clock.stepWall(-wrongMs);
    await clock.advance(HOUR_MS);
    // What a clock set forward passes over is late: one run, here of ten o'clock.
    const late = wrongMs > 0 ? '' : '2026-06-01T10:00 ';
    const times = instants(`${late}2026-06-01T10:20 10:40 11:00`);
    assert.deepEqual(given(rig, 'fixed'), times);
    assert.deepEqual(given(rig, 'real'), times);
    assert.deepEqual(given(rig, 'once'), ['2026-06-01T10:20']);
    rig.scheduler.stop();
  }
});

test('a stored last run that is still to come is ignored', async () => {
  const clock = new TestClock(at('2026-06-01T10:05'));
  const tasks = [
    scheduled({ name: 'fixed', schedule: cron('*/20 0-22 * * *') }),
    scheduled({ name: 'real', schedule: every(20 * MINUTE_MS) }),
  ];
  const ahead = at('2027-06-01T10:00');
  const rig = start(tasks, clock, { fixed: ahead, real: ahead });
  await clock.advance(HOUR_MS);
  const times = instants('2026-06-01T10:20 10:40 11:00');
  assert.deepEqual([given(rig, 'fixed'), given(rig, 'real')], [times, times]);
  rig.scheduler.stop();
});

test('a machine that starts without the time, and is told it: what was run before is not run again', async () => {
  const clock = new TestClock(Date.UTC(1970, 0, 1, 0, 0, 20));
  const daily = scheduled({ name: 'daily', schedule: cron('0 2 * * *') });
  const hourly = scheduled({ name: 'hourly', schedule: cron('0 * * * *'), misfire: runAll });
  const { of, missed } = start([daily, hourly], clock, {
    daily: at('2026-06-01T02:00'),
    hourly: at('2026-06-01T10:00'),
  });
  await clock.advance(15_000);
  clock.stepWall(at('2026-06-01T12:30') - clock.wallMs());
  await clock.advance(15_000);
  assert.deepEqual(of('daily'), [], 'it was run at two, by the daemon of before');
  assert.deepEqual(
    of('hourly').map(iso),
    instants('2026-06-01T11:00 12:00'),
    'what came due while it was away',
  );
  assert.deepEqual(missed, []);
  await clock.advance(DAY_MS);
  assert.deepEqual(of('daily').map(iso), instants('2026-06-02T02:00'));
});

test('the last run of a daemon of before is not run again by the next one when the clock is set back', async () => {
  const clock = new TestClock(at('2026-06-01T11:05'));
  const schedule = cron('0 11,12 * * *');
  const rig = start([scheduled({ name: 'a', schedule })], clock, { a: at('2026-06-01T11:00') });
  await clock.advance(MINUTE_MS);
  clock.stepWall(-HOUR_MS);
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(given(rig, 'a'), ['2026-06-01T12:00']);
  rig.scheduler.stop();
});

test('a one-shot runs once, late or on time, however often the clock comes by', async () => {
  for (const { firstMs, misfire } of [
    { firstMs: 0, misfire: runOnce },
    { firstMs: DAY_MS, misfire: runOnce },
    { firstMs: DAY_MS, misfire: runAll },
  ]) {
    const clock = new TestClock(at('2026-06-01T10:00'));
    const schedule: ScheduleSpec = { kind: 'at', atMs: at('2026-06-01T10:10') };
    const rig = start([scheduled({ name: 'a', schedule, misfire })], clock);
    clock.stepWall(firstMs);
    await clock.advance(20 * MINUTE_MS);
    for (let round = 0; round < 3; round++) {
      // Of so many other places the first is forgotten.
      for (let place = 1; place <= 20; place++) {
        clock.stepWall(at('2026-06-01T10:00') - place * HOUR_MS - clock.wallMs());
        await clock.advance(15_000);
      }
      clock.stepWall(at('2026-06-01T10:09') - clock.wallMs());
      await clock.advance(2 * MINUTE_MS);
    }
    assert.deepEqual(given(rig, 'a'), ['2026-06-01T10:10']);
    rig.scheduler.stop();
  }
});

test('a correction of some minutes does not run a daily or hourly interval twice; a short one goes on after a minute', async () => {
  const clock = new TestClock(at('2026-06-01T23:59'));
  const rig = start(
    [
      scheduled({ name: 'day', schedule: every(DAY_MS) }),
      scheduled({ name: 'hour', schedule: cron('0 * * * *') }),
      scheduled({ name: 'short', schedule: every(10_000) }),
    ],
    clock,
  );
  await clock.advance(2 * MINUTE_MS);
  clock.stepWall(-3 * MINUTE_MS);
  const before = rig.of('short').length;
  await clock.advance(MINUTE_MS);
  assert.equal(rig.of('short').length, before + 6);
  clock.stepWall(-50_000);
  await clock.advance(40_000);
  assert.equal(rig.of('short').length, before + 6, 'it stands still for less');
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(given(rig, 'day'), ['2026-06-02T00:00']);
  assert.deepEqual(given(rig, 'hour'), instants('2026-06-02T00:00 01:00 02:00').slice(0, 2));
  rig.scheduler.stop();
});

test('a splay goes with its task through steps of the clock', async () => {
  const clock = new TestClock(at('2026-06-01T10:05'));
  const rig = start(
    [scheduled({ name: 'later', schedule: cron('*/20 0-22 * * *'), splayMs: 15 * MINUTE_MS })],
    clock,
  );
  // At 11:05 the one of 11:00 has not been given out yet.
  assert.ok(splayOf('later', 15 * MINUTE_MS) > 6 * MINUTE_MS);
  await clock.advance(HOUR_MS);
  const splays = new Set(rig.due.map(([, occurrence, givenAtMs]) => givenAtMs - occurrence));
  assert.equal(splays.size, 1);
  assert.deepEqual(given(rig, 'later'), instants('2026-06-01T10:20 10:40'));
  clock.stepWall(-HOUR_MS);
  await clock.advance(HOUR_MS);
  assert.equal(rig.of('later').length, 2, 'none of them comes again');
  await clock.advance(HOUR_MS);
  assert.deepEqual(given(rig, 'later'), instants('2026-06-01T10:20 10:40 11:00 11:20 11:40'));
  assert.deepEqual(new Set(rig.due.map(([, occurrence, givenAtMs]) => givenAtMs - occurrence)), splays);
  rig.scheduler.stop();
});

test('a clock that is set while many wait for their turn: each of them has it, once', async () => {
  for (const stepMs of [-YEAR_MS, -HOUR_MS, HOUR_MS]) {
    const clock = new TestClock(at('2026-06-01T10:59:59'));
    const tasks = Array.from({ length: 2 * DUE_PER_TURN + 10 }, (_, index) =>
      scheduled({ name: `t${index}`, schedule: cron('0 11 * * *') }),
    );
    const rig = start(tasks, clock);
    // The first turn, and no more.
    let turns = 0;
    const first = new Promise<void>((resolve) => {
      const look = (): void => {
        if (rig.due.length > 0 && turns++ === 0) resolve();
        else setImmediate(look);
      };
      look();
    });
    const moving = clock.advance(1000);
    await first;
    assert.equal(rig.due.length, DUE_PER_TURN);
    clock.stepWall(stepMs);
    await moving;
    await clock.advance(2 * HOUR_MS);
    const times = new Map<string, number>();
    for (const [task, occurrence] of rig.due) {
      const id = `${task} ${iso(occurrence)}`;
      times.set(id, (times.get(id) ?? 0) + 1);
    }
    assert.equal(times.size, rig.due.length, 'none twice');
    for (const { name } of tasks) assert.equal(times.get(`${name} 2026-06-01T11:00`), 1);
    rig.scheduler.stop();
  }
});

const move = fc.record({
  kind: fc.constantFrom('step', 'suspend', 'stall'),
  sizeMs: fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  /** Long enough for a look, so that the scheduler sees each of them. */
  thenMs: fc.integer({ min: 16_000, max: 40 * MINUTE_MS }),
});

test('fixed times, any steps, suspends and stalls: none early, none twice, none that was lived through left out uncounted', async () => {
  const spec = fc.constantFrom('*/20 0-22 * * *', '30 2 * * *', '0 */3 * * *', '15 1,13 * * 1-5');
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe');
  const policy = fc.constantFrom(runOnce, { ...runAll, max: 5 }, skip, { ...runOnce, graceMs: 600_000 });
  await fc.assert(
    fc.asyncProperty(
      spec,
      zone,
      policy,
      fc.array(move, { maxLength: 8 }),
      fc.nat(4 * DAY_MS),
      async (expression, timeZone, misfire, moves, offsetMs) => {
        // Around a change of the clocks in Berlin.
        const clock = new TestClock(at('2026-03-27T00:00') + offsetMs);
        const schedule = cron(expression, timeZone);
        const rig = start([scheduled({ name: 'a', schedule, misfire })], clock);
        const occurrences = occurrencesOf(schedule, new TimeZones());
        const lived = new Set<number>();
        const startedAtMs = clock.wallMs();
        // What was due before the schedule began is none of its own, though a step back leads to it again.
        const live = (fromMs: number, toMs: number): void => {
          const sinceMs = Math.max(fromMs, startedAtMs);
          for (let one = occurrences.next(sinceMs); one !== null && one <= toMs; one = occurrences.next(one))
            lived.add(one);
        };
        for (const { kind, sizeMs, thenMs } of moves) {
          const before = clock.wallMs();
          if (kind === 'step') clock.stepWall(sizeMs);
          else if (kind === 'suspend') clock.suspend(Math.abs(sizeMs));
          else clock.stall(Math.abs(sizeMs));
          if (kind !== 'step') live(before, clock.wallMs());
          live(clock.wallMs(), clock.wallMs() + thenMs);
          await clock.advance(thenMs);
        }
        const occurrencesGiven = rig.of('a');
        for (const [, occurrence, givenAtMs] of rig.due) assert.ok(givenAtMs >= occurrence, 'early');
        assert.equal(new Set(occurrencesGiven).size, occurrencesGiven.length, 'twice');
        for (const one of occurrencesGiven) assert.equal(occurrences.next(one - 1), one);
        for (const one of occurrencesGiven) lived.delete(one);
        const uncounted = rig.missed.some(([, , more]) => more);
        assert.ok(uncounted || lived.size <= missedOf(rig, 'a'), `${lived.size} left out`);
        rig.scheduler.stop();
        assert.equal(clock.timers, 0);
      },
    ),
    {
      numRuns: 80,
      examples: [['*/20 0-22 * * *', 'UTC', runOnce, [{ kind: 'step', sizeMs: -1, thenMs: 16_000 }], 0]],
    },
  );
});
