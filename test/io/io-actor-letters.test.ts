/** Outcomes of one turn travel together: the bounds of a letter, letters that find no room, and the last ones. */
import assert from 'node:assert/strict';
import { type TestContext as NodeTest, test } from 'node:test';
import type { ExecuteOrder, Outcome } from '../../src/actors/execution.ts';
import { Delivery } from '../../src/actors/kernel/envelope.ts';
import { ActorSystem, DEFAULT_CREDIT } from '../../src/actors/kernel/index.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { IoMessages, RunsMessages } from '../../src/actors/protocol.ts';
import type { Handler } from '../../src/workers/handler.ts';
import { ioActor, LETTER_OUTCOMES, LETTER_TEXT } from '../../src/workers/io-pool/io-actor.ts';
import { IoPool } from '../../src/workers/io-pool/io-pool.ts';
import { Registry } from '../../src/workers/registry.ts';
import { ActorProbe, fakeRef, gate, order, turn, turnsUntil } from './io-fixtures.ts';

const NOTHING = { answer: () => 1 };

function orders(count: number, over: Partial<ExecuteOrder> = {}): ExecuteOrder[] {
  return Array.from({ length: count }, (_, at) => order(`r${at}`, over));
}

function names(list: readonly { readonly run: string }[]): string[] {
  return list.map(({ run }) => run);
}

/** Everything of an outcome that the bound of a letter is about. */
function textOf(outcome: Outcome): number {
  let text = outcome.result?.length ?? 0;
  for (let error = outcome.error; error; error = error.cause ?? null) {
    text += error.message.length + (error.stack?.length ?? 0);
  }
  return text;
}

test('a letter of orders of every kind: each has its one outcome', async () => {
  const open = gate();
  const probe = new ActorProbe({
    now: () => 'now',
    throws: () => {
      throw new Error('no');
    },
    later: async () => {
      await open.passed;
      return 'later';
    },
  });
  const handlers = ['later', 'now', 'missing', 'throws', 'now', 'later'];
  probe.send('execute', { orders: handlers.map((handler, at) => order(`r${at}`, { handler })) });
  await turn();
  assert.deepEqual(probe.letters.map(names), [['r1', 'r2', 'r3', 'r4']]);
  open.open();
  await turn();
  assert.deepEqual(names(probe.outcomes), ['r1', 'r2', 'r3', 'r4', 'r0', 'r5']);
  assert.deepEqual(
    probe.outcomes.map(({ status }) => status),
    ['success', 'failed', 'failed', 'success', 'success', 'success'],
  );
});

test('a letter has a bounded number of outcomes, one more makes another, and the order is kept', async () => {
  const most = LETTER_OUTCOMES;
  for (const [count, sizes] of [
    [most, [most]],
    [most + 1, [most, 1]],
    [2 * most + 5, [most, most, 5]],
  ] as const) {
    const probe = new ActorProbe(NOTHING);
    probe.send('execute', { orders: orders(count, { handler: 'answer' }) });
    await turn();
    assert.deepEqual(
      probe.letters.map(({ length }) => length),
      sizes,
    );
    assert.deepEqual(names(probe.outcomes), names(orders(count)));
  }
});

test('results are summed up: a letter has 256 Ki code units at most', async () => {
  assert.equal(LETTER_TEXT, 256 * 1024);
  const probe = new ActorProbe({ text: (input) => 'x'.repeat((input as { length: number }).length - 2) });
  const lengths = [100, 100, 100, 156, 1, 256, 1, 1].map((ki) => ki * 1024);
  probe.send('execute', {
    orders: lengths.map((length, at) => order(`r${at}`, { handler: 'text', input: `{"length":${length}}` })),
  });
  await turn();
  assert.deepEqual(probe.letters.map(names), [['r0', 'r1'], ['r2', 'r3'], ['r4'], ['r5'], ['r6', 'r7']]);
  assert.ok(probe.outcomes.every(({ status }) => status === 'success'));
});

