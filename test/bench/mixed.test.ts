/** The bound that `mixed` is held against. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundPerMinute } from '../../bench/mixed-bound.ts';

test('fifty in flight are the bound until hashes take all cores', () => {
  const bound = (cores: number, hashMs: number) =>
    Math.round(boundPerMinute({ inFlight: 50, cores, waitMs: 200, hashMs }));
  assert.equal(bound(2, 0), 30_000);
  assert.equal(bound(2, 3.4), 29_499);
  assert.equal(bound(2, 8), 28_846);
  assert.equal(bound(1, 8), 15_000, 'one core, half of the tasks at 8 ms');
});
