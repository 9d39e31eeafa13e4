import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EntrySlots, TimerHeap } from '../../src/actors/delay/index.ts';

test('agrees with a sorted list over any mix of insert, move, remove and pop; ties leave in order of arrival', () => {
  const due = fc.integer({ min: 0, max: 20 });
  const command = fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), due }),
    fc.record({ kind: fc.constant('move' as const), pick: fc.nat(200), due }),
    fc.record({ kind: fc.constant('remove' as const), pick: fc.nat(200) }),
    fc.record({ kind: fc.constant('pop' as const) }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 300 }), (commands) => {
      const slots = new EntrySlots(2);
      const heap = new TimerHeap(slots, 2);
      let model: { due: number; order: number; slot: number }[] = [];
      let order = 0;
      for (const step of commands) {
        const picked = 'pick' in step ? model[step.pick % Math.max(1, model.length)] : undefined;
        if (step.kind === 'insert') {
          const slot = slots.take();
          heap.insert(slot, step.due);
          model.push({ due: step.due, order: order++, slot });
        } else if (step.kind === 'move') {
          if (picked === undefined) continue;
          slots.renew(picked.slot);
          assert.equal(heap.move(picked.slot, step.due), true);
          Object.assign(picked, { due: step.due, order: order++ });
        } else if (step.kind === 'remove') {
          if (picked === undefined) continue;
          assert.equal(heap.remove(picked.slot), true);
          assert.equal(heap.remove(picked.slot), false);
          assert.equal(heap.move(picked.slot, 1), false);
          slots.release(picked.slot);
          model = model.filter((entry) => entry !== picked);
        } else {
          const first = model.shift();
          assert.equal(heap.pop(), first === undefined ? -1 : first.slot);
          if (first !== undefined) slots.release(first.slot);
        }
        model.sort((a, b) => a.due - b.due || a.order - b.order);
        assert.equal(heap.size, model.length);
        assert.equal(heap.peekDue(), model[0]?.due ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});

test('nothing is left of what was cleared, and the heap is as good as new', () => {
  const slots = new EntrySlots();
  const heap = new TimerHeap(slots);
  const taken = [3, 1, 2].map((due) => {
    const slot = slots.take();
    heap.insert(slot, due);
    return slot;
  });
  heap.clear();
  assert.deepEqual([heap.size, heap.pop(), heap.remove(taken[0]!)], [0, -1, false]);
  heap.insert(taken[0]!, 7);
  assert.equal(heap.pop(), taken[0]);
});

test('an entry costs at most 64 bytes, its slot included', () => {
  const slots = new EntrySlots();
  const heap = new TimerHeap(slots);
  for (let index = 0; index < 100_000; index++) heap.insert(slots.take(), index);
  const bytes = (heap.bytes + slots.bytes) / heap.size;
  assert.ok(bytes <= 64, `${bytes} bytes`);
});
