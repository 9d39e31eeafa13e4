/** Many tasks at one instant, and whether the splay that is named does what is said of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScheduleSpec } from '../../src/main/config/config.ts';
import { occurrencesOf, splayOf, TimeZones } from '../../src/main/schedule/index.ts';
import { scheduleWarnings, type WarnedTask } from '../../src/main/schedule/warnings/index.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cpuMs } from './cron-support.ts';

const NOW = Date.UTC(2026, 6, 15, 12, 0, 0, 500);

function cron(expression: string, timeZone: string | null = 'UTC'): ScheduleSpec {
  const dst = { gap: 'shift', repeat: 'first' } as const;
  return { kind: 'cron', expression, timeZone, dst, fields: cronFields(expression) } as ScheduleSpec;
}

function many(count: number, schedule: (index: number) => ScheduleSpec | null, splayMs = 0): WarnedTask[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `job-${index}`,
    schedule: schedule(index),
    splayMs,
  }));
}

function crowdsOf(
  tasks: readonly WarnedTask[],
): readonly { readonly task: number; readonly message: string }[] {
  return scheduleWarnings(tasks, { nowMs: NOW, lookAhead: true }).filter(({ message }) =>
    message.startsWith('expected starts that are spread'),
  );
}

/** How many start in the fullest second of the next day and a half, with a splay in each. */
function fullest(tasks: readonly WarnedTask[], splayMs: number): number {
  const zones = new TimeZones();
  const seconds = new Map<number, number>();
  for (const { name, schedule } of tasks) {
    const occurrences = occurrencesOf(schedule!, zones);
    for (
      let at = occurrences.next(NOW);
      at !== null && at < NOW + 1.5 * 86_400_000;
      at = occurrences.next(at)
    ) {
      const second = Math.floor((at + splayOf(name, splayMs)) / 1000);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
    }
  }
  return Math.max(...seconds.values());
}

test('twenty tasks in one second are told: when, a few names, and a splay that does what is said', () => {
  const tasks = many(20, () => cron('0 2 * * *', 'Europe/Berlin'));
  const [warning, ...more] = crowdsOf(tasks);
  assert.deepEqual(more, []);
  assert.equal(warning?.task, 0);
  const said =
    /got 20 tasks that start at 02:00 on Thu 2026-07-16 \(Europe\/Berlin\): job-0, job-1, job-2 and 17 others; /;
  assert.match(warning?.message ?? '', said);
  const [, splay, most] = /splay_seconds: (\d+) in each of them, or in defaults, at most (\d+) /.exec(
    warning!.message,
  )!;
  assert.ok(Number(most) <= 5);
  assert.equal(fullest(tasks, Number(splay) * 1000), Number(most));
  assert.deepEqual(crowdsOf(tasks.slice(1)), [], 'nineteen are none');
});

test('tasks meet whatever their schedules, zones and splays are; the place is that of the first', () => {
  const schedules = [
    cron('30 4 * * *', 'Asia/Kolkata'),
    cron('0 * * * *'),
    { kind: 'every', everyMs: 3_600_000 },
  ];
  const at = { kind: 'at', atMs: Date.UTC(2026, 6, 15, 23) };
  const tasks = [
    ...many(3, () => cron('17 5 * * *')),
    ...many(20, (index) => (index === 19 ? at : schedules[index % 3]) as ScheduleSpec),
  ].map((task, index) => ({ ...task, name: `job-${index}` }));
  const [warning] = crowdsOf(tasks);
  assert.equal(warning?.task, 3);
  assert.match(
    warning?.message ?? '',
    /got 20 tasks that start at 04:30 on Thu 2026-07-16 \(Asia\/Kolkata\): job-3/,
  );
  // One that starts a second later because of its splay is not among them.
  const splayed = tasks.map((task, index) =>
    index === 22 ? { ...task, name: 'late', splayMs: 3_600_000 } : task,
  );
  assert.ok(splayOf('late', 3_600_000) > 1000);
  assert.deepEqual(crowdsOf(splayed), []);
});

test('a splay that is there already is seen, and one that is too small is told', () => {
  assert.deepEqual(crowdsOf(many(200, () => cron('0 2 * * *'), 600_000)), []);
  assert.match(
    crowdsOf(many(200, () => cron('0 2 * * *'), 5000))[0]?.message ?? '',
    /splay_seconds: 1?\d\d /,
  );
});

test('a splay stays below the interval; what is due more often than that is left as it is', () => {
  const [often] = crowdsOf(many(200, () => cron('*/5 * * * * *')));
  assert.match(
    often?.message ?? '',
    /got 200 tasks .*splay_seconds: 5 in each of them.* at most \d\d would start/,
  );
  const [mixed] = crowdsOf(many(40, (index) => (index < 3 ? cron('* * * * * *') : cron('0 2 * * *'))));
  const [, splay, moved, most] = /splay_seconds: (\d+) in the (\d+) tasks .* at most (\d+) /.exec(
    mixed?.message ?? '',
  )!;
  assert.equal(Number(moved), 37);
  assert.ok(Number(splay) > 1 && Number(most) <= 8);
  const [seconds] = crowdsOf(many(30, () => ({ kind: 'every', everyMs: 500 }) as ScheduleSpec));
  assert.match(seconds?.message ?? '', /; let some of them run less often, or at other times$/);
});

test('at most three crowds, the largest first, each task in one of them', () => {
  const tasks = many(150, (index) => (index < 20 ? cron('0 1 * * *') : cron(`0 ${2 + (index % 4)} * * *`)));
  const found = crowdsOf(tasks);
  assert.deepEqual(
    found.map(({ message }) => /got (\d+) tasks that start at (\d\d)/.exec(message)?.slice(1)),
    [
      ['33', '02'],
      ['33', '03'],
      ['32', '04'],
    ],
  );
});

test('what starts on another day, on trigger, or not any more is no crowd', () => {
  assert.deepEqual(crowdsOf(many(50, () => cron('0 2 1 * *'))), []);
  assert.deepEqual(crowdsOf(many(50, () => null)), []);
  assert.deepEqual(crowdsOf(many(50, () => ({ kind: 'at', atMs: NOW - 1000 }) as ScheduleSpec)), []);
  assert.deepEqual(crowdsOf(many(60, (index) => cron(`${index} 2 * * *`))), []);
});

test('10,000 tasks, no two alike, are looked at within a bound', () => {
  const tasks = many(10_000, (index) => ({ kind: 'every', everyMs: 60_000 + index }) as ScheduleSpec);
  const tookMs = cpuMs(() => crowdsOf(tasks), 1);
  assert.ok(tookMs < 1000, `${tookMs} ms`);
});
