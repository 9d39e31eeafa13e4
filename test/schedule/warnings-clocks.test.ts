/** A change of the clocks that lies ahead, and the run that was moved by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DstPolicy, ScheduleSpec } from '../../src/main/config/config.ts';
import { previewOf, Shifts } from '../../src/main/schedule/index.ts';
import { scheduleWarnings } from '../../src/main/schedule/warnings/index.ts';
import { cronFields } from '../support/cron-fields.ts';

const previewed = (options: Parameters<typeof previewOf>[0]) => previewOf(options).occurrences;

const DAY_MS = 86_400_000;

function cron(expression: string, timeZone: string | null, dst: Partial<DstPolicy> = {}): ScheduleSpec {
  const policy = { gap: 'shift', repeat: 'first', ...dst } as const;
  return { kind: 'cron', expression, timeZone, dst: policy, fields: cronFields(expression) } as ScheduleSpec;
}

function messagesOf(schedule: ScheduleSpec, nowMs: number): string[] {
  const tasks = [{ name: 'one', schedule, splayMs: 0 }];
  return scheduleWarnings(tasks, { nowMs, lookAhead: true }).map(({ message }) => message);
}

// Berlin: forward at 2027-03-28T01:00Z, back at 2026-10-25T01:00Z.
const BEFORE_GAP = Date.UTC(2027, 2, 20, 12);
const BEFORE_REPEAT = Date.UTC(2026, 9, 20, 12);

test('a gap: the zone, the day, the clocks, what the policy does, and what else could be done', () => {
  const shifted = messagesOf(cron('30 2 * * *', 'Europe/Berlin'), BEFORE_GAP);
  assert.deepEqual(shifted, [
    'expected local times that exist, got 02:30 on Sun 2027-03-28, when the clocks of Europe/Berlin go from 02:00 to ' +
      '03:00: it runs at 03:00 by dst.gap: shift; set dst: { gap: skip } to leave that run out, or choose a time of day ' +
      'that the clocks do not skip',
  ]);
  const [skipped = ''] = messagesOf(cron('*/15 1-3 * * *', 'Europe/Berlin', { gap: 'skip' }), BEFORE_GAP);
  assert.match(
    skipped,
    /got 02:00 to 02:45 on Sun 2027-03-28.*: those runs are left out by dst\.gap: skip; set/,
  );
  assert.match(skipped, /set dst: { gap: shift } so that it runs once at 03:00 for all of them/);
});

test('a repeat: which of the two it is by the policy', () => {
  const get = (dst: Partial<DstPolicy>) =>
    messagesOf(cron('30 2 * * *', 'Europe/Berlin', dst), BEFORE_REPEAT);
  assert.deepEqual(get({}), [
    'expected local times that come once, got 02:30 on Sun 2026-10-25, when the clocks of Europe/Berlin go from 03:00 back ' +
      'to 02:00: it runs the first time only by dst.repeat: first; set it to last or both, or choose a time of day that ' +
      'does not come twice',
  ]);
  assert.match(
    get({ repeat: 'last' }).join(),
    /the last time only by dst\.repeat: last; set it to first or both/,
  );
  assert.match(get({ repeat: 'both' }).join(), /runs twice by dst\.repeat: both; set it to first or last/);
  assert.match(
    messagesOf(cron('0,30 2 * * *', 'Europe/Berlin'), BEFORE_REPEAT).join(),
    /got 02:00 to 02:30 on .* they run/,
  );
});

test('what counts real time, what runs at another time or day, and other zones are not warned of', () => {
  const none: [ScheduleSpec, number][] = [
    [cron('30 * * * *', 'Europe/Berlin'), BEFORE_GAP],
    [cron('30 * * * *', 'Europe/Berlin'), BEFORE_REPEAT],
    [cron('*/15 1-3 * * *', 'Europe/Berlin'), BEFORE_REPEAT],
    [cron('30 3 * * *', 'Europe/Berlin'), BEFORE_GAP],
    [cron('59 1 * * *', 'Europe/Berlin'), BEFORE_GAP],
    [cron('30 2 * * 1-6', 'Europe/Berlin'), BEFORE_GAP],
    [cron('30 2 * * *', 'UTC'), BEFORE_GAP],
    [cron('30 2 * * *', '+01:00'), BEFORE_GAP],
    [cron('30 2 * * *', 'Asia/Kolkata'), BEFORE_GAP],
    [{ kind: 'every', everyMs: 3_600_000 } as ScheduleSpec, BEFORE_GAP],
    [{ kind: 'at', atMs: Date.UTC(2027, 2, 28, 1) } as ScheduleSpec, BEFORE_GAP],
  ];
  for (const [schedule, nowMs] of none) assert.deepEqual(messagesOf(schedule, nowMs), []);
});

