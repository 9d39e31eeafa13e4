import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GarbageCollector } from '../../src/actors/kernel/index.ts';
import { Tidier } from '../../src/actors/kernel/tidier.ts';

const MB = 2 ** 20;

function rig() {
  const state = { heap: 5 * MB, mono: 0, collected: 0 };
  const tidier = new Tidier({
    busyEveryMs: 6000,
    heapBytes: () => state.heap,
    monoMs: () => state.mono,
    collect() {
      state.collected++;
      state.heap = 5 * MB;
    },
  });
  return { state, tidier };
}

test('a thread whose work has run dry collects once', () => {
  const { state, tidier } = rig();
  tidier.idle();
  assert.equal(state.collected, 0, 'it has not worked');
  tidier.worked();
  tidier.idle();
  tidier.idle();
  assert.equal(state.collected, 1);
});

test('a busy thread collects when its heap has grown, and seldom', () => {
  const { state, tidier } = rig();
  for (let ms = 0; ms < 60_000; ms += 10) {
    state.mono = ms;
    state.heap += MB / 50;
    tidier.worked();
  }
  assert.ok(state.collected >= 10 && state.collected <= 13, `${state.collected}`);
  const { state: flat, tidier: calm } = rig();
  calm.worked();
  calm.idle();
  for (let ms = 0; ms < 60_000; ms += 10) {
    flat.mono = ms;
    calm.worked();
  }
  assert.equal(flat.collected, 3, 'a heap that does not grow is left alone after the first few');
});

test('collecting frees what nobody holds, on this thread, without a flag of the process', () => {
  let big: object | null = { data: new Array(100_000).fill('x') };
  const weak = new WeakRef(big);
  big = null;
  const collector = new GarbageCollector();
  collector.collect();
  return new Promise<void>((resolve) => {
    // A WeakRef that was looked at or made in a turn holds until the turn ends.
    setImmediate(() => {
      collector.collect();
      assert.equal(weak.deref(), undefined);
      resolve();
    });
  });
});
