/**
 * What holds of any schedule around every change of the clocks in ten years of seventeen zones. Run by
 * `zones.test.ts` as a process of its own for each zone of the process, which must not matter.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DstPolicy } from '../../src/main/config/config.ts';
import { CronOccurrences, TimeZones } from '../../src/main/schedule/index.ts';
import type { TimeZone } from '../../src/main/schedule/time-zones.ts';
import { cronFields } from '../support/cron-fields.ts';
import { cronExpression } from './cron-arbitrary.ts';
import {
  type ClockStrip,
  HOUR_MS,
  instantsIn,
  MINUTE_MS,
  stripsAroundChanges,
  type Wanted,
  wallClock,
} from './cron-oracle.ts';
import {
  between,
  betweenBackwards,
  cpuMs,
  DAY_MS,
  iso,
  occurrences,
  POLICIES,
  sameInstants,
} from './cron-support.ts';
import { CALM_ZONES, ZONE_YEARS, ZONES } from './zones-list.ts';
import { instantsOf, readTable } from './zones-table.ts';

/** Spans that one instant may cost: those around a change, and that of the answer. */
const MAX_SPANS_ASKED = 8;

const strips = ZONES.flatMap((zone) =>
  ZONE_YEARS[zone]!.flatMap(([first, last]) =>
    stripsAroundChanges(zone, Date.UTC(first, 0, 1), Date.UTC(last + 1, 0, 1)),
  ),
);
const clocks = new Map(ZONES.map((zone) => [zone, wallClock(zone)]));
const anyStrip = fc.nat(strips.length - 1).map((index) => strips[index]!);
const anyPolicy = fc.constantFrom(...POLICIES);

/** Of certain hours and minutes, every day. */
function daily(expression: string, minutes: readonly number[], hours: readonly number[]): Wanted {
  return {
    expression,
    everyHour: hours.length === 24,
    interval: /^\*/.test(expression),
    fits: (local) => minutes.includes(local.getUTCMinutes()) && hours.includes(local.getUTCHours()),
  };
}

const ALL_HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const EVERY_DAY: readonly Wanted[] = [
  daily('0,30 0-3 * * *', [0, 30], [0, 1, 2, 3]),
  daily('15 * * * *', [15], ALL_HOURS),
  daily(
    '45 */2 * * *',
    [45],
    ALL_HOURS.filter((hour) => hour % 2 === 0),
  ),
  daily('*/20 0-3 * * *', [0, 20, 40], [0, 1, 2, 3]),
];

function agrees(strip: ClockStrip, wanted: Wanted, policy: DstPolicy): void {
  const cron = occurrences(wanted.expression, strip.zone, policy);
  const expected = instantsIn(strip, wanted, policy);
  const place = () => `${wanted.expression} in ${strip.zone}, ${JSON.stringify(policy)}`;
  sameInstants(between(cron, strip.startMs, strip.endMs), expected, place);
  sameInstants(betweenBackwards(cron, strip.startMs, strip.endMs), expected, () => `${place()}, backwards`);
}

/** Whether a clock on the wall shows a time of the expression, or has just left one out that runs now. */
function isDocumented(strip: ClockStrip, wanted: Wanted, policy: DstPolicy, atMs: number): boolean {
  const read = clocks.get(strip.zone)!;
  const local = read(atMs);
  if (wanted.fits(new Date(local))) return true;
  if (policy.gap === 'skip' || wanted.everyHour) return false;
  for (let left = read(atMs - MINUTE_MS) + MINUTE_MS; left < local; left += MINUTE_MS) {
    if (wanted.fits(new Date(left))) return true;
  }
  return false;
}