test('two weeks ahead and no farther; what has happened is not warned of', () => {
  const change = Date.UTC(2027, 2, 28, 1);
  const schedule = cron('30 2 * * *', 'Europe/Berlin');
  assert.equal(messagesOf(schedule, change - 14 * DAY_MS).length, 1);
  assert.equal(messagesOf(schedule, change - 14 * DAY_MS - 1).length, 0);
  assert.equal(messagesOf(schedule, change - 1).length, 1);
  assert.equal(messagesOf(schedule, change).length, 0);
});

test('what its bounds leave out is not warned of', () => {
  const change = Date.UTC(2027, 2, 28, 1);
  const day = Math.floor(change / DAY_MS);
  const none = { startAtMs: null, stopAtMs: null, exclude: [], timeZone: 'Europe/Berlin' };
  for (const gap of ['shift', 'skip'] as const) {
    const schedule = cron('30 2 * * *', 'Europe/Berlin', { gap });
    assert.equal(messagesOf({ ...schedule, bounds: none }, BEFORE_GAP).length, 1);
    const bounds = [
      { ...none, stopAtMs: change },
      { ...none, startAtMs: change + 1 },
      { ...none, exclude: [{ firstDay: day, lastDay: day }] },
    ];
    for (const one of bounds) assert.deepEqual(messagesOf({ ...schedule, bounds: one }, BEFORE_GAP), []);
  }
});

test('clocks that change by half an hour, at midnight, by a whole day, and those of the machine', () => {
  const half = messagesOf(cron('15 2 * * *', 'Australia/Lord_Howe'), Date.UTC(2026, 9, 1));
  assert.match(half.join(), /got 02:15 on Sun 2026-10-04, .* go from 02:00 to 02:30: it runs at 02:30/);
  const midnight = messagesOf(cron('0 0 * * *', 'America/Sao_Paulo'), Date.UTC(2014, 9, 18, 12));
  assert.match(midnight.join(), /got 00:00 on Sun 2014-10-19, .* go from 00:00 to 01:00: it runs at 01:00/);
  const back = messagesOf(cron('30 23 * * *', 'America/Sao_Paulo'), Date.UTC(2014, 1, 10));
  assert.match(back.join(), /got 23:30 on Sat 2014-02-15, .* go from Sun 2014-02-16 00:00 back to 23:00/);
  const day = messagesOf(cron('0 12 * * *', 'Pacific/Apia'), Date.UTC(2011, 11, 25));
  assert.match(
    day.join(),
    /got 12:00 on Fri 2011-12-30, .* go from 00:00 to Sat 2011-12-31 00:00: it runs at Sat/,
  );
  const own = messagesOf(cron('0 2 * * *', null), BEFORE_GAP);
  const zone = Temporal.Now.timeZoneId();
  if (own.length > 0) assert.ok(own[0]?.includes(`the clocks of this machine (${zone})`));
});

const ZONES = [
  'Africa/Casablanca',
  'America/New_York',
  'America/St_Johns',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
];

/** Whether a local time of day means two instants, or none, on a day within two weeks. `Temporal` says it its own way. */
function isTouched(hour: number, minute: number, { zone, nowMs }: { zone: string; nowMs: number }): boolean {
  const start = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(zone);
  const endMs = nowMs + 14 * DAY_MS;
  for (let days = -1; days <= 15; days++) {
    const local = start.toPlainDate().add({ days }).toPlainDateTime({ hour, minute });
    const earlier = local.toZonedDateTime(zone, { disambiguation: 'earlier' });
    const later = local.toZonedDateTime(zone, { disambiguation: 'later' });
    if (earlier.epochMilliseconds === later.epochMilliseconds) continue;
    const change = earlier.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    const before = later.getTimeZoneTransition('previous')?.epochMilliseconds ?? Number.NEGATIVE_INFINITY;
    const atMs = Math.min(change, later.epochMilliseconds) === change ? change : before;
    if (atMs > nowMs && atMs <= endMs) return true;
  }
  return false;
}

