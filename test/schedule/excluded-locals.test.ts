/** Excluded dates are those of the local times themselves, also where a change of the clocks moves a run over midnight. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseLocalDate } from '../../src/actors/kernel/parse-time.ts';
import type { DateRange, DstPolicy, ScheduleSpec } from '../../src/main/config/config.ts';
import { CronOccurrences, previewOf, Shifts, TimeZones } from '../../src/main/schedule/index.ts';
import { scheduleWarnings } from '../../src/main/schedule/warnings/index.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cronExpression } from './cron-arbitrary.ts';
import { instantsIn, stripsAroundChanges, type Wanted } from './cron-oracle.ts';
import { between, betweenBackwards, DAY_MS, DEFAULT_POLICY, POLICIES, sameInstants } from './cron-support.ts';

const previewed = (options: Parameters<typeof previewOf>[0]) => previewOf(options).occurrences;

const zones = new TimeZones();

interface Question {
  readonly expression: string;
  readonly zone: string;
  /** The first and the last date on which occurrences are looked at. */
  readonly from: string;
  readonly to: string;
  readonly dst?: DstPolicy;
}

function schedule(
  { expression, zone, dst = DEFAULT_POLICY }: Question,
  dates: readonly string[],
): ScheduleSpec {
  const exclude = dates.map((date) => ({ firstDay: parseLocalDate(date)!, lastDay: parseLocalDate(date)! }));
  const bounds = { startAtMs: null, stopAtMs: null, exclude, timeZone: zone };
  return { kind: 'cron', expression, timeZone: zone, dst, fields: cronFields(expression), bounds };
}

/** Local times of what runs, `*` behind those that are shifted; the same both ways. */
function runs(question: Question, ...dates: string[]): string[] {
  const spec = schedule(question, dates);
  const fromMs = Temporal.ZonedDateTime.from(`${question.from}T00:00[${question.zone}]`).epochMilliseconds;
  const endMs = Temporal.ZonedDateTime.from(`${question.to}T23:59[${question.zone}]`).epochMilliseconds;
  return previewed({ schedule: spec, splayMs: 0, afterMs: fromMs - 1, count: 50 })
    .filter(({ atMs }) => atMs <= endMs)
    .map(({ local, shifted }) => `${local.slice(0, 16)}${shifted ? '*' : ''}`);
}

test('a run that a gap moves over midnight belongs to the day on which its time is missing', () => {
  // In Nuuk the clocks go from 23:00 on Saturday to 0:00 on Sunday.
  const nuuk = { expression: '30 23 * * *', zone: 'America/Nuuk', from: '2026-03-27', to: '2026-03-29' };
  const [friday, moved, sunday] = ['2026-03-27T23:30', '2026-03-29T00:00*', '2026-03-29T23:30'];
  assert.deepEqual(runs(nuuk), [friday, moved, sunday]);
  assert.deepEqual(runs(nuuk, '2026-03-28'), [friday, sunday]);
  assert.deepEqual(runs(nuuk, '2026-03-29'), [friday, moved]);
  assert.deepEqual(runs(nuuk, '2026-03-28', '2026-03-29'), [friday]);
  const skip = { ...nuuk, dst: { gap: 'skip', repeat: 'first' } as const };
  assert.deepEqual(runs(skip, '2026-03-27'), [sunday]);
});

test('a day that is left out in whole is excluded by its own date', () => {
  const apia = { expression: '0 12 * * *', zone: 'Pacific/Apia', from: '2011-12-29', to: '2012-01-01' };
  const [before, moved, ...after] = ['29T12:00', '31T00:00*', '31T12:00'].map((text) => `2011-12-${text}`);
  assert.deepEqual(runs(apia), [before, moved, ...after, '2012-01-01T12:00']);
  assert.deepEqual(runs(apia, '2011-12-30'), [before, ...after, '2012-01-01T12:00']);
  assert.deepEqual(runs(apia, '2011-12-31'), [before, moved, '2012-01-01T12:00']);
  assert.deepEqual(runs(apia, '2011-12-29', '2011-12-30', '2011-12-31'), ['2012-01-01T12:00']);
});

