import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RestartWindow } from '../../src/actors/kernel/index.ts';

test('no window of time holds more restarts than the intensity, and none is refused without need', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      fc.integer({ min: 1, max: 1000 }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
      (maxRestarts, withinMs, gaps) => {
        const window = new RestartWindow({ maxRestarts, withinMs });
        const granted: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const inside = granted.filter((at) => now - at < withinMs).length;
          assert.equal(window.tryRestart(now), inside < maxRestarts);
          if (inside < maxRestarts) granted.push(now);
        }
        assert.equal(window.total, granted.length);
      },
    ),
  );
});
