/** What waits for the journal, and goes on as far as there is room. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DueOccurrence, MAX_DUES, Postponed } from '../../src/actors/runs/postponed.ts';
import { FakeAnswer } from './runs-setup.ts';

/** A journal with room for so much. */
function rig() {
  const gone: string[] = [];
  let room = 0;
  const postponed: Postponed = new Postponed({
    isBlocked: () => room <= 0,
    maxBytes: 1000,
    onDue(occurrence) {
      assert.ok(gone.length < 10_000, 'it turns on the spot');
      // As the runs do.
      if (room <= 0) return postponed.due(occurrence);
      room--;
      gone.push(occurrence.id);
    },
  });
  const release = (more: number): string[] => {
    room = more;
    postponed.release();
    return gone.splice(0);
  };
  return { postponed, release };
}

const due = (task: string, number: number, catchUp = false): DueOccurrence => ({
  task,
  id: `${task}@${number}`,
  dueAtMs: number,
  origin: 'schedule',
  catchUp,
});

test('room for some of what waits: the others wait for the next', () => {
  const { postponed, release } = rig();
  for (let task = 0; task < 7; task++) postponed.due(due(`t${task}`, 1));
  let called = 0;
  postponed.call(1, new FakeAnswer(), () => called++);
  assert.deepEqual(release(3), ['t0@1', 't1@1', 't2@1']);
  assert.deepEqual(release(0), []);
  assert.equal(called, 0, 'calls come after what is due');
  assert.deepEqual(release(100), ['t3@1', 't4@1', 't5@1', 't6@1']);
  assert.equal(called, 1);
});

test('of a task the newest waits, and of a catch-up all, in the order they came', () => {
  const { postponed, release } = rig();
  postponed.due(due('a', 1));
  for (const number of [2, 3, 4]) postponed.due(due('a', number, true));
  postponed.due(due('b', 1));
  postponed.due(due('a', 5));
  assert.deepEqual(release(100), ['a@2', 'a@3', 'a@4', 'b@1', 'a@5']);
});

test('what waits of catch-ups is bounded: beyond, the newest of each task', () => {
  const { postponed, release } = rig();
  for (let number = 0; number < 2 * MAX_DUES; number++) postponed.due(due('a', number, true));
  const gone = release(10_000);
  assert.deepEqual([gone.length, gone.at(-1)], [MAX_DUES + 1, `a@${2 * MAX_DUES - 1}`]);
});
