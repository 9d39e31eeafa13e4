/** Threads with actors collect their own garbage, in their own time or when they are asked to, and tell of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CounterMessages } from '../kernel/fixtures/actors.ts';
import { setUpThreads } from '../kernel/thread-setup.ts';

const HEARTBEAT = { everyMs: 20, missedMs: 60_000 };

test('a thread that is asked to collect has done so before it handles what was sent later', async (t) => {
  const { system, link } = await setUpThreads(t, { counter: 'service' }, { heartbeat: HEARTBEAT });
  const counter = system.ref<CounterMessages>('counter');
  assert.equal(link('service').collections, 0);
  for (const count of [1, 2]) {
    link('service').collect();
    await counter.ask('total', null);
    assert.equal(link('service').collections, count);
  }
});

test('a thread to which nothing is sent collects what its start left behind, once', async (t) => {
  const { link } = await setUpThreads(t, { counter: 'service' }, { heartbeat: HEARTBEAT });
  const beats = async (count: number): Promise<void> => {
    for (let beat = 0; beat < count; beat++) {
      await new Promise((resolve) => setTimeout(resolve, HEARTBEAT.everyMs));
    }
  };
  while (link('service').collections === 0) await beats(1);
  await beats(20);
  assert.equal(link('service').collections, 1);
});
