/** The search for local times: rare dates, far years, seconds, the ends of time, and a zone that is not one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CronExpressionParser } from 'cron-parser';
import fc from 'fast-check';
import { CronOccurrences, TimeZones } from '../../src/main/schedule/index.ts';
import type { TimeZone, ZoneSpan } from '../../src/main/schedule/time-zones.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cronExpression } from './cron-arbitrary.ts';
import {
  between,
  betweenBackwards,
  cpuMs,
  DAY_MS,
  DEFAULT_POLICY,
  iso,
  occurrences,
  sameInstants,
  take,
  utc,
} from './cron-support.ts';

const YEAR_MS = 365.25 * DAY_MS;
const zones = new TimeZones();

test('the rarest date there is, a fifth Monday in February, is found across 2100, at once', () => {
  const cron = occurrences('0 3 * 2 1#5', 'America/New_York');
  const found = take(cron, utc('2026-01-01T00:00:00Z'), 5);
  assert.deepEqual(
    found.map((at) => new Date(at).getUTCFullYear()),
    [2044, 2072, 2112, 2140, 2168],
  );
  assert.equal(cron.prev(found[2]!), found[1]);
  assert.ok(cpuMs(() => occurrences('0 3 * 2 1#5', 'America/New_York').next(found[1]!)) < 5);
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
    { numRuns: 60 },
  );
  assert.ok(compared > 0);
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
  sameInstants(betweenBackwards(cron, 0, 600_000), forward, () => 'backwards');
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
      sameInstants(between(cron, 0, DAY_MS), expected, () => 'onward');
      sameInstants(betweenBackwards(cron, 0, DAY_MS), expected, () => 'backwards');
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

test('rare dates and uneven steps', () => {
  const dates = (expression: string, from: string, count: number) =>
    iso(take(occurrences(`0 0 ${expression}`, 'UTC'), utc(from) - 1, count)).map((text) => text.slice(0, 10));
  // Of February only a leap year has a fifth of a weekday, on the 29th, so the union adds nothing.
  assert.deepEqual(dates('29 2 1#5', '2026-01-01', 10), dates('29 2 *', '2026-01-01', 10));
  assert.deepEqual(dates('31 * *', '2026-01-01', 7), [
    '2026-01-31',
    '2026-03-31',
    '2026-05-31',
    '2026-07-31',
    '2026-08-31',
    '2026-10-31',
    '2026-12-31',
  ]);
  assert.deepEqual(dates('*/10 2 *', '2028-01-01', 4), [
    '2028-02-01',
    '2028-02-11',
    '2028-02-21',
    '2029-02-01',
  ]);
  assert.deepEqual(dates('1 */5 *', '2026-01-01', 4), [
    '2026-01-01',
    '2026-06-01',
    '2026-11-01',
    '2027-01-01',
  ]);
  // From Monday on every three days: Monday, Thursday, Sunday, and anew.
  assert.deepEqual(dates('* * 1/3', '2026-05-03', 5), [
    '2026-05-03',
    '2026-05-04',
    '2026-05-07',
    '2026-05-10',
    '2026-05-11',
  ]);
  // A step that does not divide its field begins anew with each round of it.
  const minutes = take(occurrences('*/7 * * * *', 'UTC'), -1, 20).map((at) => at / 60_000);
  assert.deepEqual(
    minutes,
    [0, 7, 14, 21, 28, 35, 42, 49, 56, 60, 67, 74, 81, 88, 95, 102, 109, 116, 120, 127],
  );
});

test('any year there is: each instant is a time of its expression, there and back, in a zone too', () => {
  const from = fc.integer({ min: -8.6e15, max: 8.6e15 });
  fc.assert(
    fc.property(cronExpression(), from, (wanted, fromMs) => {
      const cron = occurrences(wanted.expression, 'UTC');
      const next = cron.next(fromMs)!;
      assert.ok(next > fromMs && next < fromMs + 41 * YEAR_MS && wanted.fits(new Date(next)), `${next}`);
      const prev = cron.prev(next)!;
      assert.ok(prev <= fromMs && wanted.fits(new Date(prev)), `${prev}`);
      assert.equal(cron.next(prev), next);
      const zoned = occurrences(wanted.expression, 'Europe/Berlin');
      const at = zoned.next(fromMs)!;
      assert.ok(at > fromMs && Math.abs(at - next) < 41 * YEAR_MS);
      assert.equal(zoned.next(zoned.prev(at)!), at);
    }),
    { numRuns: 300 },
  );
});

test('the first hundred years, and centuries with and without a leap day', () => {
  const newYear = occurrences('0 0 1 1 *', 'UTC');
  const year = (text: string) => iso([newYear.next(utc(text))!])[0];
  assert.equal(year('0050-06-01T00:00:00Z'), '0051-01-01T00:00:00.000Z');
  assert.equal(year('-000001-06-01T00:00:00Z'), '0000-01-01T00:00:00.000Z');
  assert.equal(iso([newYear.prev(utc('0099-06-01T00:00:00Z'))!])[0], '0099-01-01T00:00:00.000Z');
  const last = occurrences('0 12 L 2 *', 'UTC');
  const lastDay = (text: string) => iso([last.next(utc(text))!])[0]!.slice(0, 10);
  assert.deepEqual(
    ['0004', '0096', '1900', '2000', '2100', '2400'].map((one) => lastDay(`${one}-01-01T00:00:00Z`)),
    ['0004-02-29', '0096-02-29', '1900-02-28', '2000-02-29', '2100-02-28', '2400-02-29'],
  );
});

test('at the ends of time nothing is found beyond them', () => {
  for (const zone of ['UTC', 'America/New_York', 'Pacific/Apia']) {
    const cron = occurrences('0 0 * * *', zone);
    const [late, early] = [8.64e15 - 3 * DAY_MS, -8.64e15 + 3 * DAY_MS];
    for (const found of [between(cron, late, Infinity), betweenBackwards(cron, -Infinity, early)]) {
      assert.ok(found.length >= 2 && found.length <= 4);
      for (const at of found) assert.ok(!Number.isNaN(new Date(at).getTime()), `${at}`);
    }
  }
});

test('where a zone contradicts itself nothing is given: no instant that goes back, none that does not fit', () => {
  const all: ZoneSpan = { startMs: -Infinity, endMs: Infinity, offsetMs: 0, beforeMs: 0, afterMs: 0 };
  // Late instants are sent back to the first second, early ones on to the last before it.
  const turning: TimeZone = {
    spanAt: (at) => {
      if (at > 5000) return { ...all, endMs: 1000, afterMs: -1000 };
      return at < -5000 ? { ...all, startMs: -1000, beforeMs: 1000 } : all;
    },
  };
  const cron = new CronOccurrences(cronFields('* * * * * *'), turning, DEFAULT_POLICY);
  assert.deepEqual([cron.next(0), cron.prev(0)], [1000, -1000]);
  assert.deepEqual([cron.next(6000), cron.prev(-6000)], [null, null]);
  let asked = 0;
  const flickering: TimeZone = { spanAt: () => ({ ...all, offsetMs: (asked++ % 2) * 1_800_000 }) };
  const daily = new CronOccurrences(cronFields('0 0 * * *'), flickering, DEFAULT_POLICY);
  assert.deepEqual([daily.next(0), daily.prev(0)], [null, null]);
});
