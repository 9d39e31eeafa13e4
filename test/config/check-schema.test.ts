import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkSchema, MAX_PROBLEMS, withDefaults } from '../../src/actors/kernel/check-schema.ts';
import type { JsonSchema } from '../../src/actors/kernel/json-schema.ts';
import { editDistance, nearestName } from '../../src/actors/kernel/nearest-name.ts';

function only(schema: JsonSchema, value: unknown): string {
  const problems = checkSchema(schema, value);
  assert.equal(problems.length, 1, JSON.stringify(problems));
  return problems[0]!.message;
}

test('messages say what was expected and what was got', () => {
  const cases: [JsonSchema, unknown, string][] = [
    [{ type: 'integer', minimum: 1 }, 'ten', 'expected a positive integer, got "ten"'],
    [{ type: 'integer', minimum: 1 }, 0, 'expected a positive integer, got 0'],
    [{ type: 'integer', minimum: 1 }, 1.5, 'expected a positive integer, got 1.5'],
    [{ type: 'integer', minimum: 0 }, -1, 'expected an integer ≥ 0, got -1'],
    [{ type: 'integer', minimum: 1, maximum: 64 }, 65, 'expected an integer from 1 to 64, got 65'],
    [{ type: 'number', minimum: 0 }, Number.POSITIVE_INFINITY, 'expected a number ≥ 0, got Infinity'],
    [{ type: 'number', exclusiveMinimum: 0 }, 0, 'expected a number > 0, got 0'],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 5 }, 9, 'expected a number > 0 and ≤ 5, got 9'],
    [{ type: 'string', minLength: 1 }, '', 'expected a string of at least 1 characters, got ""'],
    [{ type: 'string', minLength: 1 }, 5, 'expected a string, got 5'],
    [{ type: ['string', 'null'] }, true, 'expected a string or null, got true'],
    [{ type: 'boolean' }, 'yes', 'expected true or false, got "yes"'],
    [{ type: 'object' }, [], 'expected an object, got an empty list'],
    [{ type: 'array', minItems: 1 }, [], 'expected a list of at least 1 entry, got an empty list'],
    [{ type: 'string', pattern: '^a$' }, 'b', 'expected a string that matches ^a$, got "b"'],
    [
      { type: 'string', pattern: '^a$', patternMeaning: 'the letter a' },
      'b',
      'expected the letter a, got "b"',
    ],
    [{ enum: ['skip', 'allow'] }, 'skp', 'expected one of "skip", "allow", got "skp"; did you mean "skip"?'],
    [{ const: 'auto' }, 1, 'expected "auto", got 1'],
    [
      { anyOf: [{ const: 'auto' }, { type: 'integer', minimum: 1 }] },
      'x',
      'expected "auto" or a positive integer, got "x"',
    ],
    [{ type: 'object', required: ['a'] }, {}, 'expected the key "a", got none'],
  ];
  for (const [schema, value, message] of cases) assert.equal(only(schema, value), message);
});

test('all problems at once, each with its path and whether it is the key', () => {
  const schema: JsonSchema = {
    type: 'object',
    additionalProperties: false,
    properties: {
      timeout_seconds: { type: 'number' },
      list: {
        type: 'array',
        items: { type: 'object', required: ['name'], properties: { n: { type: 'integer' } } },
      },
    },
  };
  const problems = checkSchema(schema, { timeout: 3, list: [{ name: 1, n: 'x' }, {}] });
  assert.deepEqual(problems, [
    { path: ['timeout'], message: 'unknown key "timeout"; did you mean "timeout_seconds"?', onKey: true },
    { path: ['list', 0, 'n'], message: 'expected an integer, got "x"', onKey: false },
    { path: ['list', 1], message: 'expected the key "name", got none', onKey: false, missing: true },
  ]);
});

test('keys that are known are all named, also those that are there', () => {
  const properties = { first: {}, second: {} };
  const schema: JsonSchema = { type: 'object', additionalProperties: false, properties };
  assert.equal(only(schema, { first: 1, other: 2 }), 'unknown key "other"; expected one of first, second');
});