test('failures count with all their texts: no letter of them is too long for the link between threads', async () => {
  const probe = new ActorProbe({
    fail: () => {
      let error = new Error('\u0001'.repeat(5000));
      for (let cause = 0; cause < 7; cause++) error = new Error('\u0001'.repeat(5000), { cause: error });
      throw error;
    },
  });
  probe.send('execute', { orders: orders(256, { handler: 'fail' }) });
  await turn();
  assert.deepEqual(names(probe.outcomes), names(orders(256)));
  for (const letter of probe.letters) {
    assert.ok(letter.reduce((sum, outcome) => sum + textOf(outcome), 0) <= LETTER_TEXT);
    assert.ok(JSON.stringify(letter).length < DEFAULT_CREDIT.bytes);
  }
  assert.ok(probe.letters.length < 256 / 4);
});

test('a refused letter arrives later, whole and once', async () => {
  const probe = new ActorProbe(NOTHING);
  const count = LETTER_OUTCOMES + 5;
  probe.refuse = 5;
  probe.send('execute', { orders: orders(count, { handler: 'answer' }) });
  await turnsUntil(() => probe.outcomes.length >= count);
  await turn();
  assert.deepEqual(probe.letters.map(({ length }) => length).sort(), [LETTER_OUTCOMES, 5].sort());
  assert.deepEqual(names(probe.outcomes).sort(), names(orders(count)).sort());
});

/** The io actor in the real kernel; `runs` has room for one letter and takes the next when its gate opens. */
function blockedRuns(t: NodeTest, handlers: Readonly<Record<string, Handler>>) {
  const gates = [gate(), gate(), gate(), gate(), gate(), gate()];
  const letters: string[][] = [];
  const system = new ActorSystem({
    thread: 'main',
    placement: {},
    onEscalate: (_actor, error) => assert.fail(String(error)),
  });
  system.spawn<RunsMessages>({
    name: 'runs',
    mailbox: { capacity: 1, capacityBytes: 1 << 20, whenFull: 'block' },
    create: () => ({
      async receive(envelope) {
        if (envelope.kind !== 'outcomes') return;
        letters.push(names(envelope.body.outcomes));
        await gates[letters.length - 1]?.passed;
      },
    }),
  });
  const builtIns = Object.entries(handlers).map(([name, handle]) => ({
    name,
    kind: 'io' as const,
    summary: '',
    inputSchema: {},
    perFile: false,
    pathKeys: [],
    handle,
  }));
  const registry = new Registry({ builtIns, modules: [] });
  const actor = system.spawn<IoMessages>(ioActor({ name: 'io', registry, reportTo: 'runs', logTo: null }));
  t.after(() => {
    for (const { open } of gates) open();
    return system.close();
  });
  return { actor, gates, letters, system };
}

test('letters that wait for room keep their order, and later ones do not pass them', async (t) => {
  const { actor, gates, letters, system } = blockedRuns(t, NOTHING);
  const send = async (...runs: string[]) => {
    actor.tryTell('execute', { orders: runs.map((run) => order(run, { handler: 'answer' })) });
    await turn();
  };
  await send('a1', 'a2');
  await send('b1', 'b2');
  await send('c1', 'c2', 'c3');
  await send('d1');
  // One is being handled, one is in the mailbox, two wait.
  assert.deepEqual(letters, [['a1', 'a2']]);
  assert.equal(system.mailboxes().find((stats) => stats.actor === 'runs')?.waiting, 2);
  for (const { open } of gates) {
    open();
    await turn();
  }
  assert.deepEqual(letters, [['a1', 'a2'], ['b1', 'b2'], ['c1', 'c2', 'c3'], ['d1']]);
});

