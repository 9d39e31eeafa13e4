/** Cron in zones: known faults, the daylight-saving policy around real changes, and the parser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import type { DstPolicy } from '../../src/main/config/config.ts';
import { CronOccurrences, TimeZones } from '../../src/main/schedule/index.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cronExpression } from './cron-arbitrary.ts';
import { type ClockStrip, instantsIn, stripsAroundChanges, type Wanted, wallClock } from './cron-oracle.ts';

const DAY_MS = 86_400_000;
const YEAR_MS = 365.25 * DAY_MS;
const zones = new TimeZones();
const DEFAULT: DstPolicy = { gap: 'shift', repeat: 'first' };

function occurrences(expression: string, zone: string | null, dst: DstPolicy = DEFAULT): CronOccurrences {
  return new CronOccurrences(cronFields(expression), zones.zone(zone), dst);
}

function take(cron: CronOccurrences, afterMs: number, count: number): number[] {
  const found: number[] = [];
  for (let at = cron.next(afterMs); at !== null && found.length < count; at = cron.next(at)) found.push(at);
  return found;
}

function between(cron: CronOccurrences, fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let at = cron.next(fromMs - 1); at !== null && at < toMs; at = cron.next(at)) found.push(at);
  return found;
}

function betweenBackwards(cron: CronOccurrences, fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let at = cron.prev(toMs); at !== null && at >= fromMs; at = cron.prev(at)) found.push(at);
  return found.reverse();
}

function tookMs(call: () => void): number {
  // The best of three: the first may pay for compiling, any for a neighbour.
  const times = Array.from({ length: 3 }, () => {
    const before = performance.now();
    call();
    return performance.now() - before;
  });
  return Math.min(...times);
}

const iso = (instants: readonly number[]) => instants.map((at) => new Date(at).toISOString());
const utc = (text: string) => Date.parse(text);

test('T1: midnight does not exist in America/Sao_Paulo on the day the clocks go forward', () => {
  const cron = occurrences('0 0 10,26 * *', 'America/Sao_Paulo');
  const asked = utc('2014-10-18T15:00:00Z');
  assert.deepEqual(iso(take(cron, asked, 3)), [
    '2014-10-26T02:00:00.000Z',
    '2014-11-10T02:00:00.000Z',
    '2014-11-26T02:00:00.000Z',
  ]);
  const daily = occurrences('0 0 * * *', 'America/Sao_Paulo');
  assert.deepEqual(iso(take(daily, asked, 2)), ['2014-10-19T03:00:00.000Z', '2014-10-20T02:00:00.000Z']);
  assert.ok(tookMs(() => occurrences('0 0 10,26 * *', 'America/Sao_Paulo').next(asked)) < 5);
});

test('T2: 01:00 on 30 March 2025 does not exist in Europe/Lisbon: the first instant after the gap, or skip', () => {
  const asked = utc('2024-11-15T00:00:00Z');
  const shift = occurrences('0 1 30 3 *', 'Europe/Lisbon');
  assert.deepEqual(iso(take(shift, asked, 2)), ['2025-03-30T01:00:00.000Z', '2026-03-30T00:00:00.000Z']);
  const skip = occurrences('0 1 30 3 *', 'Europe/Lisbon', { gap: 'skip', repeat: 'first' });
  assert.deepEqual(iso(take(skip, asked, 1)), ['2026-03-30T00:00:00.000Z']);
  assert.ok(tookMs(() => parseCron('0 1 30 3 *')) < 100);
});

test('T3: 02:30 on the Sunday of the change runs at the first instant after the gap', () => {
  const cron = occurrences('30 2 * * 0', 'Europe/Amsterdam');
  assert.deepEqual(iso(take(cron, utc('2023-03-25T12:00:00Z'), 2)), [
    '2023-03-26T01:00:00.000Z',
    '2023-04-02T00:30:00.000Z',
  ]);
});

test('T4: back and forth around the gap of America/New_York', () => {
  const cron = occurrences('0 2 * * *', 'America/New_York');
  // 03:01 local time: a minute after the shifted run.
  const reference = utc('2020-03-08T07:01:00Z');
  assert.equal(cron.prev(reference), utc('2020-03-08T07:00:00Z'));
  assert.equal(cron.next(reference), utc('2020-03-09T06:00:00Z'));
  assert.equal(cron.prev(utc('2020-03-08T07:00:00Z')), utc('2020-03-07T07:00:00Z'));
  assert.equal(cron.next(utc('2020-03-07T07:00:00Z')), utc('2020-03-08T07:00:00Z'));
});

test('T5: every minute of the 25-hour day of America/Los_Angeles is 1,500 occurrences', () => {
  const found = between(
    occurrences('* * * * *', 'America/Los_Angeles'),
    utc('2025-11-02T07:00:00Z'),
    utc('2025-11-03T08:00:00Z'),
  );
  assert.equal(found.length, 1500);
  for (const [index, at] of found.entries()) assert.equal(at, found[0]! + index * 60_000);
});

test('T6: 200 runs of 02:30 in Europe/Berlin from before the change strictly increase', () => {
  const found = take(occurrences('30 2 * * *', 'Europe/Berlin'), utc('2023-03-25T00:00:00Z'), 200);
  assert.equal(found.length, 200);
  for (let index = 1; index < 200; index++) {
    const hours = (found[index]! - found[index - 1]!) / 3_600_000;
    assert.ok(hours >= 23 && hours <= 25, `${iso([found[index]!])[0]}: ${hours} hours after the one before`);
  }
});

test('T7: dates that never come are refused with the reason, within 50 ms', () => {
  for (const expression of ['0 0 30 2 *', '0 0 31 4 *', '0 0 31 2,4,6 *', '0 0 30,31 2 ?']) {
    assert.deepEqual(parseCron(expression), {
      problem: `expected a date that comes, got "${expression}": no month it names has a day it names`,
    });
    assert.ok(tookMs(() => parseCron(expression)) < 50, expression);
  }
});

test('T8: day 31 in short months is refused, or comes in the long ones; each instant fits its expression', () => {
  assert.ok('problem' in parseCron('0 0 31 4,6 *'));
  assert.deepEqual(iso(take(occurrences('0 0 31 4,5,6 *', 'UTC'), utc('2026-01-01T00:00:00Z'), 2)), [
    '2026-05-31T00:00:00.000Z',
    '2027-05-31T00:00:00.000Z',
  ]);
  fc.assert(
    fc.property(
      cronExpression(),
      fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
      (wanted, from) => {
        const cron = occurrences(wanted.expression, 'UTC');
        const [next, prev] = [cron.next(from.getTime()), cron.prev(from.getTime())];
        assert.ok(next !== null && next > from.getTime() && wanted.fits(new Date(next)));
        assert.ok(prev !== null && prev < from.getTime() && wanted.fits(new Date(prev)));
      },
    ),
    { numRuns: 300 },
  );
});

test('T9: 29 February, asked in 2021, is in 2024', () => {
  const cron = occurrences('0 0 29 2 *', 'Europe/Rome');
  assert.equal(cron.next(utc('2021-05-01T00:00:00Z')), utc('2024-02-28T23:00:00Z'));
  assert.equal(cron.prev(utc('2021-05-01T00:00:00Z')), utc('2020-02-28T23:00:00Z'));
});

test('the rarest date there is, a fifth Monday in February, is found across 2100, at once', () => {
  const cron = occurrences('0 3 * 2 1#5', 'America/New_York');
  const found = take(cron, utc('2026-01-01T00:00:00Z'), 5);
  assert.deepEqual(
    found.map((at) => new Date(at).getUTCFullYear()),
    [2044, 2072, 2112, 2140, 2168],
  );
  assert.equal(cron.prev(found[2]!), found[1]);
  assert.ok(tookMs(() => occurrences('0 3 * 2 1#5', 'America/New_York').next(found[1]!)) < 5);
});

test('a repeated hour: first, last or both; every hour runs in both whatever is said', () => {
  const [fromMs, toMs] = [utc('2025-10-25T22:00:00Z'), utc('2025-10-26T23:00:00Z')];
  const at = (expression: string, repeat: DstPolicy['repeat']) =>
    iso(between(occurrences(expression, 'Europe/Berlin', { gap: 'shift', repeat }), fromMs, toMs));
  const [first, second] = ['2025-10-26T00:30:00.000Z', '2025-10-26T01:30:00.000Z'];
  assert.deepEqual(at('30 2 * * *', 'first'), [first]);
  assert.deepEqual(at('30 2 * * *', 'last'), [second]);
  assert.deepEqual(at('30 2 * * *', 'both'), [first, second]);
  // The next such date is years away, and the second time must not be passed over on the way to it.
  assert.deepEqual(at('30 2 26 10 *', 'both'), [first, second]);
  assert.deepEqual(at('30 * 26 10 *', 'first').length, 25);
  const both = occurrences('30 2 26 10 *', 'Europe/Berlin', { gap: 'shift', repeat: 'both' });
  assert.deepEqual(iso([both.prev(utc(second) + 1)!, both.prev(utc(second))!]), [second, first]);
  for (const repeat of ['first', 'last', 'both'] as const) {
    assert.equal(at('30 * * * *', repeat).length, 25);
    assert.equal(at('30 0-23 * * *', repeat).length, 25);
  }
});

test('a gap: one run after it however many it swallows, none doubled, none for every hour', () => {
  const [fromMs, toMs] = [utc('2026-03-29T00:00:00Z'), utc('2026-03-29T02:00:00Z')];
  const at = (expression: string, gap: DstPolicy['gap']) =>
    iso(between(occurrences(expression, 'Europe/Berlin', { gap, repeat: 'first' }), fromMs, toMs));
  assert.deepEqual(at('*/20 2 * * *', 'shift'), ['2026-03-29T01:00:00.000Z']);
  assert.deepEqual(at('30 2,3 * * *', 'shift'), ['2026-03-29T01:00:00.000Z', '2026-03-29T01:30:00.000Z']);
  assert.deepEqual(at('0 2,3 * * *', 'shift'), ['2026-03-29T01:00:00.000Z']);
  assert.deepEqual(at('0,30 2,3 * * *', 'skip'), ['2026-03-29T01:00:00.000Z', '2026-03-29T01:30:00.000Z']);
  assert.deepEqual(at('30 * * * *', 'shift'), ['2026-03-29T00:30:00.000Z', '2026-03-29T01:30:00.000Z']);
});

