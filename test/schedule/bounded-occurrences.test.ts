/** start_at, stop_at and excluded dates: which occurrences are left, against a filter that asks each one by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseLocalDate } from '../../src/actors/kernel/parse-time.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { DateRange, ScheduleBounds, ScheduleSpec } from '../../src/main/config/config.ts';
import { boundedOccurrences } from '../../src/main/schedule/bounded-occurrences.ts';
import {
  type Occurrences,
  occurrencesOf,
  previewOf,
  scheduleText,
  TimeZones,
} from '../../src/main/schedule/index.ts';
import { OccurrencesOutside, StretchSet } from '../../src/main/schedule/stretches.ts';
import { cron, every, scheduled, start } from './scheduler-rig.ts';

const previewed = (options: Parameters<typeof previewOf>[0]) => previewOf(options).occurrences;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

function bounds(fields: Partial<ScheduleBounds>): ScheduleBounds {
  return { startAtMs: null, stopAtMs: null, exclude: [], timeZone: 'UTC', ...fields };
}

/** `2026-12-24..2027-01-02`. */
function dates(...texts: string[]): DateRange[] {
  return texts.map((text) => {
    const [first, last = first] = text.split('..');
    return { firstDay: parseLocalDate(first!)!, lastDay: parseLocalDate(last!)! };
  });
}

function between(spec: ScheduleSpec, fromMs: number, endMs: number): number[] {
  const occurrences = occurrencesOf(spec, new TimeZones());
  const found: number[] = [];
  for (let at = occurrences.next(fromMs - 1); at !== null && at < endMs; at = occurrences.next(at))
    found.push(at);
  return found;
}

const iso = (at: number) => new Date(at).toISOString().slice(0, 16);

test('start_at belongs to the schedule, stop_at does not, in both directions', () => {
  const limits = bounds({ startAtMs: 10_000, stopAtMs: 40_000 });
  for (const spec of [every(10_000), cron('*/10 * * * * *')]) {
    const bounded = occurrencesOf({ ...spec, bounds: limits }, new TimeZones());
    assert.deepEqual(
      [-1e15, 9999, 10_000, 29_999, 30_000, 40_000, 1e15].map((at) => bounded.next(at)),
      [10_000, 10_000, 20_000, 30_000, null, null, null],
    );
    assert.deepEqual(
      [1e15, 40_000, 30_000, 10_001, 10_000, -1e15].map((at) => bounded.prev(at)),
      [30_000, 30_000, 20_000, 10_000, null, null],
    );
  }
  const once = (atMs: number) => occurrencesOf({ kind: 'at', atMs, bounds: limits }, new TimeZones()).next(0);
  assert.deepEqual([once(9999), once(10_000), once(39_999), once(40_000)], [null, 10_000, 39_999, null]);
});

test('excluded dates are those of the zone, with all the hours that they have there', () => {
  const exclude = dates('2026-03-29', '2026-10-25');
  const berlin = bounds({ exclude, timeZone: 'Europe/Berlin' });
  const hourly = [every(HOUR_MS), cron('0 * * * *', 'Europe/Berlin')];
  for (const spec of hourly) {
    const left = (fromMs: number) =>
      between({ ...spec, bounds: berlin }, fromMs - 2 * HOUR_MS, fromMs + 27 * HOUR_MS).map(iso);
    // 23 hours and 25 hours long.
    assert.deepEqual(left(Date.UTC(2026, 2, 28, 23)), [
      '2026-03-28T21:00',
      '2026-03-28T22:00',
      '2026-03-29T22:00',
      '2026-03-29T23:00',
      '2026-03-30T00:00',
      '2026-03-30T01:00',
    ]);
    assert.deepEqual(left(Date.UTC(2026, 9, 24, 22)), [
      '2026-10-24T20:00',
      '2026-10-24T21:00',
      '2026-10-25T23:00',
      '2026-10-26T00:00',
    ]);
  }
  const daily = {
    ...cron('30 2 * * *', 'Europe/Berlin'),
    bounds: bounds({ ...berlin, exclude: dates('2026-12-24..2027-01-02') }),
  };
  assert.deepEqual(between(daily, Date.UTC(2026, 11, 23), Date.UTC(2027, 0, 4)).map(iso), [
    '2026-12-23T01:30',
    '2027-01-03T01:30',
  ]);
});

interface Written {
  readonly expression: string;
  readonly fits: (local: Temporal.PlainDateTime) => boolean;
}

const WRITTEN: readonly Written[] = [
  { expression: '30 2 * * *', fits: ({ hour, minute }) => hour === 2 && minute === 30 },
  { expression: '17 1-23 * * *', fits: ({ hour, minute }) => hour > 0 && minute === 17 },
  { expression: '*/20 0,23 * * *', fits: ({ hour, minute }) => hour % 23 === 0 && minute % 20 === 0 },
  {
    expression: '0 0 * * 1',
    fits: ({ dayOfWeek, hour, minute }) => dayOfWeek === 1 && hour === 0 && minute === 0,
  },
];

