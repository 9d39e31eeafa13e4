/** What a schedule says and probably does not mean; and that all of it stays bounded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScheduleSpec } from '../../src/main/config/config.ts';
import { MAX_OF_A_KIND, scheduleWarnings, type WarnedTask } from '../../src/main/schedule/warnings/index.ts';
import { warningsOf } from '../config/config-fixtures.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cpuMs } from './cron-support.ts';

/** In the middle of a month, far from any change of the clocks. */
const NOW = Date.UTC(2026, 6, 15, 12);

function cron(expression: string, timeZone: string | null = 'UTC'): ScheduleSpec {
  const dst = { gap: 'shift', repeat: 'first' } as const;
  return { kind: 'cron', expression, timeZone, dst, fields: cronFields(expression) } as ScheduleSpec;
}

function task(schedule: ScheduleSpec | null, name = 'one', splayMs = 0): WarnedTask {
  return { name, schedule, splayMs };
}

function messagesOf(expression: string, timeZone?: string): string[] {
  const tasks = [task(cron(expression, timeZone))];
  return scheduleWarnings(tasks, { nowMs: NOW, lookAhead: true }).map(({ message }) => message);
}

test('T10: day of the month and weekday are a union, told with the next five dates', () => {
  assert.deepEqual(messagesOf('0 0 1 * 1'), [
    'expected days of the month or weekdays, got both in "0 0 1 * 1": a day counts that is either, as in POSIX, so the ' +
      'next dates are Mon 2026-07-20, Mon 2026-07-27, Sat 2026-08-01, Mon 2026-08-03, Mon 2026-08-10; write * in one of ' +
      'the two if only the other is meant',
  ]);
});

test('the dates of a union are those of its zone, each once, however often it runs on them', () => {
  const dates = /Fri 2026-07-17, Fri 2026-07-24, Fri 2026-07-31, Fri 2026-08-07, Thu 2026-08-13;/;
  // In Auckland the 16th begins at noon of the 15th in UTC.
  assert.match(messagesOf('*/10 0 13 * 5', 'Pacific/Auckland')[0] ?? '', dates);
  assert.match(messagesOf('0-59 * 13 * 5', 'America/New_York')[0] ?? '', dates);
});

test('dates that its bounds leave out are not shown, and nothing is said of a schedule that is over', () => {
  const schedule = cron('0 0 1 * 1');
  const bounds = { startAtMs: null, stopAtMs: Date.UTC(2026, 6, 28), exclude: [], timeZone: 'UTC' };
  const ask = (nowMs: number) =>
    scheduleWarnings([task({ ...schedule, bounds })], { nowMs, lookAhead: false }).map(
      ({ message }) => message,
    );
  assert.match(ask(NOW).join(), /the next dates are Mon 2026-07-20, Mon 2026-07-27; write/);
  assert.doesNotMatch(ask(Date.UTC(2026, 6, 27)).join(), /the next dates/);
  assert.deepEqual(ask(Date.UTC(2026, 6, 28)), []);
});

test('a union in all its forms; what names one of the two is none', () => {
  for (const expression of ['0 0 13 * fri', '0 0 L * 0', '0 0 1-7 * 1#1', '0 0 1 * 5L', '0 0 0 1 1 1']) {
    assert.match(messagesOf(expression).join('\n'), /^expected days of the month or weekdays/, expression);
  }
  for (const expression of ['0 0 13 * *', '0 0 * * 5', '0 0 ? * 1#2', '0 0 L * ?', '0 0 * * *', '@weekly']) {
    assert.deepEqual(messagesOf(expression), [], expression);
  }
});

test('T11: six fields where five were meant, with the rate and what five would do', () => {
  assert.deepEqual(messagesOf('* */15 * * * *'), [
    'expected runs at an even rate, got "* */15 * * * *", which fires 60 times in a minute, in 4 minutes of each hour: ' +
      '5,760 times a day; write the five fields "*/15 * * * *" for 96 times a day, or 0-59 in place of the first * if ' +
      'each second is meant',
  ]);
});