test('a day that never was: Pacific/Apia left out 30 December 2011', () => {
  const asked = utc('2011-12-29T00:00:00Z');
  const [first] = take(occurrences('0 12 30 12 *', 'Pacific/Apia'), asked, 1);
  assert.equal(first, utc('2011-12-30T10:00:00Z'), 'the first instant of the 31st');
  const skip = occurrences('0 12 30 12 *', 'Pacific/Apia', { gap: 'skip', repeat: 'first' });
  assert.equal(skip.next(asked), utc('2012-12-29T22:00:00Z'));
  assert.equal(skip.prev(utc('2012-01-15T00:00:00Z')), utc('2010-12-30T22:00:00Z'));
});

/** Zone → ten years of its clock changes. */
const YEARS: Readonly<Record<string, number>> = {
  'Africa/Casablanca': 2020,
  'America/Los_Angeles': 2020,
  'America/New_York': 2020,
  'America/Sao_Paulo': 2011,
  'America/St_Johns': 2005,
  'Asia/Kolkata': 2020,
  'Asia/Tehran': 2015,
  'Atlantic/Azores': 2020,
  'Australia/Lord_Howe': 2020,
  'Australia/Sydney': 2020,
  'Europe/Amsterdam': 2020,
  'Europe/Berlin': 2020,
  'Europe/Lisbon': 2020,
  'Europe/Rome': 2020,
  'Pacific/Apia': 2005,
  'Pacific/Chatham': 2020,
  UTC: 2020,
};
const strips = Object.entries(YEARS).flatMap(([zone, year]) =>
  stripsAroundChanges(zone, Date.UTC(year, 0, 1), Date.UTC(year + 10, 0, 1)),
);