/** The dates of the local times that an instant stands for: its own, and those of the gap that ends with it. */
function datesOf(at: number, timeZone: string, fits: Written['fits']): number[] {
  const local = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDateTime();
  const end = local(at);
  let one = local(at - 60_000).add({ minutes: 1 });
  const found = new Set<string>();
  while (Temporal.PlainDateTime.compare(one, end) <= 0) {
    if (fits(one)) found.add(one.toPlainDate().toString());
    one = one.add({ minutes: 1 });
  }
  if (fits(end)) found.add(end.toPlainDate().toString());
  return [...found].map((date) => parseLocalDate(date)!);
}

test('any zone, any ranges: what is left are the occurrences with a local time on a date that is not excluded', () => {
  // Clocks that change at midnight or a minute after it, by half an hour, by a whole day that is left out, or over it.
  const zone = fc.constantFrom(
    ['America/St_Johns', '2006-09-01'],
    ['America/Sao_Paulo', '2014-09-20'],
    ['America/Nuuk', '2026-02-20'],
    ['Pacific/Apia', '2011-12-01'],
    ['Australia/Lord_Howe', '2026-03-10'],
    ['Africa/Casablanca', '2026-02-01'],
    ['UTC', '2026-02-01'],
  );
  const ranges = fc.array(fc.tuple(fc.nat(70), fc.integer({ min: 0, max: 12 })), { maxLength: 6 });
  fc.assert(
    fc.property(zone, fc.constantFrom(...WRITTEN), ranges, ([timeZone, first], written, chosen) => {
      const day = parseLocalDate(first!)!;
      const exclude: DateRange[] = [];
      for (const [offset, length] of chosen.toSorted((a, b) => a[0] - b[0])) {
        const firstDay = Math.max(day + offset, (exclude.at(-1)?.lastDay ?? 0) + 2);
        exclude.push({ firstDay, lastDay: firstDay + length });
      }
      const all = cron(written.expression, timeZone!);
      const bounded: ScheduleSpec = { ...all, bounds: bounds({ exclude, timeZone: timeZone! }) };
      const [fromMs, endMs] = [(day - 2) * DAY_MS, (day + 90) * DAY_MS];
      const expected = between(all, fromMs, endMs).filter((at) =>
        datesOf(at, timeZone!, written.fits).some(
          (own) => !exclude.some(({ firstDay, lastDay }) => firstDay <= own && own <= lastDay),
        ),
      );
      assert.deepEqual(between(bounded, fromMs, endMs), expected);
      const occurrences = occurrencesOf(bounded, new TimeZones());
      for (const [index, at] of expected.entries()) {
        if (index > 0) assert.equal(occurrences.prev(at), expected[index - 1]);
      }
    }),
    { numRuns: 30 },
  );
});

test('any zone, any ranges: an interval has no local times, and goes by the date on which it is due', () => {
  const zone = fc.constantFrom(
    ['America/St_Johns', '2006-10-20'],
    ['Pacific/Apia', '2011-12-20'],
    ['America/Nuuk', '2026-03-20'],
  );
  fc.assert(
    fc.property(zone, fc.nat(20), fc.nat(5), ([timeZone, first], offset, length) => {
      const firstDay = parseLocalDate(first!)! + offset;
      const range = { firstDay, lastDay: firstDay + length };
      const bounded: ScheduleSpec = {
        ...every(HOUR_MS),
        bounds: bounds({ exclude: [range], timeZone: timeZone! }),
      };
      const [fromMs, endMs] = [(firstDay - 4) * DAY_MS, (firstDay + 10) * DAY_MS];
      const expected = between(every(HOUR_MS), fromMs, endMs).filter((at) => {
        const date = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone!).toPlainDate();
        const own = parseLocalDate(date.toString())!;
        return own < range.firstDay || own > range.lastDay;
      });
      assert.deepEqual(between(bounded, fromMs, endMs), expected);
    }),
    { numRuns: 40 },
  );
});

test('a range is left in a few steps, however long it is and however many occurrences it holds', () => {
  let asked = 0;
  const counted = (inner: Occurrences): Occurrences => ({
    next: (at) => {
      asked++;
      return inner.next(at);
    },
    prev: (at) => {
      asked++;
      return inner.prev(at);
    },
  });
  const zones = new TimeZones();
  const tenMs = counted(occurrencesOf(every(10), zones));
  const century = bounds({ exclude: dates('2026-01-01..2125-12-31'), timeZone: 'Europe/Berlin' });
  const bounded = boundedOccurrences(tenMs, century, zones);
  const first = Temporal.ZonedDateTime.from('2126-01-01T00:00[Europe/Berlin]').epochMilliseconds;
  assert.equal(bounded.next(Date.UTC(2026, 5, 1)), first);
  assert.equal(bounded.prev(first), Date.UTC(2025, 11, 31, 23) - 10);
  assert.ok(asked >= 4 && asked <= 8, `${asked} asked`);

  // 1,000 of them, of which each holds a thousand occurrences.
  asked = 0;
  const stretches = {
    at: (at: number) =>
      at % 2_000_000 < 1_000_000
        ? null
        : { fromMs: at - (at % 1_000_000) - 1, toMs: at - (at % 1_000_000) + 999_999 },
  };
  const outside = new OccurrencesOutside(counted(occurrencesOf(every(1000), zones)), stretches);
  for (let at: number | null = 999_000; at !== null && at < 2e9; ) at = outside.next(at + 1_000_000 - 1000);
  assert.ok(asked > 1000 && asked <= 3000, `${asked} asked`);
});

