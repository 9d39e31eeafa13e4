/** Schedules from which nothing is to come: why, in a bounded time, and the warning at its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseLocalDate } from '../../src/actors/kernel/parse-time.ts';
import type { DateRange, ScheduleBounds, ScheduleSpec } from '../../src/main/config/config.ts';
import { endReason, occurrencesOf, previewOf, TimeZones } from '../../src/main/schedule/index.ts';
import { endAfter } from '../../src/main/schedule/schedule-end.ts';
import { scheduleWarnings } from '../../src/main/schedule/warnings/index.ts';
import { MAX_LOOKED } from '../../src/main/schedule/warnings/never-runs.ts';
import { problemsOf, warningsOf } from '../config/config-fixtures.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cpuMs, DAY_MS } from './cron-support.ts';

const NOW = Date.UTC(2026, 6, 15, 12);
const zones = new TimeZones();
const day = (text: string) => parseLocalDate(text)!;

function cron(expression: string, timeZone = 'UTC', gap: 'shift' | 'skip' = 'shift'): ScheduleSpec {
  return {
    kind: 'cron',
    expression,
    timeZone,
    dst: { gap, repeat: 'first' },
    fields: cronFields(expression),
  };
}

function bounded(spec: ScheduleSpec, fields: Partial<ScheduleBounds>): ScheduleSpec {
  return { ...spec, bounds: { startAtMs: null, stopAtMs: null, exclude: [], timeZone: 'UTC', ...fields } };
}

function dates(first: string, last = first): DateRange {
  return { firstDay: day(first), lastDay: day(last) };
}

/** `cause: in words`; null: it runs. */
function end(spec: ScheduleSpec, afterMs = NOW): string | null {
  const found = endAfter(spec, afterMs, zones);
  return found === null ? null : `${found.cause}: ${endReason(spec, found)}`;
}

test('stop_at before the next one: the instant that does not count is named', () => {
  const stopAtMs = Date.UTC(2027, 0, 1);
  const leapDay = cron('0 0 29 2 *');
  assert.equal(
    end(bounded(leapDay, { stopAtMs })),
    'stopped: stop_at is 2027-01-01T00:00:00Z, the next would be at 2028-02-29T00:00:00Z',
  );
  assert.equal(end(bounded(leapDay, { stopAtMs: Date.UTC(2028, 2, 1) })), null);
  assert.equal(
    end(bounded({ kind: 'every', everyMs: DAY_MS }, { stopAtMs: NOW + 1 })),
    'stopped: stop_at is 2026-07-15T12:00:00.001Z, the next would be at 2026-07-16T00:00:00Z',
  );
  const late = bounded(leapDay, { startAtMs: Date.UTC(2029, 0, 1), stopAtMs: Date.UTC(2031, 0, 1) });
  assert.match(end(late) ?? '', /^stopped: .*the next would be at 2032-02-29T00:00:00Z$/, 'from start_at on');
});

test('excluded dates: all up to stop_at, or all of the years to come', () => {
  const daily = cron('30 12 * * *');
  const stopAtMs = Date.UTC(2026, 6, 20);
  const all = { stopAtMs, exclude: [dates('2026-07-15', '2026-07-19')] };
  assert.equal(
    end(bounded(daily, all)),
    'excluded: each of its dates before stop_at, 2026-07-20T00:00:00Z, is excluded',
  );
  assert.equal(end(bounded(daily, { ...all, exclude: [dates('2026-07-16', '2026-07-19')] })), null);
  const forever = [dates('0001-01-01', '9999-12-31')];
  for (const spec of [daily, cron('* * * * * *', 'Europe/Berlin'), { kind: 'every', everyMs: 10 } as const]) {
    assert.equal(
      end(bounded(spec, { exclude: forever })),
      'excluded: each of its dates in the next 41 years is excluded',
    );
  }
  const at = bounded({ kind: 'at', atMs: Date.UTC(2026, 11, 25, 12) }, { exclude: [dates('2026-12-25')] });
  assert.equal(end(at), 'excluded: its date is excluded');
});

test('far ahead is not never: start_at, an instant, and the rarest date', () => {
  const startAtMs = Date.UTC(2200, 0, 1);
  assert.equal(end(bounded(cron('0 0 * * *'), { startAtMs })), null);
  assert.equal(end({ kind: 'at', atMs: startAtMs }), null);
  // A fifth Monday in February: 2072 to 2112 are forty years.
  assert.equal(end(cron('0 0 * 2 1#5'), Date.UTC(2096, 2, 1)), null);
  // The last excluded year is 2060.
  assert.equal(end(bounded(cron('0 0 * * *'), { exclude: [dates('2020-01-01', '2060-12-31')] })), null);
});

