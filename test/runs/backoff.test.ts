import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type BackoffPolicy, backoffMs } from '../../src/actors/runs/backoff.ts';

const scaled: BackoffPolicy = { kind: 'scaled', baseMs: 1000, capMs: 60_000 };
const additive: BackoffPolicy = { kind: 'additive', baseMs: 1000, capMs: 60_000, jitterMs: 1000 };

test('scaled: min(cap, base × 2^(n−1)) × (0.5 + rand)', () => {
  assert.equal(
    backoffMs(scaled, 1, () => 0),
    500,
  );
  assert.equal(
    backoffMs(scaled, 1, () => 0.5),
    1000,
  );
  assert.equal(
    backoffMs(scaled, 4, () => 0.25),
    6000,
  );
  assert.equal(
    backoffMs(scaled, 20, () => 0.75),
    75_000,
  );
});

test('additive: min(cap, base × 2^(n−1)) + uniform(0, jitter)', () => {
  assert.equal(
    backoffMs(additive, 1, () => 0),
    1000,
  );
  assert.equal(
    backoffMs(additive, 3, () => 0.5),
    4500,
  );
  assert.equal(
    backoffMs(additive, 20, () => 0.5),
    60_500,
  );
});

test('always finite, never negative, within its bounds, and growing on average until the cap', () => {
  const policy = fc.oneof(
    fc.record({
      kind: fc.constant('scaled' as const),
      baseMs: fc.integer({ min: 0, max: 1e7 }),
      capMs: fc.integer({ min: 0, max: 1e9 }),
    }),
    fc.record({
      kind: fc.constant('additive' as const),
      baseMs: fc.integer({ min: 0, max: 1e7 }),
      capMs: fc.integer({ min: 0, max: 1e9 }),
      jitterMs: fc.integer({ min: 0, max: 1e6 }),
    }),
  );
  const n = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1e6, Number.MAX_SAFE_INTEGER));
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(policy, n, random, (chosen, retry, rand) => {
      const wait = backoffMs(chosen, retry, () => rand);
      assert.ok(Number.isFinite(wait) && wait >= 0);
      assert.ok(wait <= (chosen.kind === 'additive' ? chosen.capMs + chosen.jitterMs : chosen.capMs * 1.5));
      assert.ok(backoffMs(chosen, retry + 1, () => rand) >= wait);
    }),
  );
});

test('200 tasks that fail at once are spread: no second holds more than twice the mean', () => {
  let seed = 7;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  for (const [policy, retry] of [
    [scaled, 4],
    [{ ...additive, jitterMs: 8000 }, 4],
  ] as const) {
    const buckets = new Map<number, number>();
    for (let task = 0; task < 200; task++) {
      const second = Math.floor(backoffMs(policy, retry, random) / 1000);
      buckets.set(second, (buckets.get(second) ?? 0) + 1);
    }
    const mean = 200 / buckets.size;
    assert.ok(Math.max(...buckets.values()) <= 2 * mean, JSON.stringify([...buckets]));
  }
});

test('retries at the cap are spread too: of 200, no second gets more than a few', () => {
  let seed = 11;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const buckets = new Map<number, number>();
  for (let task = 0; task < 200; task++) {
    const second = Math.floor(backoffMs(scaled, 20, random) / 1000);
    buckets.set(second, (buckets.get(second) ?? 0) + 1);
  }
  assert.ok(buckets.size > 40 && Math.max(...buckets.values()) <= 15);
});