function agrees(strip: ClockStrip, wanted: Wanted, dst: DstPolicy): void {
  const cron = occurrences(wanted.expression, strip.zone, dst);
  const expected = iso(instantsIn(strip, wanted, dst));
  const place = `${wanted.expression} in ${strip.zone}, ${JSON.stringify(dst)}`;
  assert.deepEqual(iso(between(cron, strip.startMs, strip.endMs)), expected, place);
  assert.deepEqual(iso(betweenBackwards(cron, strip.startMs, strip.endMs)), expected, `${place}, backwards`);
}

test('there are changes to look at in every zone that has any', () => {
  const seen = new Set(strips.map(({ zone }) => zone));
  assert.deepEqual(
    Object.keys(YEARS).filter((zone) => !seen.has(zone)),
    ['Asia/Kolkata', 'UTC'],
  );
  assert.ok(strips.length > 240, `${strips.length}`);
});

test('around every change of ten years: the same instants as reading the clock minute by minute, both ways', () => {
  const everyDay: Wanted[] = [
    {
      expression: '0,30 0-3 * * *',
      everyHour: false,
      fits: (local) => local.getUTCMinutes() % 30 === 0 && local.getUTCHours() <= 3,
    },
    { expression: '15 * * * *', everyHour: true, fits: (local) => local.getUTCMinutes() === 15 },
    {
      expression: '45 */2 * * *',
      everyHour: false,
      fits: (local) => local.getUTCMinutes() === 45 && local.getUTCHours() % 2 === 0,
    },
  ];
  for (const strip of strips) for (const wanted of everyDay) agrees(strip, wanted, DEFAULT);
});