test('bounds are no new schedule to the store, and none to the preview but what is left', () => {
  const bounded: ScheduleSpec = {
    ...cron('0 12 * * *'),
    bounds: bounds({ exclude: dates('2026-05-02..2026-05-03') }),
  };
  assert.equal(scheduleText(bounded), scheduleText(cron('0 12 * * *')));
  const dated = {
    ...every(HOUR_MS),
    bounds: bounds({ exclude: dates('2026-05-01'), timeZone: 'Asia/Kolkata' }),
  };
  const [local] = previewed({ schedule: dated, splayMs: 0, afterMs: Date.UTC(2026, 3, 30, 18), count: 1 });
  assert.equal(local?.local, '2026-05-02T00:30:00+05:30', 'as the dates are meant');
  const shown = previewed({ schedule: bounded, splayMs: 0, afterMs: Date.UTC(2026, 4, 1), count: 2 });
  assert.deepEqual(
    shown.map(({ atMs }) => iso(atMs)),
    ['2026-05-01T12:00', '2026-05-04T12:00'],
  );
});

test('occurrences on excluded dates are none at all: not given out, not missed', async () => {
  const clock = new TestClock(Date.UTC(2026, 4, 1, 11));
  const schedule: ScheduleSpec = {
    ...cron('0 12 * * *'),
    bounds: bounds({ exclude: dates('2026-05-02..2026-05-03') }),
  };
  const { scheduler, of, missed } = start([scheduled({ name: 'a', schedule })], clock);
  clock.suspend(2.5 * DAY_MS);
  await clock.advance(15_000);
  assert.deepEqual(of('a').map(iso), ['2026-05-01T12:00']);
  assert.deepEqual(missed, []);
  assert.equal(scheduler.nextOf('a'), Date.UTC(2026, 4, 4, 12));
  scheduler.stop();
});

test('a schedule that has ended is over: told once, not looked for again, and back where the clock is set back', async () => {
  const stopAtMs = Date.UTC(2026, 0, 1, 0, 10);
  const clock = new TestClock(Date.UTC(2026, 0, 1));
  const limited = (spec: ScheduleSpec): ScheduleSpec => ({ ...spec, bounds: bounds({ stopAtMs }) });
  const { scheduler, of, ended } = start(
    [
      scheduled({ name: 'cron', schedule: limited(cron('*/4 * * * *')) }),
      scheduled({ name: 'fixed', schedule: limited(cron('*/4 0-22 * * *')) }),
      scheduled({ name: 'past', schedule: { ...every(5000), bounds: bounds({ stopAtMs: 5 }) } }),
      scheduled({ name: 'once', schedule: { kind: 'at', atMs: 5 } }),
    ],
    clock,
  );
  assert.deepEqual(ended, [['past', 5]]);
  await clock.advance(12 * HOUR_MS);
  const all = ['2026-01-01T00:04', '2026-01-01T00:08'];
  assert.deepEqual([of('cron').map(iso), of('fixed').map(iso)], [all, all]);
  assert.deepEqual(ended.slice(1), [
    ['cron', stopAtMs],
    ['fixed', stopAtMs],
  ]);
  assert.deepEqual(
    ['cron', 'fixed', 'past', 'once'].map((name) => scheduler.nextOf(name)),
    [null, null, null, null],
  );
  // An hour before the start: fixed times have their own again only where they were not lived.
  clock.stepWall(-13 * HOUR_MS);
  await clock.advance(15_000);
  assert.equal(scheduler.nextOf('cron'), Date.UTC(2025, 11, 31, 23, 4));
  assert.equal(scheduler.nextOf('fixed'), Date.UTC(2025, 11, 31, 23, 0) + HOUR_MS);
  scheduler.stop();
  assert.equal(clock.timers, 0);
});

test('stretches join where they touch, and of more than sixteen the oldest is forgotten', () => {
  const set = new StretchSet();
  assert.ok(set.isEmpty);
  set.add(10, 10);
  assert.ok(set.isEmpty);
  set.add(10, 20);
  set.add(30, 40);
  assert.deepEqual(
    [set.at(10), set.at(11), set.at(20), set.at(21)],
    [null, { fromMs: 10, toMs: 20 }, { fromMs: 10, toMs: 20 }, null],
  );
  assert.deepEqual([set.lastEnd(19), set.lastEnd(20), set.lastEnd(100)], [Number.NEGATIVE_INFINITY, 20, 40]);
  set.add(20, 30);
  assert.deepEqual(set.at(25), { fromMs: 10, toMs: 40 });
  for (let index = 1; index <= 16; index++) set.add(index * 100, index * 100 + 1);
  assert.equal(set.at(25), null);
  assert.notEqual(set.at(101), null);
});
