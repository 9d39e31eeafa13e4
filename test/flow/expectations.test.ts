import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  EXPECTATION_SCHEMA,
  measureOf,
  parseExpectation,
  type RawExpectation,
  unmetExpectation,
} from '../../src/actors/flow/index.ts';
import { checkSchema } from '../../src/actors/kernel/index.ts';

function unmet(raw: RawExpectation, result: unknown, lastGood: number | null = null): string | null {
  assert.deepEqual(checkSchema(EXPECTATION_SCHEMA, raw), []);
  const { expectation, problems } = parseExpectation(raw);
  assert.deepEqual(problems, []);
  return unmetExpectation(expectation, result, lastGood);
}

function problemsOf(raw: unknown): string[] {
  return parseExpectation(raw as RawExpectation).problems.map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );
}

test('a result that does not fit its schema is said with the place, and which others there are', () => {
  const schema = {
    type: 'object',
    required: ['orders'],
    properties: {
      orders: {
        type: 'array',
        items: { type: 'object', properties: { amount: { type: 'number', minimum: 0 } } },
      },
    },
  } as const;
  assert.equal(unmet({ schema }, { orders: [{ amount: 1 }] }), null);
  assert.equal(
    unmet({ schema }, { orders: [{ amount: 1 }, { amount: -1 }, { amount: 'x' }] }),
    'result.orders[1].amount: expected a number ≥ 0, got -1; nor does result.orders[2].amount fit the schema',
  );
  assert.match(
    unmet({ schema }, { orders: Array.from({ length: 6 }, () => ({ amount: -1 })) })!,
    /-1; nor do result\.orders\[1\]\.amount, .*\[2\]\.amount, .*\[3\]\.amount and 2 more fit the schema$/,
  );
  assert.equal(unmet({ schema }, null), 'result: expected an object, got null');
  const keys = { type: 'object', required: ['id', 'n', 'at'] } as const;
  assert.equal(unmet({ schema: keys }, {}), 'result: expected the key "id", got none');
});

test('rows are counted in the result, or in the list it names', () => {
  assert.equal(unmet({ min_rows: 2, max_rows: 3 }, [1, 2]), null);
  assert.equal(unmet({ min_rows: 2 }, [1]), 'result: expected at least 2 rows, got 1');
  assert.equal(unmet({ max_rows: 0 }, [1]), 'result: expected at most 0 rows, got 1');
  assert.equal(
    unmet({ rows: 'data.orders', min_rows: 1 }, { data: { orders: [] } }),
    'result.data.orders: expected at least 1 row, got 0',
  );
  assert.equal(
    unmet({ rows: 'orders', min_rows: 1 }, { orders: { length: 5 } }),
    'result.orders: expected a list, got an object',
  );
  assert.equal(unmet({ rows: 'orders', min_rows: 1 }, {}), 'result.orders: expected a list, got nothing');
});

test('a change against the last good run is measured in rows, or in the number it names', () => {
  const raw: RawExpectation = { max_change_percent: 50 };
  const remedy = 'if that is right, raise max_change_percent for one run';
  assert.equal(unmet(raw, [1, 2, 3], 2), null);
  assert.equal(
    unmet(raw, [1, 2, 3, 4], 2),
    `result: expected a change of at most 50 % from the 2 rows of the last good run, got 4 rows, 100.0 %; ${remedy}`,
  );
  assert.equal(unmet({ ...raw, value: 'total' }, { total: -3 }, -2), null);
  assert.match(
    unmet({ ...raw, value: 'total' }, { total: 4 }, -2)!,
    /from the -2 of the last good run, got 4, 300\.0 %; if that is right/,
  );
  assert.match(
    unmet({ ...raw, value: 'total' }, { total: '4' }, 1)!,
    /^result\.total: expected a number, got "4"$/,
  );
  assert.equal(
    unmet(raw, [], 2),
    `result: expected a change of at most 50 % from the 2 rows of the last good run, got 0 rows, 100.0 %; ${remedy}`,
  );
});

test('without a good run before, or after one of nothing, there is no change to speak of', () => {
  assert.equal(unmet({ max_change_percent: 0 }, [1], null), null);
  assert.equal(unmet({ max_change_percent: 0 }, [1], 0), null);
});

test('what is measured is a number or nothing', () => {
  const measure = (raw: RawExpectation, result: unknown) =>
    measureOf(parseExpectation(raw).expectation, result);
  assert.equal(measure({ max_change_percent: 1 }, [1, 2]), 2);
  assert.equal(measure({ max_change_percent: 1, value: 'a[0]' }, { a: [7] }), 7);
  assert.equal(measure({ max_change_percent: 1, value: 'a' }, { a: Number.NaN }), null);
  assert.equal(measure({ min_rows: 1 }, [1, 2]), null);
});

test('what is wrong with an expectation is said when the config is loaded', () => {
  assert.deepEqual(problemsOf({ min_rows: 3, max_rows: 2 }), [
    'max_rows: expected at least min_rows (3), got 2',
  ]);
  assert.deepEqual(problemsOf({ rows: 'orders' }), [
    'rows: expected min_rows, max_rows or max_change_percent beside it, got none',
  ]);
  assert.deepEqual(problemsOf({ value: 'total' }), [
    'value: expected max_change_percent beside it, got none',
  ]);
  assert.match(problemsOf({ rows: 'a b', min_rows: 1 })[0]!, /^rows: expected a path such as/);
  assert.deepEqual(problemsOf({ schema: { tipe: 'object' } }), [
    'schema.tipe: unknown key "tipe"; did you mean "type"?',
  ]);
  assert.match(
    problemsOf({ schema: { items: { type: 'strin' } } })[0]!,
    /^schema\.items\.type: expected one of "object", .*, got "strin"$/,
  );
  assert.match(
    problemsOf({ schema: { properties: { a: { pattern: '(' } } } })[0]!,
    /^schema\.properties\.a\.pattern: expected a regular expression, got "\("/,
  );
  assert.match(
    problemsOf({ schema: { properties: { a: 5 } } })[0]!,
    /^schema\.properties\.a: expected an object, got 5/,
  );
  assert.match(
    problemsOf({ schema: { anyOf: [{ type: 'null' }], type: 'object' } })[0]!,
    /^schema\.type: expected anyOf with nothing beside it, got "type"; put it into each/,
  );
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 100; level++) deep = { items: deep };
  assert.match(problemsOf({ schema: deep })[0]!, /expected at most 64 levels/);
});

test('any result is as expected or there is a sentence; nothing throws', () => {
  const anyRaw = fc.record(
    {
      rows: fc.constantFrom('a', 'a.b', 'a[0]'),
      min_rows: fc.nat(3),
      value: fc.constantFrom('a', '["a b"]'),
      max_change_percent: fc.nat(100),
      schema: fc.constantFrom(
        { type: 'array' } as const,
        { anyOf: [{ type: 'object' }, { type: 'null' }] } as const,
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(anyRaw, fc.jsonValue(), fc.option(fc.integer()), (raw, result, lastGood) => {
      const { expectation } = parseExpectation(raw);
      const sentence = unmetExpectation(expectation, result, lastGood);
      assert.ok(sentence === null || /^result.*: expected .*, got /.test(sentence), String(sentence));
    }),
    { numRuns: 200 },
  );
});
