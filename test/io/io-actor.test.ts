import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HandlerContext } from '../../src/workers/handler.ts';
import { ioChecks } from '../../src/workers/io-pool/io-checks.ts';
import { Registry } from '../../src/workers/registry.ts';
import { ActorProbe, gate, order, turn, untilAborted } from './io-fixtures.ts';

test('a synchronous handler has its outcome sent at the end of the turn that it was received in', async () => {
  const probe = new ActorProbe({ noop: () => ({ a: 1 }) });
  probe.send('execute', { orders: [order('r1')] });
  await Promise.resolve();
  assert.deepEqual(
    probe.outcomes.map(({ run, status, result }) => [run, status, result]),
    [['r1', 'success', '{"a":1}']],
  );
});

test('many are in flight at once, and each has its own outcome', async () => {
  const open = gate<string>();
  const probe = new ActorProbe({ wait: async (_input, context) => `${context.run} ${await open.passed}` });
  const outcomes = [1, 2, 3].map((n) => probe.execute(order(`r${n}`, { handler: 'wait' })));
  assert.equal(probe.outcomes.length, 0);
  open.open('done');
  const results = (await Promise.all(outcomes)).map(({ result }) => result);
  assert.deepEqual(results, ['"r1 done"', '"r2 done"', '"r3 done"']);
  assert.equal(probe.outcomes.length, 3);
});

test('an unknown handler fails without a retry and names those there are', async () => {
  const outcome = await new ActorProbe({ hash: () => 1 }).execute(order('r1', { handler: 'hsah' }));
  assert.equal(outcome.error?.code, 'no-such-handler');
  assert.match(outcome.error?.message ?? '', /"hsah".*hash/);
  assert.equal(outcome.retryable, false);
});

test('abort trips the signal; what the handler makes of it is the outcome', async () => {
  const probe = new ActorProbe({
    stop: async (_input, context) => {
      await untilAborted(context);
      throw context.signal.reason;
    },
  });
  const timed = probe.execute(order('r1', { handler: 'stop' }));
  const cancelled = probe.execute(order('r2', { handler: 'stop' }));
  probe.send('abort', { run: 'r1', reason: 'timeout' });
  probe.send('abort', { run: 'r2', reason: 'cancel' });
  probe.send('abort', { run: 'unknown', reason: 'cancel' });
  assert.deepEqual(
    [await timed, await cancelled].map(({ status, error, retryable }) => [status, error?.code, retryable]),
    [
      ['failed', 'timeout', true],
      ['cancelled', 'cancelled', false],
    ],
  );
});

test('kill gives up at once; the late result is logged, never sent', async () => {
  const open = gate();
  const ended = gate();
  const probe = new ActorProbe({
    deaf: async () => {
      await open.passed;
      ended.open();
      return 'too late';
    },
  });
  const outcome = probe.execute(order('r1', { handler: 'deaf' }));
  probe.send('abort', { run: 'r1', reason: 'timeout' });
  probe.send('kill', { run: 'r1', reason: 'timeout' });
  assert.equal((await outcome).error?.code, 'timeout');
  open.open();
  await ended.passed;
  await turn();
  assert.equal(probe.outcomes.length, 1);
  assert.equal(probe.logs.length, 1);
  assert.equal(probe.logs[0]?.fields?.run, 'r1');
  assert.equal(probe.logs[0]?.fields?.late_results, 1);
});

test('a run that is given up and taken again is not settled by the late result of its first life', async () => {
  const gates = [gate(), gate()];
  let life = 0;
  const probe = new ActorProbe({
    wait: async () => {
      const mine = life++;
      await gates[mine]?.passed;
      return mine;
    },
  });
  const first = probe.execute(order('r1', { handler: 'wait' }));
  probe.send('kill', { run: 'r1', reason: 'timeout' });
  await first;
  const second = probe.execute(order('r1', { handler: 'wait', attempt: 2 }));
  gates[0]?.open();
  await turn();
  assert.equal(probe.outcomes.length, 1);
  gates[1]?.open();
  assert.deepEqual([(await second).attempt, (await second).result], [2, '1']);
});