test('a daily time is warned of exactly where Temporal finds it missing or twice', () => {
  const where = fc.record({ zone: fc.constantFrom(...ZONES), year: fc.integer({ min: 2018, max: 2030 }) });
  const time = fc.record({ hour: fc.integer({ min: 0, max: 4 }), minute: fc.constantFrom(0, 15, 30, 59) });
  const lead = fc.integer({ min: -2 * 86_400, max: 16 * 86_400 });
  fc.assert(
    fc.property(where, fc.nat(3), time, lead, ({ zone, year }, which, { hour, minute }, leadSeconds) => {
      let change: Temporal.ZonedDateTime | null = Temporal.ZonedDateTime.from(`${year}-01-01T12:00[${zone}]`);
      for (let count = 0; count <= which && change !== null; count++)
        change = change.getTimeZoneTransition('next');
      const nowMs = (change?.epochMilliseconds ?? 0) - leadSeconds * 1000;
      const found = messagesOf(cron(`${minute} ${hour} * * *`, zone), nowMs);
      assert.equal(
        found.length > 0,
        isTouched(hour, minute, { zone, nowMs }),
        `${zone} ${new Date(nowMs).toISOString()}`,
      );
    }),
    { numRuns: 150 },
  );
});

test('T3: a run that was moved says which local time it stands for, and when it is due', () => {
  // In Amsterdam, clocks go from 2:00 to 3:00 on 26 March 2023.
  const change = Date.UTC(2023, 2, 26, 1);
  const shifts = new Shifts([
    { name: 'weekly', schedule: cron('30 2 * * 0', 'Europe/Amsterdam') },
    { name: 'often', schedule: cron('*/15 1-3 * * *', 'Europe/Amsterdam') },
    { name: 'own', schedule: cron('0 3 * * *', 'Europe/Amsterdam') },
    { name: 'hourly', schedule: cron('0 * * * *', 'Europe/Amsterdam') },
    { name: 'skipping', schedule: cron('30 2 * * 0', 'Europe/Amsterdam', { gap: 'skip' }) },
    { name: 'elsewhere', schedule: cron('0 1 * * *', 'UTC') },
    { name: 'every', schedule: { kind: 'every', everyMs: 1000 } as ScheduleSpec },
  ]);
  const zone = { time_zone: 'Europe/Amsterdam', due: '2023-03-26T01:00:00.000Z' };
  assert.equal(shifts.of('weekly', change - 7 * DAY_MS), null);
  assert.deepEqual(shifts.of('weekly', change), { task: 'weekly', local_time: '2023-03-26T02:30', ...zone });
  assert.deepEqual(shifts.of('often', change), {
    task: 'often',
    local_time: '2023-03-26T02:00',
    last_local_time: '2023-03-26T02:45',
    ...zone,
  });
  for (const name of ['own', 'hourly', 'skipping', 'elsewhere', 'every'])
    assert.equal(shifts.of(name, change), null, name);
  assert.equal(shifts.of('weekly', change + 60_000), null);
  assert.equal(shifts.of('weekly', change + 7 * DAY_MS), null);
});

test('of the occurrences of a daily task those are moved that the preview marks, in any order', () => {
  const zone = fc.constantFrom(...ZONES);
  const time = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0, 15, 30));
  const from = fc.integer({ min: Date.UTC(2019, 0, 1), max: Date.UTC(2030, 0, 1) });
  fc.assert(
    fc.property(zone, time, from, (timeZone, [hour, minute], afterMs) => {
      const schedule = cron(`${minute} ${hour} * * *`, timeZone);
      const utc = { name: 'utc', schedule: cron('0 0 1 1 *', 'America/Sao_Paulo') };
      const shifts = new Shifts([{ name: 'daily', schedule }, utc]);
      const shown = previewed({ schedule, splayMs: 0, afterMs, count: 370 });
      for (const { atMs, shifted } of [...shown, ...shown.slice(0, 50).reverse()]) {
        assert.equal(shifts.of('daily', atMs) !== null, shifted, new Date(atMs).toISOString());
      }
    }),
    { numRuns: 20 },
  );
});
