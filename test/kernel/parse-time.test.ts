import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDuration, parseInstant } from '../../src/actors/kernel/parse-time.ts';
import { splitGlob } from '../../src/main/config/split-glob.ts';

test('durations', () => {
  const cases: [string, number | null][] = [
    ['5s', 5000],
    ['1m30s', 90_000],
    ['500ms', 500],
    ['2h', 7_200_000],
    ['1.5h', 5_400_000],
    ['1d 2h', 93_600_000],
    ['1.1s', 1100],
    ['7', 7000],
    ['0.25', 250],
    ['30s1m', null],
    ['5s5s', null],
    ['5 s', null],
    ['5x', null],
    ['-5s', null],
    ['', null],
    ['1e9s', null],
    ['9'.repeat(200), Number('9'.repeat(200)) * 1000],
    ['5s'.repeat(100), null],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
});

test('a duration made of parts is their sum', () => {
  const part = fc.nat({ max: 59 });
  fc.assert(
    fc.property(part, part, part, fc.nat({ max: 999 }), (h, m, s, ms) => {
      assert.equal(parseDuration(`${h}h${m}m${s}s${ms}ms`), ((h * 60 + m) * 60 + s) * 1000 + ms);
    }),
  );
});

test('instants with their zone', () => {
  const at = Date.UTC(2026, 11, 24, 18);
  assert.deepEqual(parseInstant('2026-12-24T18:00:00Z'), { atMs: at });
  assert.deepEqual(parseInstant('2026-12-24T18:00Z'), { atMs: at });
  assert.deepEqual(parseInstant('2026-12-24 19:00:00+01:00'), { atMs: at });
  assert.deepEqual(parseInstant('2026-12-24T12:30:00.250-0530'), { atMs: at + 250 });
  for (const bad of [
    '2026-12-24T18:00:00',
    '2026-02-30T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-13-01T00:00:00Z',
    'tomorrow',
    '2026-01-01T00:00:00+99:00',
    '2026-12-24',
  ]) {
    assert.ok('problem' in parseInstant(bad), bad);
  }
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }), (date) => {
      assert.deepEqual(parseInstant(date.toISOString()), { atMs: date.getTime() });
    }),
  );
});

test('globs are split at the first wildcard', () => {
  const cases: [string, string, string][] = [
    ['./inbox/**/*', '/d/inbox', '**/*'],
    ['inbox/a*/b.txt', '/d/inbox', 'a*/b.txt'],
    ['../up/*.ts', '/up', '*.ts'],
    ['/abs/x/{a,b}/*', '/abs/x', '{a,b}/*'],
    ['/*.ts', '/', '*.ts'],
    ['*.ts', '/d', '*.ts'],
    ['./one.txt', '/d', 'one.txt'],
    ['a/./b//*', '/d/a/b', '*'],
    ['a/..b*/x..', '/d/a', '..b*/x..'],
  ];
  for (const [glob, root, pattern] of cases) assert.deepEqual(splitGlob(glob, '/d'), { root, pattern }, glob);
  for (const bad of ['*/../x', '**/..', '{a,..}/x', 'x*/@(..|b)', './inbox/', '/', '.', '..', 'a\0b']) {
    assert.ok('problem' in splitGlob(bad, '/d'), bad);
  }
});