test('the same run twice at once is one order', async () => {
  const probe = new ActorProbe({ never: () => new Promise(() => {}) });
  const twice = order('r1', { handler: 'never' });
  probe.send('execute', { orders: [twice, twice] });
  probe.send('execute', { orders: [twice] });
  probe.send('kill', { run: 'r1', reason: 'cancel' });
  probe.send('kill', { run: 'r1', reason: 'cancel' });
  await turn();
  assert.equal(probe.outcomes.length, 1);
});

test('a full receiver gets the outcome once it has room', async () => {
  const probe = new ActorProbe({ noop: () => null });
  probe.refuse = 3;
  const outcome = await probe.execute(order('r1'));
  assert.equal(outcome.status, 'success');
  assert.equal(probe.outcomes.length, 1);
});

test('stop interrupts what is held', () => {
  let seen: HandlerContext | null = null;
  const probe = new ActorProbe({
    never: (_input, context) => {
      seen = context;
      return new Promise(() => {});
    },
  });
  probe.send('execute', { orders: [order('r1', { handler: 'never' })] });
  probe.stop();
  assert.equal(probe.outcomes[0]?.status, 'interrupted');
  assert.equal((seen as HandlerContext | null)?.aborted, true);
});

test('a run that is aborted while its module loads never starts', async () => {
  const loaded = gate<unknown>();
  const registry = new Registry({
    builtIns: [],
    modules: [{ name: 'user', file: '/user.ts' }],
    importModule: () => loaded.passed,
  });
  const probe = new ActorProbe({}, { registry });
  const aborted = probe.execute(order('r1', { handler: 'user' }));
  const kept = probe.execute(order('r2', { handler: 'user' }));
  probe.send('abort', { run: 'r1', reason: 'cancel' });
  const started: string[] = [];
  loaded.open({ default: (_input: unknown, context: HandlerContext) => void started.push(context.run) });
  assert.equal((await aborted).status, 'cancelled');
  assert.equal((await kept).status, 'success');
  assert.deepEqual(started, ['r2']);
});

test('log lines and progress carry the run; fields that are no JSON or long are named, not sent', async () => {
  const probe = new ActorProbe({
    talk: (_input, context) => {
      context.log.info('one', { n: 1, run: 'forged' });
      context.log.error('two', { n: 1n });
      context.log.debug('x'.repeat(10_000), { text: 'x'.repeat(10_000) });
      context.progress(0.5, 'half');
    },
  });
  await probe.execute(order('r1', { handler: 'talk', attempt: 3 }));
  const id = { run: 'r1', task: 'task', attempt: 3 };
  assert.deepEqual(
    probe.logs.map(({ level, fields }) => [level, fields]),
    [
      ['info', { n: 1, ...id }],
      ['error', { ...id, fields_cut: 'not JSON' }],
      ['debug', { ...id, fields_cut: '10048 characters' }],
    ],
  );
  assert.match(probe.logs[2]?.msg ?? '', /more characters cut/);
  assert.deepEqual(probe.progress, [{ run: 'r1', fraction: 0.5, note: 'half' }]);
});

const BROKEN_ORDERS: readonly unknown[] = [
  {},
  [],
  { ...order('r'), run: 1 },
  { ...order('r'), task: null },
  { ...order('r'), attempt: '1' },
  { ...order('r'), handler: undefined },
  { ...order('r'), input: {} },
  { ...order('r'), timeoutMs: '9' },
];

test('the checks take real messages and refuse others', () => {
  assert.equal(ioChecks.execute({ orders: [order('r1'), order('r2')] }), true);
  assert.equal(ioChecks.abort({ run: 'r1', reason: 'timeout' }), true);
  assert.equal(ioChecks.kill({ run: 'r1', reason: 'shutdown' }), true);
  for (const body of [
    null,
    undefined,
    1,
    'x',
    {},
    [],
    order('r'),
    { orders: {} },
    { orders: [null] },
    ...BROKEN_ORDERS.map((broken) => ({ orders: [order('fine'), broken] })),
  ]) {
    assert.equal(ioChecks.execute(body), false, JSON.stringify(body));
  }
  for (const body of [
    null,
    1,
    {},
    { run: 'r' },
    { run: 'r', reason: 'other' },
    { run: 1, reason: 'cancel' },
  ]) {
    assert.equal(ioChecks.abort(body), false);
    assert.equal(ioChecks.kill(body), false);
  }
});