test('a star left of single values is told with its rate, and what was probably meant', () => {
  const cases: [expression: string, rate: RegExp, better: RegExp][] = [
    [
      '* 30 2 * * *',
      /60 times in a minute, in 1 minute of 1 hour: 60 times a day/,
      /"30 2 \* \* \*" for once a day/,
    ],
    [
      '* 0,30 9-17 * * *',
      /in 2 minutes of 9 hours: 1,080 times a day/,
      /"0,30 9-17 \* \* \*" for 18 times a day/,
    ],
    ['* * 3 * * *', /in each minute of 1 hour: 3,600 times a day/, /"0 3 \* \* \*" for once a day/],
    [
      '* 2 * * *',
      /60 times in an hour, in 1 hour: 60 times a day/,
      /write "0 2 \* \* \*" for once a day.* each minute/,
    ],
    ['* */6 * * *', /in 4 hours: 240 times a day/, /"0 \*\/6 \* \* \*" for 4 times a day/],
    ['0 * 2 * * *', /60 times in an hour, in 1 hour/, /write the five fields "0 2 \* \* \*"/],
    ['30 * 2 * * *', /60 times in an hour, in 1 hour/, /write "30 0 2 \* \* \*" for once a day/],
    [
      '* * 1 * *',
      /in each hour of the day: 1,440 times on each of its days/,
      /"0 0 1 \* \*" for once on each/,
    ],
    ['* * * * 0', /1,440 times on each of its days/, /"0 0 \* \* 0"/],
    ['* * L * ?', /1,440 times on each of its days/, /"0 0 L \* \?"/],
    ['* * * 1 * *', /in each minute of each hour: 86,400 times on each of its days/, /"0 0 1 \* \*"/],
  ];
  for (const [expression, rate, better] of cases) {
    const [message = '', ...more] = messagesOf(expression);
    assert.match(message, rate, expression);
    assert.match(message, better, expression);
    assert.deepEqual(more, [], expression);
  }
});

test('a step that its field ends before: what is left, and the interval that may be meant, for all of them alike', () => {
  const told = (expression: string) => messagesOf(expression).join();
  assert.equal(
    told('*/90 * * * *'),
    'expected a step that comes more than once, got */90 in the minutes: the minutes of an hour begin anew each time, so ' +
      'it is 0 only; write 0 in its place, or every: 90m if such an interval is meant',
  );
  for (const step of [60, 61, 90, 1000])
    assert.match(told(`*/${step} * * * *`), new RegExp(`every: ${step}m `));
  assert.match(told('*/75 * * * * *'), /in the seconds: .* it is 0 only; .*every: 75s/);
  assert.match(told('0 */36 * * *'), /in the hours: the hours of a day .*every: 36h/);
  assert.equal(
    told('0-5/9 * * * *'),
    'expected a step that comes more than once, got 0-5/9 in the minutes: its range ends before, so it is 0 only; write 0 ' +
      'in its place',
  );
  assert.match(told('50/10 * * * *'), /got 50\/10 in the minutes: .* it is 50 only; write 50 in its place$/);
  assert.match(told('0 0 */31 * *'), /in the days of the month: .* it is 1 only; write 1 in its place$/);
  assert.match(told('0 0 1 */12 *'), /in the months: /);
  assert.match(told('0 0 * * */7'), /in the weekdays: /);
});

test('a rate that is even, a range, steps, and what is written out are no mistakes', () => {
  const fine = [
    '*/5 * * * * *',
    '* * * * * *',
    '* * * * *',
    '*/15 * * * *',
    '*/10 */15 * * * *',
    '* 9-17 * * *',
    '* 22-23,0-2 * * *',
    '* 0-29 * * * *',
    '* * 9-17 * * 1-5',
    '* * * * 1-5',
    '* * * 12 *',
    '0-59 2 * * *',
    '0-59 */15 * * * *',
    '30 2 * * *',
    '@hourly',
    '@yearly',
  ];
  for (const expression of fine) assert.deepEqual(messagesOf(expression), [], expression);
});

