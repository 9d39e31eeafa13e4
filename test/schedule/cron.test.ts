/** Cron in zones: known faults, and what the daylight-saving policy makes of gaps and repeats. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DstPolicy } from '../../src/main/config/config.ts';
import { loadConfigFile } from '../../src/main/config-part.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import { tempDir } from '../support/temp-dir.ts';
import { cronExpression } from './cron-arbitrary.ts';
import { between, cpuMs, iso, occurrences, take, utc } from './cron-support.ts';

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
  assert.ok(cpuMs(() => occurrences('0 0 10,26 * *', 'America/Sao_Paulo').next(asked)) < 5);
});

test('T2: 01:00 on 30 March 2025 does not exist in Europe/Lisbon: the first instant after the gap, or skip', async (t) => {
  const asked = utc('2024-11-15T00:00:00Z');
  const shift = occurrences('0 1 30 3 *', 'Europe/Lisbon');
  assert.deepEqual(iso(take(shift, asked, 2)), ['2025-03-30T01:00:00.000Z', '2026-03-30T00:00:00.000Z']);
  const skip = occurrences('0 1 30 3 *', 'Europe/Lisbon', { gap: 'skip', repeat: 'first' });
  assert.deepEqual(iso(take(skip, asked, 1)), ['2026-03-30T00:00:00.000Z']);
  const file = join(tempDir(t), 'colibri.yaml');
  const task = "{ name: a, handler: noop, schedule: '0 1 30 3 *', time_zone: Europe/Lisbon }";
  writeFileSync(file, `tasks:\n  - ${task}\n`);
  const check = () => loadConfigFile({ file, env: {}, nowMs: asked, lookAhead: true });
  assert.equal((await check()).config.tasks.length, 1);
  const tookUs: number[] = [];
  while (tookUs.length < 3 && Math.min(...tookUs) >= 100_000) {
    const before = process.threadCpuUsage();
    await check();
    const { user, system } = process.threadCpuUsage(before);
    tookUs.push(user + system);
  }
  assert.ok(Math.min(...tookUs) < 100_000, `${tookUs.join(', ')} µs`);
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
  for (const expression of [
    '0 0 30 2 *',
    '0 0 31 4 *',
    '0 0 31 2,4,6,9,11 *',
    '0 0 30,31 feb ?',
    '0 0 0 30-31 2 *',
  ]) {
    assert.deepEqual(parseCron(expression), {
      problem: `expected a date that comes, got "${expression}": no month it names has a day it names`,
    });
    assert.ok(cpuMs(() => parseCron(expression)) < 50, expression);
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
    { numRuns: 150 },
  );
});

test('T9: 29 February, asked in 2021, is in 2024', () => {
  const cron = occurrences('0 0 29 2 *', 'Europe/Rome');
  assert.equal(cron.next(utc('2021-05-01T00:00:00Z')), utc('2024-02-28T23:00:00Z'));
  assert.equal(cron.prev(utc('2021-05-01T00:00:00Z')), utc('2020-02-28T23:00:00Z'));
  // 2100 has none, and 2000 had one.
  assert.equal(cron.next(utc('2096-03-01T00:00:00Z')), utc('2104-02-28T23:00:00Z'));
  assert.equal(cron.prev(utc('2001-01-01T00:00:00Z')), utc('2000-02-28T23:00:00Z'));
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

test('an interval of minutes runs straight through both hours of a repeat, within its hours too', () => {
  const [fromMs, toMs] = [utc('2025-11-02T04:00:00Z'), utc('2025-11-02T08:00:00Z')];
  for (const repeat of ['first', 'last', 'both'] as const) {
    const at = (expression: string) =>
      iso(between(occurrences(expression, 'America/New_York', { gap: 'shift', repeat }), fromMs, toMs));
    assert.equal(at('* 1 * * *').length, 120);
    assert.equal(at('*/15 1 * * *').length, 8);
    assert.equal(at('0-59/15 1 * * *').length, 8);
    assert.equal(at('? 1 * * *').length, 120);
    assert.equal(at('0 */15 1 * * *').length, 8);
    // Times that are named one by one are times, and come as the policy says.
    assert.equal(at('0,15,30,45 1 * * *').length, repeat === 'both' ? 8 : 4);
    assert.equal(at('0-45/15 1 * * *').length, repeat === 'both' ? 8 : 4);
    assert.equal(at('*/10 30 1 * * *').length, repeat === 'both' ? 12 : 6);
  }
});

test('a gap: one run after it however many it swallows, none doubled, none for every hour', () => {
  const [fromMs, toMs] = [utc('2026-03-29T00:00:00Z'), utc('2026-03-29T02:00:00Z')];
  const at = (expression: string, gap: DstPolicy['gap']) =>
    iso(between(occurrences(expression, 'Europe/Berlin', { gap, repeat: 'first' }), fromMs, toMs));
  assert.deepEqual(at('*/20 2 * * *', 'shift'), ['2026-03-29T01:00:00.000Z']);
  assert.deepEqual(at('* 2 * * *', 'shift'), ['2026-03-29T01:00:00.000Z']);
  assert.deepEqual(at('*/15 * 2 * * *', 'shift'), ['2026-03-29T01:00:00.000Z']);
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
  // A day that was left out whole is one run of what it held, however much that was.
  const often = occurrences('0 */2 29-31 12 *', 'Pacific/Apia');
  assert.deepEqual(iso(between(often, utc('2011-12-30T04:00:00Z'), utc('2011-12-30T14:00:00Z'))), [
    '2011-12-30T04:00:00.000Z',
    '2011-12-30T06:00:00.000Z',
    '2011-12-30T08:00:00.000Z',
    '2011-12-30T10:00:00.000Z',
    '2011-12-30T12:00:00.000Z',
  ]);
});

test('Ramadan in Africa/Casablanca: the clocks go back for a month, and forward again', () => {
  // 2025: back on 23 February at 03:00, forward on 6 April at 02:00.
  const cron = occurrences('30 2 * * *', 'Africa/Casablanca');
  assert.deepEqual(iso(between(cron, utc('2025-02-22T00:00:00Z'), utc('2025-02-25T00:00:00Z'))), [
    '2025-02-22T01:30:00.000Z',
    '2025-02-23T01:30:00.000Z',
    '2025-02-24T02:30:00.000Z',
  ]);
  assert.deepEqual(iso(between(cron, utc('2025-04-05T00:00:00Z'), utc('2025-04-08T00:00:00Z'))), [
    '2025-04-05T02:30:00.000Z',
    '2025-04-06T02:00:00.000Z',
    '2025-04-07T01:30:00.000Z',
  ]);
});