/** Walks over a change, and looks at every step from both sides. */
function walk(strip: ClockStrip, wanted: Wanted, policy: DstPolicy): void {
  const { zone, changeMs } = strip;
  const besideMs = 14 * HOUR_MS + Math.abs(strip.forwardMs);
  const cron = occurrences(wanted.expression, zone, policy);
  const holds = (right: boolean, at: number) => {
    if (!right) assert.fail(`${wanted.expression} in ${zone}, ${JSON.stringify(policy)}, ${iso([at])[0]}`);
  };
  let last: number | null = null;
  let at = cron.next(changeMs - besideMs);
  for (let steps = 0; steps < 100 && at !== null; steps++) {
    holds(isDocumented(strip, wanted, policy, at), at);
    holds(cron.next(at - 1) === at && cron.prev(at + 1) === at, at);
    if (last !== null) {
      holds(at > last, at);
      holds(cron.prev(at) === last && cron.next(last) === at, at);
      // From between them the way leads to either.
      const middle: number = last + Math.floor((at - last) / 2);
      holds(cron.next(middle) === at && cron.prev(middle + 1) === last, at);
    }
    if (at > changeMs + besideMs) break;
    [last, at] = [at, cron.next(at)];
  }
}

test('there are changes to look at in every zone that has any', () => {
  const seen = new Set(strips.map(({ zone }) => zone));
  assert.deepEqual(
    ZONES.filter((zone) => !seen.has(zone)),
    CALM_ZONES,
  );
  assert.ok(strips.length > 280, `${strips.length}`);
  // Forward, back, by less and by more than an hour.
  const sizes = [...new Set(strips.map(({ forwardMs }) => forwardMs / MINUTE_MS))].sort((a, b) => a - b);
  assert.deepEqual(sizes, [-60, -30, 30, 60, 1440]);
});

test('around every change: the same instants as reading the clock minute by minute, both ways', () => {
  for (const [index, strip] of strips.entries()) {
    for (const wanted of EVERY_DAY) agrees(strip, wanted, POLICIES[index % POLICIES.length]!);
  }
});

test('every minute is every minute, over every change', () => {
  for (const { zone, startMs, endMs } of strips) {
    const found = between(occurrences('* * * * *', zone), startMs, endMs);
    const minutes = Array.from(
      { length: (endMs - startMs) / MINUTE_MS },
      (_, index) => startMs + index * MINUTE_MS,
    );
    sameInstants(found, minutes, () => zone);
  }
});

test('any expression and policy around a change: the same instants as reading the clock, both ways', () => {
  const property = fc.property(anyStrip, cronExpression(), anyPolicy, agrees);
  fc.assert(property, { numRuns: 250 });
});

test('over every change: strictly onward, there and back, and each a time of the expression or its shift', () => {
  for (const [index, strip] of strips.entries()) {
    // Two of the four, in turn: their pairs come round with all policies.
    for (const which of [index % 2, 2 + (index % 2)]) {
      walk(strip, EVERY_DAY[which]!, POLICIES[(Math.floor(index / 2) + which) % POLICIES.length]!);
    }
  }
});

test('any expression and policy over a change: strictly onward, there and back, a time of it or its shift', () => {
  fc.assert(fc.property(anyStrip, cronExpression(), anyPolicy, walk), { numRuns: 100 });
});

test('the expected instants of the table, both ways', () => {
  const rows = readTable();
  assert.ok(rows.length > 300);
  for (const row of rows) {
    const expected = instantsOf(row);
    for (const policy of row.policies) {
      const [gap, repeat] = policy.split('/') as [DstPolicy['gap'], DstPolicy['repeat']];
      const cron = occurrences(row.expression, row.zone, { gap, repeat });
      const place = () => `${row.expression} in ${row.zone}, ${policy}`;
      sameInstants(between(cron, row.fromMs, row.toMs), expected, place);
      sameInstants(betweenBackwards(cron, row.fromMs, row.toMs), expected, () => `${place()}, backwards`);
    }
  }
});

/** Counts how often a schedule asks for a span. */
class CountedZone implements TimeZone {
  asked = 0;
  readonly #zone: TimeZone;

  constructor(zone: TimeZone) {
    this.#zone = zone;
  }

