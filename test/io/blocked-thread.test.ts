/** Who is to blame for a thread that was blocked, and what the log says where nobody can tell. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockedBy, blockedFields } from '../../src/workers/blocked-thread.ts';
import { BegunRun } from '../../src/workers/io-pool/begun-run.ts';
import { ActorProbe, order } from './io-fixtures.ts';

const ORDERS = ['a', 'b', 'b', 'c', 'd', 'e', 'f'].map((task, index) => ({ task, run: `${task}@${index}` }));
const NATIVE = { stack: null, owner: null };

test('the word of the thread goes before the call that is open; of a thread that was not blocked, nobody is to blame', () => {
  assert.equal(blockedBy({ stack: 'at spin', owner: 'a@0' }, 'b@1'), 'a@0');
  assert.equal(blockedBy({ stack: 'at spin', owner: null }, 'b@1'), 'b@1');
  assert.equal(blockedBy(NATIVE, 'b@1'), 'b@1');
  assert.equal(blockedBy(NATIVE, null), null);
  assert.equal(blockedBy({ stack: '', owner: 'a@0' }, 'b@1'), null);
  assert.equal(blockedBy(null, 'b@1'), null);
});

test('the log names the run, else the tasks that were in flight, and the stack where there is one', () => {
  const sight = { stack: 'at spin', owner: 'c@3' };
  assert.deepEqual(blockedFields(sight, 'c@3', ORDERS), { task: 'c', run: 'c@3', stack: 'at spin' });
  assert.deepEqual(blockedFields(NATIVE, 'gone@9', ORDERS), { run: 'gone@9' });
  assert.deepEqual(blockedFields(NATIVE, null, ORDERS), { tasks: 'a, b, c, d, e', of: 6 });
  assert.deepEqual(blockedFields(NATIVE, null, ORDERS.slice(1, 3)), { task: 'b' });
  assert.deepEqual(blockedFields({ stack: '', owner: null }, null, ORDERS), {});
  assert.deepEqual(blockedFields(null, null, ORDERS), {});
});

test('a handler’s call is open until it comes back, with a promise or without', async () => {
  const begun = new BegunRun();
  const seen: (string | null)[] = [];
  const look = () => void seen.push(begun.run);
  const probe = new ActorProbe(
    {
      plain: look,
      throws: () => {
        look();
        throw new Error('thrown');
      },
      waits: async () => {
        look();
        await null;
        look();
      },
    },
    { begun },
  );
  for (const handler of ['plain', 'throws', 'waits']) await probe.execute(order(handler, { handler }));
  assert.deepEqual(seen, ['plain', 'throws', 'waits', null]);
  assert.equal(begun.run, null);
});

test('an open call is read on another thread’s side, whatever its id; once it has come back there is none', () => {
  const here = new BegunRun();
  const there = new BegunRun(here.memory);
  assert.equal(here.run, null);
  for (const run of ['a@2026-01-01T00:00:00Z.1', 'ü@1', 'x']) {
    there.enter(run);
    assert.equal(here.run, run);
  }
  there.enter('y'.repeat(5000));
  assert.match(here.run ?? '', /^y{500,510}$/);
  there.leave();
  assert.equal(here.run, null);
});
