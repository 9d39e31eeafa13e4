/** What cron expressions may say, what it comes to, and what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loneStep, parseCron } from '../../src/main/schedule/parse/index.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cronExpression } from './cron-arbitrary.ts';
import { cpuMs, iso, occurrences, take, utc } from './cron-support.ts';

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
  assert.deepEqual(days('* May SUN'), [3, 10, 17, 24, 31]);
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

function problem(expression: string): string | null {
  const parsed = parseCron(expression);
  return 'problem' in parsed ? parsed.problem : null;
}

test('the number of fields, words and zones that are not known are refused with the reason', () => {
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
  assert.match(problem('CRON_TZ=Europe/Rome 0 2 * * *') ?? '', /without a time zone, .*; use time_zone$/);
});

test('what no field takes is refused, and how to write it is said', () => {
  const cases: Readonly<Record<string, RegExp>> = {
    '61 * * * *': /minutes are \*, numbers from 0 to 59, in lists, ranges and steps, got "61"$/,
    '* 24 * * *': /hours are \*, numbers from 0 to 23, .*, got "24"$/,
    '60 * * * * *': /seconds are .*, got "60"$/,
    '* * 0 * *': /days of the month are \*, numbers from 1 to 31, L, .*, got "0"$/,
    '* * * 13 *': /months are \*, numbers from 1 to 12, names, .*, got "13"$/,
    '* * * * 8': /weekdays are \*, numbers from 0 to 7, names, 5L, 5#2, .*, got "8"$/,
    'a * * * *': /got "a"$/,
    '1.5 * * * *': /got "1.5"$/,
    '5, * * * *': /got ""$/,
    '-5 * * * *': /got "-5"$/,
    '5- * * * *': /got "5-"$/,
    '1-2-3 * * * *': /got "1-2-3"$/,
    '*/5/2 * * * *': /got "\*\/5\/2"$/,
    '*5 * * * *': /got "\*5"$/,
    '*/0 * * * *': /a step is a number from 1 to 999999999, got "\*\/0"$/,
    '*/-5 * * * *': /a step is a number from 1 to/,
    '5/ * * * *': /a step is a number from 1 to 999999999, got "5\/"$/,
    '*/1000000000 * * * *': /a step is a number from 1 to 999999999, got/,
    // Ranges over the end.
    '5-1 * * * *': /the range 5-1 goes backwards; write 5-59,0-1$/,
    '0 22-0 * * *': /write 22-23,0$/,
    '0 23-1 * * *': /write 23,0-1$/,
    '0 0 * nov-feb *': /the range nov-feb goes backwards; write 11-12,1-2$/,
    '0 0 * * fri-sun': /the range fri-sun goes backwards; write 5-7$/,
    '0 0 * * sat-mon': /write 6,0-1$/,
    '0 0 * * 7-1': /write 0-1$/,
    // What other programs know.
    '0 0 15W * *': /W, the weekday nearest to a day, is not known; name the days$/,
    '0 0 LW * *': /W, the weekday nearest/,
    '0 0 L-3 * *': /days before the last one are not known/,
    '0 0 * * L': /L stands behind a weekday: 5L is the last Friday of the month$/,
    '0 0 5L * *': /days of the month are .*, got "5L"$/,
    '0 0 * * 5l': /L is written large, got "5l"$/,
    '0 0 * * 1#6': /got "1#6"$/,
    '0 0 * * 1#1,3#2': /# stands alone with one weekday, got "1#1,3#2"$/,
    '0 0 * * 1-5#2': /got "1-5#2"$/,
    '0 0 * * *#2': /got "\*#2"$/,
    // What cron-parser takes, for something else.
    '0 0 1 janfeb *': /months are .*, got "janfeb"$/,
    '0 0 1 jan1 *': /got "jan1"$/,
    '0 0 * * sunmon': /got "sunmon"$/,
    '0 0 * * 5#2.5': /got "5#2.5"$/,
    '0 0 * * 5#0x2': /got "5#0x2"$/,
    'HH * * * *': /got "HH"$/,
    // A slip.
    '1,1 * * * *': /named twice: 1$/,
    '0 0 * * 0,7': /named twice: 0$/,
  };
  for (const [expression, reason] of Object.entries(cases)) {
    const text = problem(expression) ?? '';
    assert.ok(text.startsWith(`expected a cron expression, got "${expression}": `), `${expression}: ${text}`);
    assert.match(text, reason, expression);
  }
});

