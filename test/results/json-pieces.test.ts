/** JSON in pieces is that of `JSON.stringify`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonPieces } from '../../src/actors/results/json-pieces.ts';

test('together the pieces are the text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      assert.equal([...jsonPieces(value)].join(''), JSON.stringify(value));
    }),
    { numRuns: 200 },
  );
});

test('what JSON has words of its own for is written as it would be', () => {
  class Money {
    toJSON(key: string): unknown {
      return { key, amount: 3 };
    }
  }
  const value = {
    date: new Date(0),
    money: new Money(),
    list: [undefined, new Money(), 1],
    left: undefined,
    boxed: [new String('s'), new Number(3), new Boolean(false)],
    bytes: Buffer.from([1, 2]),
    view: new Uint8Array([3, 4]),
    __proto__x: null,
    bare: Object.assign(Object.create(null), { a: 1 }),
  };
  assert.equal([...jsonPieces(value)].join(''), JSON.stringify(value));
});

test('no piece is long, also where the value is one text; pairs of surrogates stay together', () => {
  const texts = [
    'x'.repeat(200_000),
    '\u{1f600}'.repeat(60_000),
    `a${'\u{1f600}'.repeat(60_000)}`,
    '"'.repeat(90_000),
  ];
  for (const text of texts) {
    const value = { list: [text], rows: Array.from({ length: 20_000 }, (_, index) => ({ index })) };
    const pieces = [...jsonPieces(value)];
    assert.ok(pieces.every((piece) => piece.length < 150_000));
    assert.ok(pieces.length > 5);
    assert.equal(pieces.join(''), JSON.stringify(value));
  }
});
