import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ColibriError, type ErrorData, ThreadLink } from '../../src/actors/kernel/index.ts';
import { TAKE_STRIPPED } from '../support/program.ts';
import type { ChaosMessages, CounterMessages, GatedMessages, RelayMessages } from './fixtures/actors.ts';
import { HOST_FILE, setUpThreads } from './thread-setup.ts';

test('a producer ten times too fast: credit is never exceeded, senders wait, order is kept', async (t) => {
  const credit = { messages: 64, bytes: 1 << 20 };
  const { system, link, gate } = await setUpThreads(
    t,
    { gated: 'service' },
    { credit, heartbeat: { everyMs: 1000, missedMs: 60_000 } },
  );
  const ref = system.ref<GatedMessages>('gated');
  const pad = 'x'.repeat(64);
  let accepted = 0;
  while (ref.tryTell('item', { at: accepted, pad }) === 'delivered') accepted++;
  assert.equal(accepted, 2 * credit.messages, 'credit and outbox, while the thread stands at the gate');
  const waiting: Promise<void>[] = [];
  for (let at = accepted; at < 10 * accepted; at++) waiting.push(ref.tell('item', { at, pad }));
  const watch = () => {
    const { creditMessages, creditBytes, unconsumed, queued } = link('service').stats;
    assert.ok(creditMessages >= 0 && creditBytes >= 0);
    assert.equal(unconsumed, credit.messages - creditMessages);
    assert.ok(unconsumed <= credit.messages && queued <= credit.messages);
  };
  for (let i = 0; i < 20; i++) {
    watch();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(link('service').stats.waiting, waiting.length);
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  for (const sent of waiting) {
    await sent;
    watch();
  }
  assert.deepEqual(await ref.ask('seen', null), { count: 10 * accepted, inOrder: true });
});

const endings = {
  exit: /exit with code 3/,
  timer: /thrown in a timer/,
  heap: /memory/,
  spin: /sign of life.* event loop is blocked/,
  escalate: /once too often/,
} as const;

for (const [how, cause] of Object.entries(endings)) {
  test(`a thread lost by ${how} is replaced; its questions are rejected with that one cause`, async (t) => {
    const threads = await setUpThreads(
      t,
      { chaos: 'guest', counter: 'guest' },
      {
        resourceLimits: { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 },
        heartbeat: { everyMs: 50, missedMs: how === 'spin' ? 1500 : 60_000 },
      },
    );
    const { system, lost, undeliverable } = threads;
    const chaos = system.ref<ChaosMessages>('chaos');
    const restarted = threads.restarted();
    const pending = system.ref<CounterMessages>('counter').ask('silent', null, { timeoutMs: null });
    const ending = chaos.ask(how as keyof ChaosMessages, null, { timeoutMs: null });
    const errors = (await Promise.allSettled([pending, ending])).map((settled) => {
      assert.ok(settled.status === 'rejected');
      return settled.reason as ColibriError;
    });
    assert.equal(errors[0]!.code, 'thread-lost');
    assert.match(errors[0]!.message, cause);
    if (how !== 'escalate') assert.equal(errors[1]!.message, errors[0]!.message);
    if (how === 'timer') assert.equal((errors[0]!.cause as ColibriError).code, 'file-failed');
    assert.equal(lost.length, 1);
    assert.equal(lost[0]!.message, errors[0]!.message);
    await restarted;
    assert.equal(await chaos.ask('hello', null, { timeoutMs: null }), 'hello');
    assert.equal(threads.link('guest').stats.restarts, 1);
    assert.ok(undeliverable.every((line) => line.endsWith('thread-lost')));
  });
}

test('what was sent between two lives goes to the next; what the lost one held is reported', async (t) => {
  const lost = Promise.withResolvers<ErrorData>();
  const { system, undeliverable, link } = await setUpThreads(
    t,
    { gated: 'guest', counter: 'guest' },
    { heartbeat: { everyMs: 1000, missedMs: 60_000 }, onLost: lost.resolve },
  );
  const held = system.ref<GatedMessages>('gated');
  for (let at = 0; at < 3; at++) await held.tell('item', { at, pad: '' });
  const counter = system.ref<CounterMessages>('counter');
  await new Promise((resolve) => setImmediate(resolve));
  const replaced = link('guest').replace({ code: 'thread-lost', message: 'replaced by hand' });
  assert.match((await lost.promise).message, /^replaced by hand/);
  assert.deepEqual(undeliverable, Array(3).fill('item to gated: thread-lost'));
  assert.equal(counter.tryTell('add', { by: 7 }), 'delivered');
  const total = counter.ask('total', null);
  await replaced;
  assert.equal(await total, 7);
});

test('a question from a third thread is rejected as well when the thread it went to is lost', async (t) => {
  const threads = await setUpThreads(t, { relay: 'service', counter: 'guest', chaos: 'guest' });
  const relay = threads.system.ref<RelayMessages>('relay');
  const asked = relay.ask('silent', null, { timeoutMs: null });
  await relay.ask('echo', 'the question above is on its way');
  threads.system.ref<ChaosMessages>('chaos').tryTell('exit', null);
  await assert.rejects(asked, { code: 'thread-lost' });
  await threads.link('guest').start();
  assert.equal(await relay.ask('echo', 'still there'), 'still there');
});

test('more losses than the intensity allows are passed up, and the link is closed', async (t) => {
  const threads = await setUpThreads(
    t,
    { chaos: 'guest' },
    { restart: { maxRestarts: 1, withinMs: 60_000 } },
  );
  const { system, link, escalated } = threads;
  const cause = { code: 'thread-lost', message: 'by hand' } as const;
  await link('guest').replace(cause);
  assert.equal(escalated.length, 0);
  await link('guest').replace(cause);
  assert.match(String(escalated[0]), /restart intensity.*by hand/);
  assert.deepEqual([link('guest').stats.state, threads.lost.length], ['stopped', 2]);
  const chaos = system.ref<ChaosMessages>('chaos');
  assert.equal(chaos.tryTell('hello', null), 'closed');
  await assert.rejects(chaos.ask('hello', null), { code: 'mailbox-closed' });
});

test('a thread that cannot start is tried within the intensity, then start rejects', async (t) => {
  const { system } = await setUpThreads(t, {});
  const escalated: ColibriError[] = [];
  const link = new ThreadLink({
    name: 'broken',
    file: new URL('./fixtures/broken-thread.ts', import.meta.url),
    system,
    route: () => Promise.resolve(),
    restart: { maxRestarts: 1, withinMs: 60_000 },
    onEscalate: (error) => escalated.push(error),
  });
  await assert.rejects(link.start(), { code: 'thread-lost', message: /cannot start/ });
  assert.equal(escalated.length, 1);
  await link.stop(0);
});

test('stop lets the host close; what was accepted before is handled', async (t) => {
  const closeGate = new SharedArrayBuffer(4);
  const gate = new SharedArrayBuffer(4);
  const threads = await setUpThreads(
    t,
    { counter: 'service', gated: 'service' },
    { workerData: { gate, closeGate } },
  );
  const { system, link, undeliverable } = threads;
  const counter = system.ref<CounterMessages>('counter');
  for (let i = 0; i < 100; i++) counter.tryTell('add', { by: 1 });
  const total = counter.ask('total', null);
  const stopped = link('service').stop(10_000);
  assert.equal(link('service').stop(10_000), stopped);
  assert.equal(counter.tryTell('add', { by: 1 }), 'closed');
  await stopped;
  assert.equal(await total, 100);
  assert.equal(Atomics.load(new Int32Array(closeGate), 0), 1);
  assert.deepEqual([undeliverable, threads.lost], [[], []]);
});

test('start and stop in any order: the last call wins, callers share', async (t) => {
  const { system } = await setUpThreads(t, { counter: 'service' });
  const main = system.ref<CounterMessages>('counter');
  const link = new ThreadLink({
    name: 'spare',
    file: HOST_FILE,
    workerData: { gate: new SharedArrayBuffer(4) },
    system,
    route: () => Promise.resolve(),
    onEscalate: (error) => assert.fail(error),
  });
  t.after(() => link.stop(0));
  await link.stop(0);
  const first = link.start();
  assert.equal(link.start(), first);
  await first;
  let seed = 42;
  let last = 'start';
  const calls: Promise<unknown>[] = [];
  for (let i = 0; i < 60; i++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    last = seed % 3 === 0 ? 'start' : 'stop';
    if (seed % 5 === 0) await new Promise((resolve) => setTimeout(resolve, seed % 7));
    const call = last === 'start' ? link.start() : link.stop(1000);
    call.catch(() => {});
    calls.push(call);
  }
  const settled = await Promise.allSettled(calls);
  for (const one of settled) if (one.status === 'rejected') assert.equal(one.reason.code, 'shutting-down');
  assert.equal(link.stats.state, last === 'start' ? 'running' : 'stopped');
  await link.start();
  assert.equal(link.stats.state, 'running');
  await Promise.all([link.stop(1000), link.stop(1000)]);
  assert.equal(link.stats.state, 'stopped');
  assert.equal(await main.ask('total', null), 0);
});

test('after a thread was lost, started again and stopped, nothing keeps the process alive', async () => {
  const script = fileURLToPath(new URL('./fixtures/leak-check.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...TAKE_STRIPPED, script], {
    timeout: 60_000,
  });
  assert.equal(stdout, '[]');
});
