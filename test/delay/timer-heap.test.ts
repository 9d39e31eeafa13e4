import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type TimerHandle, TimerHeap } from '../../src/actors/delay/index.ts';

test('agrees with a sorted list over any mix of insert, remove and pop; ties leave in order of arrival', () => {
  const command = fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), due: fc.integer({ min: 0, max: 20 }) }),
    fc.record({ kind: fc.constant('remove' as const), pick: fc.nat(200) }),
    fc.record({ kind: fc.constant('pop' as const) }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 300 }), (commands) => {
      const heap = new TimerHeap(2);
      const handles: TimerHandle[] = [];
      let model: { due: number; order: number; handle: TimerHandle }[] = [];
      let order = 0;
      for (const step of commands) {
        if (step.kind === 'insert') {
          const handle = heap.insert(step.due);
          handles.push(handle);
          model.push({ due: step.due, order: order++, handle });
          model.sort((a, b) => a.due - b.due || a.order - b.order);
        } else if (step.kind === 'remove') {
          const handle = handles[step.pick % Math.max(1, handles.length)];
          if (handle === undefined) continue;
          const known = model.some((entry) => entry.handle === handle);
          assert.equal(heap.remove(handle), known);
          model = model.filter((entry) => entry.handle !== handle);
        } else {
          const first = model.shift();
          assert.equal(heap.pop(), first === undefined ? -1 : TimerHeap.slotOf(first.handle));
        }
        assert.equal(heap.size, model.length);
        assert.equal(heap.peekDue(), model[0]?.due ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});

test('a handle of a removed entry is refused after its slot is used again', () => {
  const heap = new TimerHeap();
  const first = heap.insert(1);
  assert.equal(heap.remove(first), true);
  const second = heap.insert(2);
  assert.equal(TimerHeap.slotOf(second), TimerHeap.slotOf(first));
  assert.equal(heap.remove(first), false);
  assert.equal(heap.size, 1);
});

test('an instant that is not finite is refused', () => {
  const heap = new TimerHeap();
  for (const due of [Number.NaN, Number.POSITIVE_INFINITY]) assert.throws(() => heap.insert(due), RangeError);
});

test('an entry costs at most 64 bytes', () => {
  const heap = new TimerHeap();
  for (let index = 0; index < 100_000; index++) heap.insert(index);
  assert.ok(heap.bytes / heap.size <= 64, `${heap.bytes / heap.size} bytes`);
});
