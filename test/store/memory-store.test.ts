import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RunEvent } from '../../src/actors/records.ts';
import { MemoryStore } from '../../src/actors/store/index.ts';
import { MarkSet } from '../../src/actors/store/mark-set.ts';
import { storeConformance } from './conformance.ts';

storeConformance('memory', (_t, retention, nowMs) => new MemoryStore(retention, nowMs));

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

test('usage tells live runs and marks apart from the history', () => {
  const store = new MemoryStore(
    { runs: 10, results: 10, resultTtlMs: 1e9, fileBytes: 1e12, maxBytes: 1e9 },
    () => 0,
  );
  const one = { task: 'a', attempt: 1, atMs: 0 } as const;
  const record = (event: RunEvent) => store.append({ first: store.kept + 1, events: [event], dropped: [] });
  record({ ...one, run: 'a@1', state: 'ready', input: JSON.stringify('x'.repeat(1000)) });
  const { history, live, marks } = store.usage();
  assert.deepEqual([history, marks], [0, 0]);
  assert.ok(live > 1000 && live < 1500, `${live}`);
  record({ ...one, run: 'a@1', state: 'success', mark: '00000000000000ff' });
  const after = store.usage();
  assert.ok(after.history === live && after.live === 0 && after.marks > 0);
  store.close();
  assert.deepEqual(store.usage(), { history: 0, live: 0, marks: 0 });
});