test('a local time that the clocks skip whenever it comes, with gap: skip', () => {
  const always = cron('30 2 * 3 0#2', 'America/New_York', 'skip');
  assert.match(
    end(always) ?? '',
    /^skipped: the clocks skip its local time whenever it comes in the next 41 years/,
  );
  assert.equal(end(cron('30 2 * 3 0#2', 'America/New_York')), null);
  assert.equal(end(cron('30 2 * 3 0', 'America/New_York', 'skip')), null);
  const once = cron('30 2 28 3 *', 'Europe/Berlin', 'skip');
  assert.match(
    end(bounded(once, { stopAtMs: Date.UTC(2027, 3, 1) })) ?? '',
    /^skipped: .*before stop_at, 2027-04-01/,
  );
});

test('one instant: once, and after it nothing', () => {
  const at: ScheduleSpec = { kind: 'at', atMs: NOW };
  assert.equal(end(at, NOW - 1), null);
  assert.equal(end(at, NOW), 'once: it runs once, at 2026-07-15T12:00:00Z');
});

test('any bounds: an end is told exactly where counting day by day finds none, with the cause', () => {
  const hours = fc.integer({ min: 0, max: 23 });
  const ranges = fc.array(fc.tuple(fc.nat(20), fc.nat(12)), { maxLength: 4 });
  const offset = fc.option(fc.nat(24 * 20), { nil: null });
  fc.assert(
    fc.property(hours, fc.nat(6), offset, fc.nat(24 * 20), ranges, (hour, weekday, start, stop, chosen) => {
      const from = Math.floor(NOW / DAY_MS);
      const exclude: DateRange[] = [];
      for (const [first, length] of chosen.toSorted((a, b) => a[0] - b[0])) {
        const firstDay = Math.max(from + first, (exclude.at(-1)?.lastDay ?? 0) + 2);
        exclude.push({ firstDay, lastDay: firstDay + length });
      }
      const stopAtMs = NOW + stop * 3_600_000;
      const startAtMs = start === null ? null : NOW + start * 3_600_000;
      const spec = bounded(cron(`0 ${hour} * * ${weekday}`), { startAtMs, stopAtMs, exclude });
      let [any, left] = [false, false];
      for (let one = from; one <= from + 21; one++) {
        const at = one * DAY_MS + hour * 3_600_000;
        const counts =
          at > NOW && at >= (startAtMs ?? NOW) && at < stopAtMs && new Date(at).getUTCDay() === weekday;
        any ||= counts;
        left ||= counts && !exclude.some(({ firstDay, lastDay }) => firstDay <= one && one <= lastDay);
      }
      const cause = endAfter(spec, NOW, zones)?.cause ?? null;
      assert.equal(cause, left ? null : any ? 'excluded' : 'stopped');
    }),
    { numRuns: 300 },
  );
});

test('the preview says why there are fewer than were asked for, and nothing where there are not', () => {
  const stopped = bounded(cron('0 12 * * *'), { stopAtMs: Date.UTC(2026, 6, 18) });
  const ask = (count: number, schedule = stopped) => previewOf({ schedule, splayMs: 0, afterMs: NOW, count });
  assert.equal(ask(2).end, null);
  const three = ask(3);
  assert.deepEqual([three.occurrences.length, three.end?.cause], [2, 'stopped']);
  assert.equal(three.end?.wouldBeMs, Date.UTC(2026, 6, 18, 12), 'the one after the last that is shown');
  const forever = bounded(cron('0 12 * * *'), { exclude: [dates('2026-07-18', '9999-12-31')] });
  const some = ask(9, forever);
  assert.deepEqual([some.occurrences.length, some.end?.cause], [2, 'excluded'], 'none of the year 10000');
});

test('the look ahead is a few searches, whatever the dates and the expression', () => {
  const days = Array.from({ length: 1000 }, (_, index) => {
    const firstDay = day('2026-01-01') + 15 * index;
    return { firstDay, lastDay: firstDay + 13 };
  });
  const rare = bounded(cron('* * * * * *', 'Europe/Berlin', 'skip'), {
    exclude: days,
    stopAtMs: Date.UTC(2060, 0, 1),
  });
  const never = bounded(cron('0 0 29 2 1', 'Europe/Berlin', 'skip'), {
    exclude: [dates('0001-01-01', '9999-12-31')],
  });
  const skipped = cron('30 2 * 3 0#2', 'America/New_York', 'skip');
  for (const spec of [rare, never, skipped]) {
    assert.ok(cpuMs(() => endAfter(spec, NOW, new TimeZones())) < 30, JSON.stringify(end(spec)));
  }
});

const text = (...lines: string[]) =>
  `tasks:\n  - name: a\n    handler: noop\n${lines.map((line) => `    ${line}\n`).join('')}`;

const warned = (yaml: string, nowMs = NOW) =>
  warningsOf(yaml, {
    nowMs,
    warnOfSchedules: (tasks) => scheduleWarnings(tasks, { nowMs, lookAhead: false }),
  });