test('each warning stands at the schedule in the file, and what is to come only where it is asked for', async () => {
  const text = `
tasks:
  - { name: first, handler: noop, every: 5s }
  - name: second
    handler: noop
    schedule: "* 2 1 * 1"
    time_zone: Europe/Berlin
`;
  const nowMs = Date.UTC(2027, 2, 20);
  const ask = (lookAhead: boolean) =>
    warningsOf(text, { nowMs, warnOfSchedules: (tasks) => scheduleWarnings(tasks, { nowMs, lookAhead }) });
  const place = /^c\.yaml:6:15: tasks\[1\] \(second\)\.schedule: expected/;
  const written = await ask(false);
  assert.equal(written.length, 2);
  const all = await ask(true);
  for (const line of all) assert.match(line, place);
  assert.equal(all.length, 2, 'no date of it lies on the day when the clocks change');
  const nightly = text.replace('* 2 1 * 1', '0 2 * * *');
  const early = (lookAhead: boolean) =>
    warningsOf(nightly, { nowMs, warnOfSchedules: (tasks) => scheduleWarnings(tasks, { nowMs, lookAhead }) });
  assert.deepEqual(await early(false), []);
  assert.match((await early(true))[0] ?? '', place);
});

test('a list of each kind is bounded and says so; a schedule that is over is not warned of', () => {
  const tasks = Array.from({ length: 100 }, (_, index) => task(cron('* 2 1 * 1'), `task-${index}`));
  const found = scheduleWarnings(tasks, { nowMs: NOW, lookAhead: false });
  assert.equal(found.length, 2 * MAX_OF_A_KIND);
  assert.match(
    found[MAX_OF_A_KIND - 1]?.message ?? '',
    /further tasks have this warning, the first 20 are listed$/,
  );
  assert.deepEqual(
    found.slice(0, MAX_OF_A_KIND).map((warning) => warning.task),
    Array.from({ length: MAX_OF_A_KIND }, (_, index) => index),
  );
  const fits = scheduleWarnings(tasks.slice(0, MAX_OF_A_KIND), { nowMs: NOW, lookAhead: false });
  assert.doesNotMatch(fits.at(-1)?.message ?? 'further', /further/);
  assert.deepEqual(scheduleWarnings([task(null)], { nowMs: NOW, lookAhead: true }), []);
  const over = task({ kind: 'at', atMs: NOW - 1 } as ScheduleSpec);
  assert.deepEqual(scheduleWarnings([over], { nowMs: NOW, lookAhead: true }), []);
});

test('T2: 200 tasks of all kinds are looked at within 100 ms of CPU, also where no two are alike', () => {
  const zones = ['Europe/Lisbon', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', null];
  const mixed = (index: number): ScheduleSpec => {
    if (index % 4 === 0) return { kind: 'every', everyMs: 1000 + index } as ScheduleSpec;
    const expression =
      index % 4 === 1
        ? `${index % 7}-59/${1 + (index % 13)} * * * *`
        : `${index % 60} 1 ${1 + (index % 28)} * 1`;
    return cron(expression, zones[index % 5]);
  };
  const tasks = Array.from({ length: 200 }, (_, index) =>
    task(mixed(index), `task-${index}`, (index % 3) * 30_000),
  );
  // 01:00 does not exist in Lisbon on 30 March 2025.
  const nowMs = Date.UTC(2025, 2, 20);
  const tookMs = cpuMs(() => scheduleWarnings(tasks, { nowMs, lookAhead: true }));
  assert.ok(tookMs < 100, `expected less than 100 ms, got ${tookMs}`);
});