test('a step of any length is taken, and told to be alone where its field has one value by it', () => {
  const fields = [
    { place: 0, min: 0, max: 59, of: (low: number) => `${low}` },
    { place: 1, min: 0, max: 59, of: (low: number) => `${low}` },
    { place: 2, min: 0, max: 23, of: (low: number) => `${low}` },
    { place: 3, min: 1, max: 31, of: (low: number) => `${low}` },
    { place: 4, min: 1, max: 12, of: (low: number) => `${low}` },
    // Of the weekdays, 7 is 0 again.
    { place: 5, min: 0, max: 7, of: (low: number) => `${low % 7}` },
  ];
  for (const { place, min, max, of } of fields) {
    const values = (from: number, to: number, step: number) => {
      const found = new Set<string>();
      for (let value = from; value <= to; value += step) found.add(of(value));
      return found.size;
    };
    for (let step = 1; step <= max + 3; step++) {
      const forms: [text: string, from: number, to: number][] = [['*', min, max]];
      for (const low of [min, min + 1, max - 1, max]) forms.push([`${low}`, low, max]);
      forms.push([`${min}-${min + 5}`, min, min + 5]);
      for (const [text, from, to] of forms) {
        const atoms = ['0', '0', '0', '1', '1', '*'];
        if (place === 5) atoms[3] = '*';
        atoms[place] = `${text}/${step}`;
        const expression = atoms.join(' ');
        assert.ok('fields' in parseCron(expression), expression);
        const lone = values(from, to, step) === 1;
        assert.deepEqual(loneStep(expression)?.item ?? null, lone ? atoms[place] : null, expression);
      }
    }
  }
  assert.ok('fields' in parseCron('*/999999999 * * * *'));
  for (const expression of ['@hourly', '* * * * *', '*/30 * * * *', '1,2-9 * * * *']) {
    assert.equal(loneStep(expression), null, expression);
  }
  assert.equal(loneStep('0 0 1,*/31 * *')?.item, '*/31');
});

test('what is written as two ranges is taken, and is what was meant', () => {
  const hours = take(occurrences('0 22-23,0-1 * * *', 'UTC'), utc('2026-01-01T12:00:00Z'), 4);
  assert.deepEqual(
    hours.map((at) => new Date(at).getUTCHours()),
    [22, 23, 0, 1],
  );
  assert.deepEqual(cronFields('0 0 * * 5-7'), cronFields('0 0 * * fri,sat,sun'));
  assert.deepEqual(cronFields('0 0 * * 0'), cronFields('0 0 * * 7'));
  assert.deepEqual(cronFields('0 0 ? jan ?'), cronFields('0 0 * 1 *'));
  assert.deepEqual(cronFields('0 0 0 * * *'), cronFields('@daily'));
});

test('whatever is written, the answer comes at once and is a problem or fields', () => {
  const word = fc.string({ unit: fc.constantFrom(...'0159*?/-,#LWHhl .jannfrisu@=x'), maxLength: 12 });
  const noise = fc.array(word, { minLength: 5, maxLength: 6 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.oneof(noise, fc.string()), (text) => {
      const parsed = parseCron(text);
      if ('problem' in parsed) assert.match(parsed.problem, /^expected /);
      else assert.ok(Object.values(parsed.fields).every((value) => Number.isInteger(Number(value))));
    }),
    { numRuns: 200 },
  );
  for (const long of [
    `${'1,'.repeat(100_000)}1 * * * *`,
    `* * * * ${'9'.repeat(100_000)}`,
    '* '.repeat(100_000),
  ]) {
    assert.ok(cpuMs(() => parseCron(long)) < 50);
    assert.ok((problem(long) ?? '').length < 1000);
  }
});

test('fields are plain data', () => {
  const fields = cronFields('0,59 */5 1-4 L,3 1,12 5L');
  assert.deepEqual(JSON.parse(JSON.stringify(fields)), fields);
  assert.ok(Object.values(fields).every((value) => typeof value === 'boolean' || value >= 0));
  fc.assert(
    fc.property(cronExpression(), ({ expression, interval, everyHour }) => {
      const { interval: found, hours } = cronFields(expression);
      assert.equal(found, interval);
      assert.equal(hours === 0xffffff, everyHour);
    }),
    { numRuns: 100 },
  );
});