test('a gap that holds the end of a day and the start of the next: each time goes by its own date', () => {
  // In Toronto the clocks went from 23:30 on 30 March 1919 to 0:30.
  const toronto = {
    expression: '15,45 0,23 * * *',
    zone: 'America/Toronto',
    from: '1919-03-30',
    to: '1919-03-31',
  };
  const rest = ['1919-03-31T00:45', '1919-03-31T23:15', '1919-03-31T23:45'];
  const first = ['00:15', '00:45', '23:15'].map((time) => `1919-03-30T${time}`);
  assert.deepEqual(runs(toronto), [...first, '1919-03-31T00:30*', ...rest]);
  assert.deepEqual(runs(toronto, '1919-03-30'), ['1919-03-31T00:30*', ...rest], 'for 00:15');
  assert.deepEqual(runs(toronto, '1919-03-31'), [...first, '1919-03-31T00:30*'], 'for 23:45');
  assert.deepEqual(runs(toronto, '1919-03-30', '1919-03-31'), []);
});

test('an instant that is due by itself, on a date that is excluded, still runs for the time that is moved to it', () => {
  const nuuk = { expression: '0 0,23 * * *', zone: 'America/Nuuk', from: '2026-03-28', to: '2026-03-29' };
  const [midnight, both, evening] = ['2026-03-28T00:00', '2026-03-29T00:00', '2026-03-29T23:00'];
  assert.deepEqual(runs(nuuk), [midnight, both, evening]);
  assert.deepEqual(runs(nuuk, '2026-03-28'), [both, evening]);
  assert.deepEqual(runs(nuuk, '2026-03-29'), [midnight, `${both}*`]);
});

test('an hour that comes twice over midnight belongs to the date that it has, both times', () => {
  // In St. John's the clocks went from 0:01 on Sunday back to 23:01 on Saturday.
  const question = {
    expression: '30 23 * * *',
    zone: 'America/St_Johns',
    from: '2006-10-28',
    to: '2006-10-29',
  };
  for (const repeat of ['first', 'last', 'both'] as const) {
    const asked = { ...question, dst: { gap: 'shift', repeat } as const };
    const saturday = repeat === 'both' ? ['2006-10-28T23:30', '2006-10-28T23:30'] : ['2006-10-28T23:30'];
    assert.deepEqual(runs(asked), [...saturday, '2006-10-29T23:30'], repeat);
    assert.deepEqual(runs(asked, '2006-10-28'), ['2006-10-29T23:30'], repeat);
    assert.deepEqual(runs(asked, '2006-10-29'), saturday, repeat);
  }
  // Midnight comes at both ends of the repeated hour; only the first one is a repeat.
  const midnight = { ...question, expression: '0 0 * * *', dst: { gap: 'shift', repeat: 'both' } as const };
  assert.deepEqual(runs(midnight), ['2006-10-28T00:00', '2006-10-29T00:00', '2006-10-29T00:00']);
  assert.deepEqual(runs(midnight, '2006-10-28'), ['2006-10-29T00:00', '2006-10-29T00:00']);
  assert.deepEqual(runs(midnight, '2006-10-29'), ['2006-10-28T00:00']);
});

test('what warns and what tells of a run that is moved goes by the same dates', () => {
  const nuuk = { expression: '15,30 23 * * *', zone: 'America/Nuuk', from: '2026-03-28', to: '2026-03-29' };
  const movedAtMs = Date.UTC(2026, 2, 29, 1);
  const moved = (...dates: string[]) =>
    new Shifts([{ name: 'a', schedule: schedule(nuuk, dates) }]).of('a', movedAtMs)?.local_time;
  assert.equal(moved(), '2026-03-28T23:15');
  assert.equal(moved('2026-03-29'), '2026-03-28T23:15');
  assert.equal(moved('2026-03-28'), undefined);
  const warned = (...dates: string[]) =>
    scheduleWarnings([{ name: 'a', schedule: schedule(nuuk, dates), splayMs: 0 }], {
      nowMs: movedAtMs - 5 * DAY_MS,
      lookAhead: true,
    }).map(({ message }) => message);
  for (const dates of [[], ['2026-03-29']])
    assert.match(warned(...dates).join(), /got 23:15 to 23:30 on Sat 2026-03-28/);
  assert.deepEqual(warned('2026-03-28'), []);
});