test('a schedule that never runs is warned of at its place, with the reason and what to do', async () => {
  const zone = 'time_zone: UTC';
  assert.deepEqual(await warned(text('schedule: "0 0 29 2 *"', zone, 'stop_at: 2027-01-01T00:00:00Z')), [
    'c.yaml:6:14: tasks[0] (a).stop_at: expected an occurrence to come before stop_at, got none, for the next would be at ' +
      '2028-02-29T00:00:00Z: the task does not run by its schedule any more; set stop_at later, or remove it',
  ]);
  assert.deepEqual(await warned(text('every: 1h', zone, 'exclude: [ 0001-01-01..9999-12-31 ]')), [
    'c.yaml:6:14: tasks[0] (a).exclude: expected dates that leave an occurrence, got each date of the next 41 years on ' +
      'which it would run: the task does not run by its schedule; remove some of them',
  ]);
  const window = [
    'start_at: 2026-08-01T00:00:00Z',
    'stop_at: 2026-08-03T00:00:00Z',
    'exclude: [ 2026-08-01..2026-08-02 ]',
  ];
  assert.deepEqual(await warned(text('schedule: "@hourly"', zone, ...window)), [
    'c.yaml:8:14: tasks[0] (a).exclude: expected dates that leave an occurrence, got each date before stop_at, ' +
      '2026-08-03T00:00:00Z on which it would run: the task does not run by its schedule; remove some of them',
  ]);
  assert.deepEqual(
    await warned(text('at: 2026-12-25T23:30:00Z', 'time_zone: Europe/Berlin', 'exclude: [ 2026-12-26 ]')),
    [
      'c.yaml:6:14: tasks[0] (a).exclude: expected an instant whose date is not excluded, got at: 2026-12-25T23:30:00Z, ' +
        'which is on Sat 2026-12-26 in Europe/Berlin: the task does not run; remove that date, or set another instant',
    ],
  );
  const always = ['schedule: "30 2 * 3 0#2"', 'time_zone: America/New_York', 'dst: { gap: skip }'];
  assert.deepEqual(await warned(text(...always)), [
    'c.yaml:4:15: tasks[0] (a).schedule: expected a local time that exists when it comes, got one that the clocks of ' +
      'America/New_York skip each time of the next 41 years: the task does not run, by dst.gap: skip; set dst: { gap: shift }, ' +
      'or choose a time of day that the clocks do not skip',
  ]);
});

test('what ran is over and loads as ever; what has passed is told once', async () => {
  const at = text('at: 2026-07-15T11:00:00Z', 'start_at: 2026-07-15T00:00:00Z', 'exclude: [ 2026-12-25 ]');
  assert.deepEqual(await problemsOf(at, { nowMs: NOW }), []);
  const [passed, ...more] = await warned(at);
  assert.match(passed ?? '', /\.at: expected an instant to come, got .*, which has passed/);
  assert.deepEqual(more, []);
  const stopped = await warned(text('every: 1h', 'stop_at: 2026-07-15T11:00:00Z', 'exclude: [ 2026-07-16 ]'));
  assert.equal(stopped.length, 1);
  assert.match(stopped[0] ?? '', /\.stop_at: expected an instant to come, got .*, which has passed/);
  // Its last occurrence was an hour ago, and stop_at is in an hour.
  const over = text('schedule: "0 11 * * *"', 'time_zone: UTC', 'stop_at: 2026-07-15T13:00:00Z');
  assert.deepEqual(await problemsOf(over, { nowMs: NOW }), []);
  assert.match((await warned(over)).join(), /stop_at: expected an occurrence to come before stop_at/);
  assert.deepEqual(await warned(over, NOW - 2 * 3_600_000), []);
});

test('of many tasks with bounds the first 2,000 are looked at', () => {
  const task = (stopAtMs: number) => ({
    name: 'one',
    schedule: bounded({ kind: 'every', everyMs: DAY_MS }, { stopAtMs }),
    splayMs: 0,
  });
  const long = Array.from({ length: MAX_LOOKED - 1 }, () => task(NOW + 2 * DAY_MS));
  const told = (...tasks: ReturnType<typeof task>[]) =>
    scheduleWarnings(tasks, { nowMs: NOW, lookAhead: false }).map((warning) => warning.task);
  assert.deepEqual(told(...long, task(NOW + 1)), [MAX_LOOKED - 1]);
  assert.deepEqual(told(...long, task(NOW + 2 * DAY_MS), task(NOW + 1)), []);
});

test('schedules without bounds are not looked at ahead', () => {
  const schedules = [cron('0 0 29 2 *'), cron('* * * * *'), { kind: 'every', everyMs: 10 } as const];
  const tasks = schedules.map((schedule, index) => ({ name: `t${index}`, schedule, splayMs: 0 }));
  assert.deepEqual(scheduleWarnings(tasks, { nowMs: NOW, lookAhead: false }), []);
  assert.equal(occurrencesOf(cron('0 0 29 2 *'), zones).next(NOW), Date.UTC(2028, 1, 29));
});