test('a branch that nearly fits is reported by its own problems', () => {
  const schema: JsonSchema = {
    anyOf: [
      { type: 'string' },
      { type: 'object', additionalProperties: false, properties: { size: { type: 'integer' } } },
    ],
  };
  assert.deepEqual(checkSchema(schema, { size: 'x' }), [
    { path: ['size'], message: 'expected an integer, got "x"', onKey: false },
  ]);
  assert.deepEqual(checkSchema(schema, { size: 1 }), []);
});

test('keys of the object prototype are keys like others', () => {
  const schema: JsonSchema = {
    type: 'object',
    additionalProperties: false,
    properties: {},
    required: ['toString'],
  };
  const value = JSON.parse('{"__proto__": 1, "constructor": 2}');
  assert.equal(checkSchema(schema, value).length, 3);
});

test('depth and number of problems are bounded, also on a cyclic value', () => {
  const inner: { additionalProperties?: JsonSchema } = {};
  inner.additionalProperties = inner;
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  assert.match(only(inner, cyclic), /levels of nesting/);
  const many = Array.from({ length: 5000 }, () => 'x');
  assert.equal(checkSchema({ type: 'array', items: { type: 'integer' } }, many).length, MAX_PROBLEMS);
});

test('withDefaults fills what is missing and changes nothing that is given', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'integer', default: 1 },
      section: { type: 'object', default: {}, properties: { b: { default: 'x' } } },
      list: { type: 'array', items: { type: 'object', properties: { c: { default: null } } } },
      choice: { anyOf: [{ type: 'string' }, { type: 'object', properties: { d: { default: 4 } } }] },
      absent: { type: 'string' },
    },
    additionalProperties: { type: 'object', properties: { e: { default: 5 } } },
  };
  const given = { list: [{}, { c: 2 }], choice: {}, other: {} };
  assert.deepEqual(withDefaults(schema, given), {
    a: 1,
    section: { b: 'x' },
    list: [{ c: null }, { c: 2 }],
    choice: { d: 4 },
    other: { e: 5 },
  });
  assert.deepEqual(given, { list: [{}, { c: 2 }], choice: {}, other: {} });
  assert.equal(withDefaults({ default: 7 }, undefined), 7);
});

test('any value: never throws, and the filled value has no more problems than the given one', () => {
  const schema: JsonSchema = {
    type: 'object',
    additionalProperties: false,
    properties: { a: { type: 'integer', default: 1 }, b: { anyOf: [{ type: 'null' }, { type: 'array' }] } },
  };
  fc.assert(
    fc.property(
      fc.oneof(fc.anything(), fc.record({ a: fc.anything(), b: fc.anything() }, { requiredKeys: [] })),
      (value) => {
        const before = checkSchema(schema, value);
        assert.ok(
          checkSchema(schema, withDefaults(schema, value)).length <=
            Math.max(before.length, value === undefined ? 1 : 0),
        );
      },
    ),
  );
});

test('the nearest name: swaps, case, starts; nothing far away', () => {
  const known = ['timeout_seconds', 'max_retry', 'overlap', 'every', 'at'];
  assert.equal(nearestName('overlpa', known), 'overlap');
  assert.equal(nearestName('maxRetry', known), 'max_retry');
  assert.equal(nearestName('max-retry', known), 'max_retry');
  assert.equal(nearestName('timeout', known), 'timeout_seconds');
  assert.equal(nearestName('evry', known), 'every');
  assert.equal(nearestName('colour', known), undefined);
  assert.equal(nearestName('zz', known), undefined);
  assert.equal(nearestName('x'.repeat(100_000), known), undefined);
});

test('the edit distance is symmetric, zero for equal names only, and 1 for a swap', () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const edits = editDistance(a, b);
      assert.equal(edits, editDistance(b, a));
      assert.equal(edits === 0, a === b);
      assert.ok(edits <= Math.max(a.length, b.length));
      assert.ok(edits >= Math.abs(a.length - b.length));
    }),
  );
  assert.equal(editDistance('ab', 'ba'), 1);
  assert.equal(editDistance('kitten', 'sitting'), 3);
});