/** Where clocks change at or over midnight, or by a whole day; and where they change by day. */
const CHANGES: readonly (readonly [string, number])[] = [
  ['America/Nuuk', 2026],
  ['America/Toronto', 1919],
  ['America/St_Johns', 2006],
  ['America/Sao_Paulo', 2014],
  ['Africa/Cairo', 2026],
  ['Asia/Beirut', 2026],
  ['Pacific/Apia', 2011],
  ['Australia/Lord_Howe', 2026],
];

/** Times around midnight, where most of these changes are. */
const nearMidnight: fc.Arbitrary<Wanted> = fc
  .tuple(fc.subarray([0, 15, 31, 45], { minLength: 1 }), fc.subarray([0, 1, 12, 22, 23], { minLength: 1 }))
  .map(([minutes, hours]) => ({
    expression: `${minutes.join(',')} ${hours.join(',')} * * *`,
    everyHour: false,
    interval: false,
    fits: (local) => minutes.includes(local.getUTCMinutes()) && hours.includes(local.getUTCHours()),
  }));

test('around every such change, with any dates excluded: the instants that a reading of the clocks finds', () => {
  const strips = CHANGES.flatMap(([zone, year]) =>
    stripsAroundChanges(zone, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 4)),
  );
  assert.ok(strips.length >= 2 * CHANGES.length - 1);
  const strip = fc.constantFrom(...strips);
  const around = fc.subarray([-2, -1, 0, 1, 2]);
  const expressions = fc.oneof(nearMidnight, cronExpression());
  fc.assert(
    fc.property(strip, expressions, fc.constantFrom(...POLICIES), around, (one, wanted, dst, offsets) => {
      const day = Math.floor((one.localMs.at(-1) ?? 0) / DAY_MS);
      const exclude: DateRange[] = offsets.map((offset) => ({
        firstDay: day + offset,
        lastDay: day + offset,
      }));
      const fits = (local: Date) =>
        wanted.fits(local) && !offsets.includes(Math.floor(+local / DAY_MS) - day);
      const expected = instantsIn(one, { ...wanted, fits }, dst);
      const cron = new CronOccurrences(cronFields(wanted.expression), zones.zone(one.zone), {
        ...dst,
        exclude,
      });
      const place = () => `${wanted.expression} ${one.zone} ${JSON.stringify({ dst, offsets })}`;
      sameInstants(between(cron, one.startMs, one.endMs), expected, place);
      sameInstants(betweenBackwards(cron, one.startMs, one.endMs), expected, place);
    }),
    { numRuns: 300 },
  );
});

test('centuries and a thousand dates are left in a bounded time, both ways', () => {
  const days = Array.from({ length: 1000 }, (_, index) => ({
    firstDay: 20_000 + 2 * index,
    lastDay: 20_000 + 2 * index,
  }));
  // Every second day has a date of its own: none of them is left.
  const odd = new CronOccurrences(cronFields('0 0 12 * * *'), zones.zone('UTC'), {
    ...DEFAULT_POLICY,
    exclude: days,
  });
  assert.equal(odd.next(20_000 * DAY_MS), 20_001.5 * DAY_MS);
  const century = [{ firstDay: parseLocalDate('1900-01-01')!, lastDay: parseLocalDate('2399-12-31')! }];
  const policy = { ...DEFAULT_POLICY, exclude: century };
  const berlin = new CronOccurrences(cronFields('* * * * * *'), zones.zone('Europe/Berlin'), policy);
  const nowMs = Date.UTC(2026, 5, 1);
  const first = Temporal.ZonedDateTime.from('2400-01-01T00:00[Europe/Berlin]').epochMilliseconds;
  assert.equal(berlin.next(nowMs), first);
  assert.equal(berlin.prev(first), berlin.prev(nowMs));
  assert.equal(berlin.next(berlin.prev(first)!), first);
});
