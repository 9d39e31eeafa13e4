import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MemoryStore } from '../../src/actors/store/index.ts';
import { MarkSet } from '../../src/actors/store/mark-set.ts';
import { storeConformance } from './conformance.ts';

storeConformance('memory', async (retention) => {
  let now = 1_000_000;
  return {
    store: new MemoryStore(retention, () => now),
    advance: (ms) => {
      now += ms;
    },
  };
});

test('the set of marks agrees with a Set', () => {
  const mark = fc
    .tuple(fc.nat(3), fc.constantFrom(0, 1, 0x7fffffff, 0xffffffff), fc.nat(5))
    .map(
      ([high, middle, low]) =>
        high.toString(16).padStart(7, '0') + (middle >>> 0).toString(16).padStart(8, '0') + low.toString(16),
    );
  fc.assert(
    fc.property(fc.array(mark, { maxLength: 200 }), fc.array(mark, { maxLength: 50 }), (added, asked) => {
      const set = new MarkSet(16);
      const model = new Set<string>();
      for (const item of added) {
        set.add(item);
        model.add(item);
      }
      assert.equal(set.size, model.size);
      for (const item of [...asked, ...added]) assert.equal(set.has(item), model.has(item), item);
    }),
  );
});

test('a mark costs at most 32 bytes', () => {
  const set = new MarkSet();
  for (let index = 0; index < 100_000; index++)
    set.add((index * 0x9e3779b1).toString(16).padStart(16, '0').slice(-16));
  assert.ok(set.bytes / set.size <= 32, `${set.bytes / set.size}`);
});
