/** Zones as spans of one offset: far years, offsets with seconds, days that were left out or came twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CronOccurrences, TimeZones } from '../../src/main/schedule/index.ts';
import { cronFields } from '../support/cron-fields.ts';
import { wallClock } from './cron-oracle.ts';
import { between, DAY_MS, DEFAULT_POLICY, iso, occurrences, utc } from './cron-support.ts';
import { ZONES } from './zones-list.ts';

test('the zone of the machine: the one that TZ names, or the one offset of what is no name', (t) => {
  const before = process.env.TZ;
  t.after(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });
  const summer = (zone: string) => {
    process.env.TZ = zone;
    const cron = new CronOccurrences(cronFields('0 12 1 7 *'), new TimeZones().zone(null), DEFAULT_POLICY);
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

test('any zone and instant from 1000 to 9999: the offset is the one that a clock there shows, to the second', () => {
  const zones = new TimeZones();
  const clocks = new Map<string, (at: number) => number>();
  const instant = fc.integer({
    min: utc('1000-01-02T00:00:00Z') / 1000,
    max: utc('9999-12-30T00:00:00Z') / 1000,
  });
  // Where the offsets still had seconds, and the years of the living.
  const past = fc.integer({
    min: utc('1880-01-01T00:00:00Z') / 1000,
    max: utc('2040-01-01T00:00:00Z') / 1000,
  });
  const name = fc.constantFrom(
    ...ZONES,
    'Africa/Monrovia',
    'America/Juneau',
    'Asia/Manila',
    'Pacific/Kwajalein',
  );
  fc.assert(
    fc.property(name, fc.oneof(instant, past), (zone, second) => {
      const at = second * 1000;
      const local = clocks.get(zone) ?? wallClock(zone);
      clocks.set(zone, local);
      const span = zones.zone(zone).spanAt(at);
      assert.ok(span.startMs <= at && at < span.endMs);
      assert.equal(at + span.offsetMs, local(at), `${zone}, ${iso([at])[0]}`);
    }),
    { numRuns: 500 },
  );
});

test('any zone of the database: no span is so short that more than neighbours share local times', () => {
  const zones = new TimeZones();
  const instant = fc.integer({
    min: utc('1800-01-01T00:00:00Z') / 1000,
    max: utc('2100-01-01T00:00:00Z') / 1000,
  });
  fc.assert(
    fc.property(fc.constantFrom(...Intl.supportedValuesOf('timeZone')), instant, (name, second) => {
      const { startMs, endMs, offsetMs, beforeMs } = zones.zone(name).spanAt(second * 1000);
      assert.ok(endMs - startMs > 3 * DAY_MS, `${name}, ${iso([second * 1000])[0]}`);
      assert.ok(Math.abs(offsetMs - beforeMs) <= DAY_MS, `${name}, ${iso([second * 1000])[0]}`);
    }),
    { numRuns: 300 },
  );
});

test('a gap with seconds: Africa/Monrovia put its clocks forward by 44 min 30 s', () => {
  const monrovia = (expression: string) =>
    iso(
      between(
        occurrences(expression, 'Africa/Monrovia'),
        utc('1972-01-06T00:00:00Z'),
        utc('1972-01-08T00:00:00Z'),
      ),
    );
  assert.deepEqual(monrovia('0 12 * * *'), ['1972-01-06T12:44:30.000Z', '1972-01-07T12:00:00.000Z']);
  assert.deepEqual(monrovia('30 0 7 1 *'), ['1972-01-07T00:44:30.000Z']);
  assert.deepEqual(monrovia('29 44 0 7 1 *'), ['1972-01-07T00:44:30.000Z']);
  assert.deepEqual(monrovia('30 44 0 7 1 *'), ['1972-01-07T00:44:30.000Z']);
  assert.deepEqual(monrovia('31 44 0 7 1 *'), ['1972-01-07T00:44:31.000Z']);
});

test('a day that came twice: Pacific/Kwajalein went over the date line in 1969, and left one out in 1993', () => {
  const noon = (repeat: 'first' | 'last' | 'both', from: string, days: number) =>
    iso(
      between(
        occurrences('0 12 30 9 *', 'Pacific/Kwajalein', { gap: 'shift', repeat }),
        utc(from),
        utc(from) + days * DAY_MS,
      ),
    );
  const [first, second] = ['1969-09-30T01:00:00.000Z', '1969-10-01T00:00:00.000Z'];
  assert.deepEqual(noon('first', '1969-09-01T00:00:00Z', 60), [first]);
  assert.deepEqual(noon('last', '1969-09-01T00:00:00Z', 60), [second]);
  assert.deepEqual(noon('both', '1969-09-01T00:00:00Z', 60), [first, second]);
  const left = occurrences('0 12 21 8 *', 'Pacific/Kwajalein');
  assert.equal(left.next(utc('1993-08-01T00:00:00Z')), utc('1993-08-21T12:00:00Z'));
});

test('two hours at once: Antarctica/Troll', () => {
  const troll = (expression: string) =>
    iso(
      between(
        occurrences(expression, 'Antarctica/Troll'),
        utc('2026-03-29T00:00:00Z'),
        utc('2026-03-29T03:00:00Z'),
      ),
    );
  assert.deepEqual(troll('30 1,2 * * *'), ['2026-03-29T01:00:00.000Z']);
  assert.deepEqual(troll('0 3 * * *'), ['2026-03-29T01:00:00.000Z']);
});

test('an offset for a zone has no changes', () => {
  const cron = occurrences('30 2 * * *', '+05:45');
  assert.deepEqual(iso([cron.next(utc('2026-01-01T00:00:00Z'))!]), ['2026-01-01T20:45:00.000Z']);
});