test('any expression and policy around a change: the same instants as reading the clock, both ways', () => {
  const dst = fc.record({
    gap: fc.constantFrom<DstPolicy['gap']>('shift', 'skip'),
    repeat: fc.constantFrom<DstPolicy['repeat']>('first', 'last', 'both'),
  });
  const place = fc.nat(strips.length - 1);
  fc.assert(
    fc.property(place, cronExpression(), dst, (index, wanted, policy) =>
      agrees(strips[index]!, wanted, policy),
    ),
    { numRuns: 1000 },
  );
});

test('any zone, expression and instant: prev is the way back of next, each step strictly onward', () => {
  const zone = fc.constantFrom(...Object.keys(YEARS));
  const from = fc.integer({ min: utc('2005-01-01T00:00:00Z'), max: utc('2040-01-01T00:00:00Z') });
  fc.assert(
    fc.property(zone, cronExpression(), from, (name, { expression }, fromMs) => {
      const cron = occurrences(expression, name);
      let lastMs = fromMs;
      for (const at of take(cron, fromMs, 20)) {
        assert.ok(at > lastMs);
        const before = cron.prev(at);
        assert.ok(lastMs === fromMs ? before !== null && before <= fromMs : before === lastMs);
        assert.equal(cron.next(at - 1), at);
        assert.equal(cron.prev(at + 1), at);
        lastMs = at;
      }
    }),
    { numRuns: 300 },
  );
});

test('away from changes: the same instants as cron-parser', () => {
  const from = fc.integer({ min: utc('2020-01-01T00:00:00Z'), max: utc('2030-01-01T00:00:00Z') });
  let compared = 0;
  fc.assert(
    fc.property(
      fc.constantFrom('UTC', 'Asia/Kolkata', 'Europe/Berlin'),
      cronExpression(),
      from,
      (zone, wanted, fromMs) => {
        const parsed = CronExpressionParser.parse(wanted.expression, {
          currentDate: new Date(fromMs),
          tz: zone,
        });
        const cron = occurrences(wanted.expression, zone);
        const span = zones.zone(zone).spanAt(Math.floor(fromMs / 1000) * 1000);
        for (let at = cron.next(fromMs), count = 0; count < 5 && at !== null; at = cron.next(at), count++) {
          // A day from a change cron-parser has rules of its own; far ahead it gives up.
          if (at - DAY_MS < span.startMs || at + DAY_MS > span.endMs || at - fromMs > 5 * YEAR_MS) break;
          assert.equal(parsed.next().getTime(), at, `${wanted.expression} in ${zone}`);
          compared++;
        }
      },
    ),
    { numRuns: 150 },
  );
  assert.ok(compared > 150, `${compared}`);
});

