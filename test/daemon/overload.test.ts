/** More work than the pools can do: queues stay within their bounds, and the surplus waits or is counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonInside } from '../support/daemon-inside.ts';

const CAPACITY = 50;

function overloaded(whenFull: string) {
  return {
    pools: { io: { slots: 4 } },
    queues: { ready: { capacity: CAPACITY, when_full: whenFull }, delayed: { capacity: CAPACITY } },
    tasks: [{ name: 'work', handler: 'sleep', with: { ms: 1 }, overlap: 'allow', max_retry: 0 }],
  };
}

test('block: triggers beyond the capacity wait at their source until there is room; none is lost', async (t) => {
  const { trigger, run, daemon } = await daemonInside(t, overloaded('block'));
  let deepest = 0;
  const total = 1000;
  let accepted = 0;
  const producer = async () => {
    while (accepted < total) {
      accepted++;
      await trigger('work');
      const [ready, delayed] = daemon.view().queues;
      deepest = Math.max(deepest, ready!.depth);
      assert.ok(delayed!.depth <= CAPACITY);
    }
  };
  await Promise.all(Array.from({ length: 20 }, producer));
  assert.equal(deepest, CAPACITY);
  assert.equal(daemon.view().queues[0]!.rejected, 0);
  // First in, first out: when these have ended, everything before them has.
  await Promise.all(Array.from({ length: 8 }, () => run('work')));
  assert.equal(daemon.view().queues[0]!.depth + daemon.view().queues[1]!.depth, 0);
  assert.deepEqual(
    [...daemon.view().tasks].map((task) => [task.active, task.queued]),
    [[0, 0]],
  );
});

test('reject: what finds no room is refused with its reason and counted', async (t) => {
  const { trigger, daemon } = await daemonInside(t, overloaded('reject'));
  const results = await Promise.allSettled(Array.from({ length: 500 }, () => trigger('work')));
  const refused = results.filter((result) => result.status === 'rejected');
  assert.ok(refused.length > 0 && refused.length <= 500 - CAPACITY);
  for (const { reason } of refused) assert.equal((reason as { code: string }).code, 'queue-full');
  assert.equal(daemon.view().queues[0]!.rejected, refused.length);
});
