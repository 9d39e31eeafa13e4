import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntrySlots } from '../../src/actors/delay/index.ts';

test('a slot is given out again when it is free; a handle is good for one entry', () => {
  const slots = new EntrySlots(1);
  const first = slots.take();
  const handle = slots.handleOf(first);
  assert.equal(slots.slotOf(handle), first);
  slots.release(first);
  assert.equal(slots.slotOf(handle), -1);
  assert.equal(slots.take(), first, 'arrays by slot stay dense');
  assert.equal(slots.slotOf(handle), -1, 'its place is taken by another');
  assert.notEqual(slots.handleOf(first), handle);
  assert.deepEqual([slots.take(), slots.count, slots.used], [1, 2, 2]);
});

test('all slots stay apart while arrays grow, and are free once cleared', () => {
  const slots = new EntrySlots(1);
  const handles = Array.from({ length: 1000 }, () => slots.handleOf(slots.take()));
  assert.deepEqual(
    handles.map((handle) => slots.slotOf(handle)),
    Array.from({ length: 1000 }, (_, index) => index),
  );
  slots.clear();
  assert.equal(slots.count, 0);
  assert.ok(handles.every((handle) => slots.slotOf(handle) === -1));
  const again = new Set(handles.map(() => slots.take()));
  assert.deepEqual([again.size, slots.count, slots.used], [1000, 1000, 1000]);
});

test('the order is that in which entries came or were renewed', () => {
  const slots = new EntrySlots();
  const [a, b] = [slots.take(), slots.take()];
  assert.ok(slots.orderOf(a) < slots.orderOf(b));
  slots.renew(a);
  assert.ok(slots.orderOf(a) > slots.orderOf(b));
});

test('a number that is no handle leads nowhere', () => {
  const slots = new EntrySlots();
  slots.take();
  for (const handle of [0, 1, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 52]) {
    assert.equal(slots.slotOf(handle), -1, `${handle}`);
  }
});
