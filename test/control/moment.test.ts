import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMoment } from '../../src/actors/control/index.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const ago = (text: string): number | null => {
  const atMs = parseMoment(text, NOW);
  return atMs === null ? null : (NOW - atMs) / 1000;
};

test('a span is so long ago', () => {
  assert.deepEqual(
    ['90s', '2h', '1.5h', '1d12h', '1d1h1m1s', ' 5m '].map(ago),
    [90, 7200, 5400, 129_600, 90_061, 300],
  );
  assert.equal(parseMoment('99999999d', NOW), 0);
});

test('an instant has its zone, and exists', () => {
  assert.equal(parseMoment('2026-01-01T12:00:00Z', 0), NOW);
  assert.equal(parseMoment('2026-01-01t13:00+01:00', 0), NOW);
  assert.equal(parseMoment('2026-01-01T12:00:00.250z', 0), NOW + 250);
  assert.equal(parseMoment('2024-02-29T23:59:59-12:00', 0), Date.UTC(2024, 2, 1, 11, 59, 59));
  for (const text of [
    '2026-02-30T00:00:00Z',
    '2025-02-29T10:00Z',
    '2026-01-01T25:00Z',
    '2026-13-01T00:00Z',
  ]) {
    assert.equal(parseMoment(text, NOW), null, text);
  }
});

test('anything else is nothing: no zone, no unit, units out of order, signs, words', () => {
  const texts = [
    '',
    ' ',
    '2026-01-01',
    '2026-01-01T12:00',
    '5',
    '2h1d',
    '1h1h',
    '-2h',
    '2 h',
    '2H',
    'now',
    '1w',
    '.5h',
  ];
  for (const text of texts) assert.equal(parseMoment(text, NOW), null, JSON.stringify(text));
});

test('every instant that is written as ISO text is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (atMs) => {
      assert.equal(parseMoment(new Date(atMs).toISOString(), NOW), atMs);
    }),
  );
});
