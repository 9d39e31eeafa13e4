/** The same actor on main and on a thread: one row of the placement differs, nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActorRef, ColibriError } from '../../src/actors/kernel/index.ts';
import type { CounterMessages, RelayMessages } from './fixtures/actors.ts';
import { setUpThreads } from './thread-setup.ts';

for (const thread of ['main', 'service']) {
  test(`the counter on ${thread} counts, echoes and fails the same`, async (t) => {
    const { system, undeliverable } = await setUpThreads(t, { counter: thread });
    const ref: ActorRef<CounterMessages> = system.ref<CounterMessages>('counter');
    await ref.tell('add', { by: 1 });
    assert.equal(ref.tryTell('add', { by: 2 }), 'delivered');
    for (let i = 0; i < 500; i++) await ref.tell('add', { by: 1 });
    assert.equal(await ref.ask('total', null), 503);
    const body = { text: 'ü\n"', list: [1, null, { deep: true }] };
    assert.deepEqual(await ref.ask('echo', body), body);
    assert.equal(await ref.ask('later', null), 'here it is');
    await assert.rejects(ref.ask('fail', { code: 'x' }), (error: ColibriError) => {
      assert.deepEqual(
        [error.name, error.code, error.message],
        ['ColibriError', 'no-such-task', 'no task x'],
      );
      return true;
    });
    await assert.rejects(ref.ask('silent', null, { timeoutMs: 20 }), {
      code: 'ask-timeout',
      message: /counter/,
    });
    const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => ref.ask('echo', i)));
    assert.deepEqual(
      answers,
      Array.from({ length: 300 }, (_, i) => i),
    );
    await assert.rejects(ref.ask('crash', null), { code: 'internal', message: 'crashed as told' });
    assert.equal(await ref.ask('total', null), 0);
    // Where the actor lives its failure is counted, where the asker lives the answer that came too late.
    const late = 'reply to main: late-reply';
    assert.deepEqual(undeliverable, thread === 'main' ? ['crash to counter: actor-failed', late] : [late]);
  });
}

for (const counter of ['main', 'service', 'guest']) {
  test(`an actor on another thread reaches the counter on ${counter}`, async (t) => {
    const { system } = await setUpThreads(t, { relay: 'guest', counter });
    const ref = system.ref<RelayMessages>('relay');
    assert.deepEqual(await ref.ask('echo', { by: 'relay' }), { by: 'relay' });
    for (let i = 0; i < 10; i++) await ref.ask('add', { by: i });
    assert.equal(await system.ref<CounterMessages>('counter').ask('total', null), 45);
  });
}

test('what cannot cross a thread is told where it is sent, or in the answer', async (t) => {
  const { system, undeliverable } = await setUpThreads(t, { counter: 'service' });
  const ref = system.ref<CounterMessages>('counter');
  await assert.rejects(ref.tell('echo', 1n), { code: 'message-invalid' });
  await assert.rejects(ref.ask('echo', 1n), { code: 'message-invalid' });
  assert.equal(ref.tryTell('echo', 1n), 'dropped');
  assert.deepEqual(undeliverable, ['echo to counter: message-invalid']);
  await assert.rejects(ref.ask('unsendable', null), { code: 'message-invalid' });
  const wrong = system.ref<{ add: { body: string; reply: null } }>('counter');
  await assert.rejects(wrong.ask('add', 'not a number'), {
    code: 'message-invalid',
    message: /add to actor counter/,
  });
  const nobody = system.ref<CounterMessages>('nobody');
  await assert.rejects(nobody.ask('total', null), { code: 'mailbox-closed' });
  assert.equal(await ref.ask('total', null), 0);
});
