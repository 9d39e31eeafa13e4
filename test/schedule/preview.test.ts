import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ScheduleSpec } from '../../src/main/config/config.ts';
import { occurrencesOf, previewOf, TimeZones } from '../../src/main/schedule/index.ts';
import { cronFields } from '../support/cron-fields.ts';

const previewed = (options: Parameters<typeof previewOf>[0]) => previewOf(options).occurrences;

function cron(expression: string, timeZone: string, gap: 'shift' | 'skip' = 'shift'): ScheduleSpec {
  return {
    kind: 'cron',
    expression,
    timeZone,
    dst: { gap, repeat: 'first' },
    fields: cronFields(expression),
  };
}

test('T3: local times beside instants, around a gap: what is shifted says so', () => {
  // In Amsterdam, clocks go from 2:00 to 3:00 on 26 March 2023.
  const afterMs = Date.UTC(2023, 2, 18, 12);
  const schedule = cron('30 2 * * 0', 'Europe/Amsterdam');
  const found = previewed({ schedule, splayMs: 0, afterMs, count: 3 });
  assert.deepEqual(
    found.map(({ weekday, local, shifted }) => [weekday, local, shifted]),
    [
      ['Sun', '2023-03-19T02:30:00+01:00', false],
      ['Sun', '2023-03-26T03:00:00+02:00', true],
      ['Sun', '2023-04-02T02:30:00+02:00', false],
    ],
  );
  const skipping = cron('30 2 * * 0', 'Europe/Amsterdam', 'skip');
  assert.deepEqual(
    previewed({ schedule: skipping, splayMs: 0, afterMs, count: 2 }).map(({ local }) => local),
    ['2023-03-19T02:30:00+01:00', '2023-04-02T02:30:00+02:00'],
  );
});

test('T2: a date whose time does not exist that year runs at the first instant that does, or not at all', () => {
  // In Lisbon, 1:00 on 30 March does not exist in 2025; asked in November 2024.
  const afterMs = Date.UTC(2024, 10, 15);
  const locals = (gap: 'shift' | 'skip') =>
    previewed({ schedule: cron('0 1 30 3 *', 'Europe/Lisbon', gap), splayMs: 0, afterMs, count: 2 }).map(
      ({ local, shifted }) => [local, shifted],
    );
  assert.deepEqual(locals('shift'), [
    ['2025-03-30T02:00:00+01:00', true],
    ['2026-03-30T01:00:00+01:00', false],
  ]);
  assert.deepEqual(locals('skip'), [
    ['2026-03-30T01:00:00+01:00', false],
    ['2027-03-30T01:00:00+01:00', false],
  ]);
});

test('a splay moves the instant, not the local time that it is of', () => {
  const schedule = cron('0 12 * * *', 'UTC');
  const [first] = previewed({ schedule, splayMs: 90_000, afterMs: Date.UTC(2026, 0, 1, 12), count: 1 });
  assert.deepEqual(
    [first?.atMs, first?.local],
    [Date.UTC(2026, 0, 1, 12, 1, 30), '2026-01-01T12:00:00+00:00'],
  );
});

test('every and at; an instant that has passed has no next one', () => {
  const every: ScheduleSpec = { kind: 'every', everyMs: 1500 };
  const instants = previewed({ schedule: every, splayMs: 0, afterMs: 0, count: 3 }).map(({ atMs }) => atMs);
  assert.deepEqual(instants, [1500, 3000, 4500]);
  const at: ScheduleSpec = { kind: 'at', atMs: 5 };
  assert.equal(previewed({ schedule: at, splayMs: 0, afterMs: 4, count: 9 }).length, 1);
  assert.deepEqual(previewed({ schedule: at, splayMs: 0, afterMs: 5, count: 9 }), []);
});

test('what is shown is what the scheduler gives out, and each local time is that of its instant', () => {
  const zones = new TimeZones();
  const zone = fc.constantFrom('Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'UTC');
  const expression = fc.constantFrom('30 2 * * *', '*/7 * * * *', '0 0 1 * *', '15 1-3 * * 0');
  const from = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2030, 0, 1) });
  fc.assert(
    fc.property(zone, expression, from, (timeZone, text, afterMs) => {
      const schedule = cron(text, timeZone);
      const occurrences = occurrencesOf(schedule, zones);
      let at: number | null = afterMs;
      for (const shown of previewed({ schedule, splayMs: 0, afterMs, count: 10 })) {
        at = occurrences.next(at ?? Number.NaN);
        assert.equal(shown.atMs, at);
        assert.equal(Date.parse(shown.local), at);
      }
    }),
    { numRuns: 60 },
  );
});