test('seconds: the sixth field, across its halves', () => {
  const found = take(occurrences('5,29,30,59 59 23 31 12 *', 'UTC'), utc('2026-01-01T00:00:00Z'), 5);
  assert.deepEqual(iso(found), [
    '2026-12-31T23:59:05.000Z',
    '2026-12-31T23:59:29.000Z',
    '2026-12-31T23:59:30.000Z',
    '2026-12-31T23:59:59.000Z',
    '2027-12-31T23:59:05.000Z',
  ]);
  const cron = occurrences('*/7 * * * * *', 'UTC');
  const forward = between(cron, 0, 600_000);
  assert.deepEqual(
    forward,
    Array.from({ length: 600 }, (_, second) => second * 1000).filter((at) => ((at / 1000) % 60) % 7 === 0),
  );
  assert.deepEqual(betweenBackwards(cron, 0, 600_000), forward);
});

test('any seconds, minutes and hours of a day: the same as trying every second, both ways', () => {
  const sixty = fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 8 });
  const hours = fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(sixty, sixty, hours, (seconds, minutes, hour) => {
      const cron = occurrences(`${seconds} ${minutes} ${hour} * * *`, 'UTC');
      const expected: number[] = [];
      for (let second = 0; second < 86_400; second++) {
        const at = new Date(second * 1000);
        if (!hour.includes(at.getUTCHours()) || !minutes.includes(at.getUTCMinutes())) second += 59;
        else if (seconds.includes(at.getUTCSeconds())) expected.push(second * 1000);
      }
      assert.deepEqual(between(cron, 0, DAY_MS), expected);
      assert.deepEqual(betweenBackwards(cron, 0, DAY_MS), expected);
    }),
    { numRuns: 50 },
  );
});

test('instants between seconds, and at the ends of time', () => {
  const cron = occurrences('* * * * * *', 'Europe/Berlin');
  assert.equal(cron.next(999.5), 1000);
  assert.equal(cron.next(1000), 2000);
  assert.equal(cron.prev(1000.5), 1000);
  assert.equal(cron.prev(1000), 0);
  for (const atMs of [8.64e15, 9e15, Number.POSITIVE_INFINITY, Number.NaN])
    assert.equal(cron.next(atMs), null);
  for (const atMs of [-8.64e15, -9e15, Number.NEGATIVE_INFINITY, Number.NaN])
    assert.equal(cron.prev(atMs), null);
});

test('the zone of the machine: the one that TZ names, or the one offset of what is no name', (t) => {
  const before = process.env.TZ;
  t.after(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });
  const summer = (zone: string) => {
    process.env.TZ = zone;
    const cron = new CronOccurrences(cronFields('0 12 1 7 *'), new TimeZones().zone(null), DEFAULT);
    return iso([cron.next(utc('2026-01-01T00:00:00Z'))!])[0];
  };
  assert.equal(summer('America/New_York'), '2026-07-01T16:00:00.000Z');
  assert.equal(summer('UTC'), '2026-07-01T12:00:00.000Z');
  assert.equal(summer('CET-1'), '2026-07-01T11:00:00.000Z');
  assert.equal(summer(''), '2026-07-01T12:00:00.000Z');
});

