import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ioSlots,
  MEASURED_MAX_SLOTS,
  MeasuredSizing,
  RESIZE_INTERVAL_MS,
  WaitComputeMeter,
} from '../../src/workers/io-pool/pool-size.ts';

const within = { min: 1, max: 1000 };
const anyNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e-300, 1e300),
);

test('slots are cores × (1 + wait / compute), rounded up', () => {
  assert.equal(ioSlots({ cores: 4, waitMs: 80, computeMs: 20, ...within }), 20);
  assert.equal(ioSlots({ cores: 2, waitMs: 0, computeMs: 20, ...within }), 2);
  assert.equal(ioSlots({ cores: 2, waitMs: 1, computeMs: 3, ...within }), 3);
  assert.equal(ioSlots({ cores: 3, waitMs: 0.2, computeMs: 0.1, ...within }), 9);
});

test('slots are an integer within [min, max] for every input', () => {
  fc.assert(
    fc.property(
      anyNumber,
      anyNumber,
      anyNumber,
      fc.integer({ min: 1, max: 64 }),
      (cores, waitMs, computeMs, min) => {
        const slots = ioSlots({ cores, waitMs, computeMs, min, max: 64 });
        assert.ok(Number.isInteger(slots) && slots >= min && slots <= 64, String(slots));
      },
    ),
  );
});

test('more wait never means fewer slots, more compute never more', () => {
  const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(ms, ms, ms, (wait, compute, more) => {
      const base = ioSlots({ cores: 2, waitMs: wait, computeMs: compute, ...within });
      assert.ok(ioSlots({ cores: 2, waitMs: wait + more, computeMs: compute, ...within }) >= base);
      assert.ok(ioSlots({ cores: 2, waitMs: wait, computeMs: compute + more, ...within }) <= base);
    }),
  );
});

test('the meter comes close to a steady load, from whatever start', () => {
  const time = fc.double({ min: 0.1, max: 200, noNaN: true });
  fc.assert(
    fc.property(time, time, time, fc.integer({ min: 1, max: 50 }), (startMs, waitMs, computeMs, runs) => {
      const meter = new WaitComputeMeter({ waitMs: startMs, computeMs: startMs });
      const utilisation = 0.5;
      const stretched = computeMs / (1 - utilisation);
      for (let sample = 0; sample < 60; sample++) {
        meter.add({
          runs,
          durationMs: runs * (waitMs + stretched),
          activeMs: runs * computeMs,
          intervalMs: (runs * computeMs) / utilisation,
        });
      }
      assert.ok(Math.abs(meter.waitMs - waitMs) < 0.01 + waitMs * 0.01, `${meter.waitMs} for ${waitMs}`);
      assert.ok(Math.abs(meter.computeMs - computeMs) < 0.01 + computeMs * 0.01);
    }),
  );
});

test('the meter stays finite and non-negative for every sample', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyNumber, anyNumber, anyNumber, anyNumber)), (samples) => {
      const meter = new WaitComputeMeter({ waitMs: 80, computeMs: 20 });
      for (const [runs, durationMs, activeMs, intervalMs] of samples) {
        meter.add({ runs, durationMs, activeMs, intervalMs });
        assert.ok(meter.waitMs >= 0 && Number.isFinite(meter.waitMs));
        assert.ok(meter.computeMs >= 0 && Number.isFinite(meter.computeMs));
      }
    }),
  );
});

test('samples without runs change nothing', () => {
  const meter = new WaitComputeMeter({ waitMs: 80, computeMs: 20 });
  meter.add({ runs: 0, durationMs: 0, activeMs: 500, intervalMs: 1000 });
  assert.deepEqual([meter.waitMs, meter.computeMs], [80, 20]);
});

test('a measured pool is resized at most once in 5 s, within [cores, 64]', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 500 }), fc.nat(1000))),
      (cores, steps) => {
        const sizing = new MeasuredSizing({ cores, waitMs: 10, computeMs: 10 });
        let slots = sizing.slots;
        let nowMono = 0;
        let resizedMono = Number.NEGATIVE_INFINITY;
        for (const [passedMs, durationMs, activeMs] of steps) {
          nowMono += passedMs;
          sizing.ended(durationMs);
          const next = sizing.next(activeMs, slots, nowMono);
          if (next === null) continue;
          assert.ok(nowMono - resizedMono >= RESIZE_INTERVAL_MS);
          assert.ok(next >= cores && next <= MEASURED_MAX_SLOTS && next !== slots);
          resizedMono = nowMono;
          slots = next;
        }
      },
    ),
  );
});
