/** The table of expected instants is whole, and what the clocks say: random parts of it are worked out again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DAY_MS, POLICIES, sameInstants } from './cron-support.ts';
import { ZONES } from './zones-list.ts';
import { instantsOfScan, scanClock } from './zones-scan.ts';
import { instantsOf, readTable } from './zones-table.ts';

const rows = readTable();

test('the table has every zone, and every policy once for each expression and time', () => {
  assert.deepEqual([...new Set(rows.map(({ zone }) => zone))], ZONES);
  const all = POLICIES.map(({ gap, repeat }) => `${gap}/${repeat}`).sort();
  const groups = Map.groupBy(rows, ({ zone, expression, fromMs, toMs }) =>
    [zone, expression, fromMs, toMs].join(),
  );
  for (const [place, parts] of groups) {
    assert.deepEqual(parts.flatMap(({ policies }) => policies).toSorted(), all, place);
  }
  const expressions = rows.map(({ expression }) => expression);
  for (const form of [/ L /, /\dL$/, /#\d/, /\?/, /[a-z]/, /^(?:\S+ ){5}\S+$/, /\*\/\d/, /\d-\d/, /\d,\d/]) {
    assert.ok(expressions.some((text) => form.test(text)));
  }
  for (const row of rows) {
    const instants = instantsOf(row);
    assert.ok(
      instants.every((at, index) => at >= row.fromMs && at < row.toMs && at > (instants[index - 1] ?? 0)),
    );
  }
});

test('any part of the table, worked out again minute by minute, is what stands there', () => {
  const place = fc.tuple(fc.constantFrom(...rows), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(place, ([row, share]) => {
      const { zone, expression, policies } = row;
      // Of a whole year a day: around one of its instants where there are any, or wherever.
      const instants = instantsOf(row);
      const lengthMs = Math.min(row.toMs - row.fromMs, DAY_MS);
      const middleMs =
        instants[Math.floor(share * instants.length)] ?? row.fromMs + share * (row.toMs - row.fromMs);
      const earliestMs = Math.min(Math.max(row.fromMs, middleMs - lengthMs / 2), row.toMs - lengthMs);
      const fromMs = Math.floor(earliestMs / 3_600_000) * 3_600_000;
      const scan = scanClock(zone, fromMs, fromMs + lengthMs);
      for (const policy of policies) {
        const [gap = '', repeat = ''] = policy.split('/');
        const found = instantsOfScan(scan, expression, { gap, repeat });
        const expected = instants.filter((at) => at >= fromMs && at < fromMs + lengthMs);
        const inRow = found.filter((at) => at >= row.fromMs && at < row.toMs);
        sameInstants(inRow, expected, () => `${expression} in ${zone}, ${policy}`);
      }
    }),
    { numRuns: 12 },
  );
});
