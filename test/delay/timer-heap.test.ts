import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EntrySlots, TimerHeap } from '../../src/actors/delay/index.ts';

test('agrees with a sorted list over any mix of insert, move, remove and pop; ties leave in order of arrival', () => {
  // Few instants, so that there are ties; and any, the ends of the range with them.
  const due = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const command = fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), due }),
    fc.record({ kind: fc.constant('move' as const), pick: fc.nat(200), due }),
    fc.record({ kind: fc.constant('remove' as const), pick: fc.nat(200) }),
    fc.record({ kind: fc.constant('pop' as const) }),
  );
  fc.assert(
    fc.property(
      fc.array(command, { maxLength: 300 }),
      fc.integer({ min: 1, max: 8 }),
      (commands, heapMax) => {
        const slots = new EntrySlots(2);
        const heap = new TimerHeap(slots, heapMax);
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
            heap.move(picked.slot, step.due);
            Object.assign(picked, { due: step.due, order: order++ });
          } else if (step.kind === 'remove') {
            if (picked === undefined) continue;
            heap.remove(picked.slot);
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
      },
    ),
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
  assert.deepEqual([heap.size, heap.pop(), heap.peekDue()], [0, -1, Number.POSITIVE_INFINITY]);
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

test('however often entries are moved or replaced, what they leave behind stays within as much again', () => {
  const slots = new EntrySlots();
  const heap = new TimerHeap(slots);
  const taken = Array.from({ length: 1000 }, (_, index) => {
    const slot = slots.take();
    heap.insert(slot, index);
    return slot;
  });
  const bytes = heap.bytes;
  for (let round = 1; round <= 200; round++) for (const slot of taken) heap.move(slot, round * 1000 + slot);
  assert.ok(heap.bytes <= 4 * bytes, `${bytes} bytes have become ${heap.bytes}`);
  for (const slot of taken.splice(1)) heap.remove(slot);
  assert.deepEqual([heap.size, heap.pop(), heap.size, heap.pop()], [1, taken[0], 0, -1]);
});

test('a hundred thousand leave in order, whether they are spread, stand at one instant, or come in groups', () => {
  const count = 100_000;
  const spreads: Readonly<Record<string, (index: number) => number>> = {
    spread: (index) => (index * 7919) % count,
    descending: (index) => count - index,
    'one instant': () => 5,
    groups: (index) => (index % 3) * 1e12,
    'one far away': (index) => (index === 17 ? 8.64e15 : index % 1000),
  };
  for (const [name, dueOf] of Object.entries(spreads)) {
    const slots = new EntrySlots();
    const heap = new TimerHeap(slots);
    for (let index = 0; index < count; index++) heap.insert(slots.take(), dueOf(index));
    const expected = Array.from({ length: count }, (_, slot) => slot).sort(
      (a, b) => dueOf(a) - dueOf(b) || a - b,
    );
    assert.deepEqual(
      Array.from({ length: count }, () => heap.pop()),
      expected,
      name,
    );
  }
});