  spanAt(atMs: number) {
    this.asked++;
    return this.#zone.spanAt(atMs);
  }
}

test('the next instant, and the one before, are found in a few steps', () => {
  const zones = new TimeZones();
  const from = fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2040, 0, 1) });
  const around = fc.tuple(anyStrip, fc.integer({ min: -DAY_MS, max: DAY_MS }));
  const place = fc.oneof(
    fc.tuple(fc.constantFrom(...ZONES), from),
    around.map(([strip, beside]) => [strip.zone, strip.changeMs + beside] as const),
  );
  const rare = fc.constantFrom('0 3 * 2 1#5', '30 2 29 2 *', '0 0 31 12 *', '0 12 L 2 *');
  const text = fc.oneof(
    cronExpression().map(({ expression }) => expression),
    rare,
  );
  fc.assert(
    fc.property(
      place,
      text,
      fc.constantFrom<DstPolicy['repeat']>('first', 'last', 'both'),
      (at, one, repeat) => {
        const zone = new CountedZone(zones.zone(at[0]));
        const cron = new CronOccurrences(cronFields(one), zone, { gap: 'shift', repeat });
        for (const ask of [cron.next(at[1]), cron.prev(at[1])]) {
          assert.ok(ask !== null);
          assert.ok(zone.asked <= MAX_SPANS_ASKED, `${one} in ${at[0]}, ${iso([at[1]])[0]}: ${zone.asked}`);
          zone.asked = 0;
        }
      },
    ),
    { numRuns: 250 },
  );
});

test('a local time that is skipped whenever it comes costs a bounded search, and is none', () => {
  const zone = new CountedZone(new TimeZones().zone('America/New_York'));
  const fields = cronFields('30 2 * 3 0#2');
  const cron = new CronOccurrences(fields, zone, { gap: 'skip', repeat: 'first' });
  assert.equal(cron.next(Date.UTC(2026, 0, 1)), null);
  assert.ok(zone.asked <= 64, `${zone.asked}`);
  // Until 2006 the clocks went forward in April.
  assert.deepEqual(iso([cron.prev(Date.UTC(2026, 0, 1))!]), ['2006-03-12T07:30:00.000Z']);
});

test('an instant takes some microseconds, and the farthest less than 5 ms', () => {
  const zone = 'America/New_York';
  const asked = Array.from({ length: 500 }, (_, index) => Date.UTC(2016, 0, 1) + index * 8 * DAY_MS);
  for (const expression of ['*/5 * * * *', '30 2 * * *', '0 0 L * *', '0 3 * 2 1#5', '30 1 29 2 *']) {
    const cron = occurrences(expression, zone);
    const perCallMs =
      cpuMs(() => {
        for (const at of asked) cron.next(at);
      }) / asked.length;
    assert.ok(perCallMs < 0.25, `${expression}: ${perCallMs} ms`);
  }
  const worst = occurrences('30 2 * 3 0#2', zone, { gap: 'skip', repeat: 'first' });
  assert.ok(cpuMs(() => worst.next(asked[0]!)) < 5);
});

test('the zone of the process is the machine’s, and no other schedule asks for it', () => {
  const zone = process.env.TZ!;
  assert.equal(new Date(Date.UTC(2026, 6, 1)).getTimezoneOffset(), zone === 'UTC' ? 0 : 240);
  const [fromMs, toMs] = [Date.UTC(2025, 9, 30), Date.UTC(2025, 10, 5)];
  const own = between(occurrences('30 1 * * *', null), fromMs, toMs);
  assert.deepEqual(iso(own), iso(between(occurrences('30 1 * * *', zone), fromMs, toMs)));
  const other = between(occurrences('30 1 * * *', 'Europe/Berlin'), fromMs, toMs);
  assert.deepEqual(iso(other).slice(0, 2), ['2025-10-30T00:30:00.000Z', '2025-10-31T00:30:00.000Z']);
});