test('zones are right where they are asked first, and after more changes than are kept', () => {
  const local = wallClock('America/St_Johns');
  const zone = new TimeZones().zone('America/St_Johns');
  const instants = Array.from(
    { length: 40 },
    (_, index) => utc('2000-01-01T00:00:00Z') + index * 100 * DAY_MS,
  );
  for (const at of [...instants, ...instants.toReversed()]) {
    const span = zone.spanAt(at);
    assert.ok(span.startMs <= at && at < span.endMs);
    assert.equal(at + span.offsetMs, local(at));
    assert.equal(zone.spanAt(span.endMs).beforeMs, span.offsetMs);
    assert.equal(zone.spanAt(span.startMs - 1000).endMs, span.startMs);
    assert.equal(zone.spanAt(span.startMs - 1000).afterMs, span.offsetMs);
  }
});

test('@-words mean what they say', () => {
  const words = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
  const first = words.map((word) => take(occurrences(word, 'UTC'), utc('2026-01-01T00:00:00Z'), 1)[0]!);
  assert.deepEqual(iso(first), [
    '2027-01-01T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
    '2026-01-04T00:00:00.000Z',
    '2026-01-02T00:00:00.000Z',
    '2026-01-02T00:00:00.000Z',
    '2026-01-01T01:00:00.000Z',
  ]);
});

test('day of month and weekday: either, where both are given; names, last days and nth weekdays', () => {
  const days = (expression: string, month = '2026-05') =>
    take(occurrences(`0 0 ${expression}`, 'UTC'), utc(`${month}-01T00:00:00Z`) - 1, 40)
      .map((at) => iso([at])[0]!)
      .filter((text) => text.startsWith(month))
      .map((text) => Number(text.slice(8, 10)));
  // 1 May 2026 is a Friday.
  assert.deepEqual(days('1 * 1'), [1, 4, 11, 18, 25]);
  assert.deepEqual(days('1 * *'), [1]);
  assert.deepEqual(days('* * mon'), [4, 11, 18, 25]);
  assert.deepEqual(days('* may SUN,7'.replace(',7', '')), [3, 10, 17, 24, 31]);
  assert.deepEqual(days('* * 7'), [3, 10, 17, 24, 31]);
  assert.deepEqual(days('* * 5-7'), [1, 2, 3, 8, 9, 10, 15, 16, 17, 22, 23, 24, 29, 30, 31]);
  assert.deepEqual(days('L * *'), [31]);
  assert.deepEqual(days('L * *', '2028-02'), [29]);
  assert.deepEqual(days('* * 5L'), [29]);
  assert.deepEqual(days('* * 7L'), [31]);
  assert.deepEqual(days('* * 2#1'), [5]);
  assert.deepEqual(days('* * 5#5'), [29]);
  assert.deepEqual(days('15 * 1,5L'), [4, 11, 15, 18, 25, 29]);
  assert.deepEqual(days('? * ?').length, 31);
});

test('expressions that cannot be are refused with the reason', () => {
  const problem = (expression: string) => {
    const parsed = parseCron(expression);
    return 'problem' in parsed ? parsed.problem : null;
  };
  const fields = 'expected a cron expression of 5 fields, or 6 with seconds first';
  assert.equal(problem(''), `${fields}, got 0 in ""`);
  assert.equal(problem('* * *'), `${fields}, got 3 in "* * *"`);
  assert.equal(problem('* * * * * * *'), `${fields}, got 7 in "* * * * * * *"`);
  assert.equal(
    problem('@never'),
    'expected one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, got "@never"',
  );
  assert.match(problem('@reboot') ?? '', /; use run_on_start: true$/);
  assert.match(problem('H * * * *') ?? '', /^expected a cron expression without H, .*splay_seconds$/);
  for (const expression of [
    '61 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    'a * * * *',
    '* * W * *',
    '* * * * L',
    '* * * * 1#6',
    '1,1 * * * *',
  ]) {
    assert.match(problem(expression) ?? '', /^expected a cron expression, got ".*": ./, expression);
  }
});

test('fields are plain data', () => {
  const fields = cronFields('0,59 */5 1-4 L,3 1,12 5L');
  assert.deepEqual(JSON.parse(JSON.stringify(fields)), fields);
  assert.ok(Object.values(fields).every((value) => typeof value === 'boolean' || value >= 0));
});