test('a system that closes lets the last letters wait for their room, and interrupts what is held', async (t) => {
  const { actor, gates, letters, system } = blockedRuns(t, {
    ...NOTHING,
    never: () => new Promise(() => {}),
  });
  actor.tryTell('execute', { orders: [order('a', { handler: 'answer' })] });
  await turn();
  actor.tryTell('execute', { orders: [order('b', { handler: 'never' }), order('c', { handler: 'answer' })] });
  await turn();
  actor.tryTell('execute', { orders: [order('d', { handler: 'answer' })] });
  const closed = system.close();
  await turn();
  for (const { open } of gates) open();
  await closed;
  assert.deepEqual(letters, [['a'], ['c'], ['d'], ['b']]);
});

test('stop reports at once, within bounds, what ended in this turn and what is held; nothing twice', async () => {
  const open = gate();
  const probe = new ActorProbe({ ...NOTHING, wait: () => open.passed });
  const held = orders(LETTER_OUTCOMES + 4, { handler: 'wait' });
  probe.send('execute', { orders: [...held, order('ended', { handler: 'answer' })] });
  assert.equal(probe.outcomes.length, 0);
  probe.stop();
  assert.deepEqual(names(probe.outcomes), ['ended', ...names(held)]);
  assert.deepEqual(
    probe.letters.map(({ length }) => length),
    [LETTER_OUTCOMES, 5],
  );
  const [ended, ...rest] = probe.outcomes;
  assert.equal(ended?.status, 'success');
  for (const { status, error } of rest) {
    assert.deepEqual([status, error?.code], ['interrupted', 'thread-lost']);
  }
  open.open();
  await turn();
  probe.stop();
  await turn();
  assert.equal(probe.outcomes.length, held.length + 1);
});

test('a receiver that is stopped: what could not be reported is told to the log, and the next letter goes', async () => {
  const probe = new ActorProbe(NOTHING);
  probe.refusal = Delivery.Closed;
  probe.refuse = 2;
  probe.send('execute', { orders: orders(12, { handler: 'answer' }) });
  await turn();
  assert.equal(probe.outcomes.length, 0);
  assert.equal(probe.logs.length, 1);
  assert.equal(probe.logs[0]?.level, 'error');
  assert.match(probe.logs[0]?.msg ?? '', /could not report outcomes.*stopped/);
  assert.deepEqual(probe.logs[0]?.fields, { runs: names(orders(10)), count: 12 });
  assert.equal((await probe.execute(order('next', { handler: 'answer' }))).status, 'success');
});

test('an outcome that is lost on its way: the pool gives the order one of its own, once', async () => {
  const clock = new TestClock();
  const outcomes: Outcome[] = [];
  const ready = [order('lost', { timeoutMs: 500, handler: 'answer' })];
  let stuck = 0;
  const probe = new ActorProbe(NOTHING);
  probe.refusal = Delivery.Closed;
  probe.refuse = 2;
  const pool = new IoPool({
    name: 'io',
    actor: fakeRef<IoMessages>('io', (kind, body) => {
      probe.send(kind as 'execute', body as IoMessages['execute']['body']);
      return Delivery.Delivered;
    }),
    source: { peekTask: () => ready[0]?.task, take: () => ready.shift() },
    slots: 2,
    graceMs: 100,
    clock,
    onOutcome: (outcome) => void outcomes.push(outcome),
    onStuck: () => void stuck++,
  });
  pool.wake();
  await turn();
  await clock.advance(699);
  assert.deepEqual([outcomes.length, pool.active], [0, 1]);
  await clock.advance(1);
  assert.deepEqual(
    outcomes.map(({ run, error }) => [run, error?.code]),
    [['lost', 'timeout']],
  );
  assert.deepEqual([stuck, probe.outcomes.length], [1, 0]);
  pool.threadLost({ code: 'thread-lost', message: 'replaced' });
  await clock.advance(5000);
  assert.deepEqual([outcomes.length, pool.active, stuck], [1, 0, 1]);
  await pool.destroy();
});
