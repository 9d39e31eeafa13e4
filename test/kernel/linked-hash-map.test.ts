import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import fc from 'fast-check';
import { LinkedHashMap } from '../../src/actors/kernel/index.ts';

type Key = string | number;

function same(map: LinkedHashMap<Key, number>, model: ReadonlyMap<Key, number>): void {
  assert.equal(map.size, model.size);
  assert.deepEqual(map.keys(), [...model.keys()]);
  assert.deepEqual(map.values(), [...model.values()]);
  assert.equal(map.keys()[0], model.keys().next().value);
}

test('behaves as a Map, order and all, whatever comes and goes', () => {
  const key = fc.oneof(
    fc.integer({ min: -3, max: 60 }),
    fc.string({ maxLength: 2 }),
    fc.integer({ min: 0, max: 3 }).map((number) => number * 2 ** 40),
  );
  const step = fc.tuple(fc.constantFrom('set', 'set', 'delete', 'get', 'clear?'), key, fc.nat());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
      const map = new LinkedHashMap<Key, number>();
      const model = new Map<Key, number>();
      for (const [what, at, value] of steps) {
        if (what === 'set') {
          map.set(at, value);
          model.set(at, value);
        } else if (what === 'delete') assert.equal(map.delete(at), model.delete(at));
        else if (what === 'clear?' && value % 50 === 0) {
          map.clear();
          model.clear();
        }
        assert.equal(map.get(at), model.get(at));
        assert.equal(map.has(at), model.has(at));
      }
      same(map, model);
    }),
    { numRuns: 200 },
  );
});

test('grows and shrinks with what is in it, in order', () => {
  const map = new LinkedHashMap<Key, number>();
  const model = new Map<Key, number>();
  for (let index = 0; index < 5000; index++) {
    map.set(`run-${index}`, index);
    model.set(`run-${index}`, index);
  }
  same(map, model);
  for (let index = 0; index < 5000; index++) {
    if (index % 97 === 0) continue;
    assert.ok(map.delete(`run-${index}`));
    model.delete(`run-${index}`);
  }
  same(map, model);
  assert.equal(map.delete('run-1'), false);
});

test('a copy is walked through while entries go', () => {
  const map = new LinkedHashMap<number, number>();
  for (let index = 0; index < 100; index++) map.set(index, index);
  for (const value of map.values()) assert.ok(map.delete(value));
  assert.equal(map.size, 0);
});

/** Bytes that have become old to the collector, of entries that all live for a moment only. */
function oldBytesOf(map: { set(key: string, value: object): unknown; delete(key: string): boolean }): number {
  const old = () =>
    getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;
  const before = old();
  let most = 0;
  for (let index = 0; index < 300_000; index++) {
    map.delete(`run-${index - 64}`);
    map.set(`run-${index}`, { index, data: [index, index, index, index] });
    if (index % 20_000 === 0) most = Math.max(most, old() - before);
  }
  return most;
}

test('what lived in it for a moment does not become old; in a Map it does', () => {
  const own = oldBytesOf(new LinkedHashMap<string, object>());
  const theirs = oldBytesOf(new Map<string, object>());
  assert.ok(own < theirs / 4, `${own} bytes, ${theirs} in a Map`);
});
