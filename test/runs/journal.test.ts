/** What main keeps for a store that is late, cannot write, or was lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OfferReply } from '../../src/actors/protocol.ts';
import type { RecordBatch } from '../../src/actors/records.ts';
import { MAX_CALLS } from '../../src/actors/runs/postponed.ts';
import { FakeAnswer, setup, taskSpec } from './runs-setup.ts';

const code = (answer: FakeAnswer) => (answer.error as { code?: string } | undefined)?.code;
const lastOf = (batch: RecordBatch) => batch.first + batch.events.length - 1;

function withBatches(options: Parameters<typeof setup>[1] = {}) {
  const batches: RecordBatch[] = [];
  const s = setup([taskSpec({ name: 'a' }), taskSpec({ name: 'b' })], {
    acknowledge: false,
    onRecord: (batch) => batches.push(batch),
    ...options,
  });
  return { ...s, batches };
}

test('transitions are counted on without a gap, and an order waits for the one by which it began', async () => {
  const { trigger, settle, batches, pool, finish } = withBatches();
  trigger('a');
  await settle();
  finish(pool.taken[0]!.run);
  trigger('b');
  await settle();
  assert.deepEqual(
    batches.map(({ first, events }) => [first, events.length]),
    [
      [1, 1],
      [2, 2],
    ],
  );
  const all = batches.flatMap(({ first, events }) =>
    events.map((event, at) => ({ ordinal: first + at, event })),
  );
  for (const order of pool.taken) {
    const began = all.find(({ event, ordinal }) => event.run === order.run && ordinal === order.after);
    assert.equal(began?.event.state, 'running', `${order.run} waits for ${order.after}`);
  }
});

test('an order of a store in memory waits for nothing', () => {
  const { trigger, pool } = withBatches({ durable: false });
  const answer = trigger('a');
  assert.equal(pool.taken[0]!.after, undefined);
  assert.equal(answer.settled, true);
});

test('what nobody waits for is gathered over several turns, but no longer than until a batch is full', async () => {
  const { trigger, runs, batches } = withBatches({
    durable: false,
    slots: 10_000,
    queues: { ready: { capacity: 10_000, whenFull: 'block' } },
  });
  const turn = () => new Promise(setImmediate);
  trigger('a');
  await turn();
  assert.deepEqual(
    batches.map(({ events }) => events.length),
    [1],
    'the first one goes at the end of its turn',
  );
  const gathered = () => batches.some(({ events }) => events.length > 1);
  // One a turn: a batch of several is of several turns.
  for (let made = 0; made < 10_000 && !gathered(); made++) {
    trigger('a');
    await turn();
  }
  assert.ok(gathered());
  const before = batches.length;
  for (let made = 0; made < 512; made++) trigger('a');
  await turn();
  assert.ok(batches.length > before, 'a full one');
  trigger('a');
  const { events } = batches.at(-1)!;
  void runs.settled();
  await turn();
  assert.notEqual(batches.at(-1)!.events, events, 'somebody waits');
});

test('a trigger is answered when its beginning is kept, with wait when its end is', async () => {
  const { trigger, settle, batches, pool, finish, runs } = withBatches();
  const accepted = trigger('a');
  const ended = trigger('b', { wait: true });
  await settle();
  assert.deepEqual([accepted.settled, ended.settled], [false, false]);
  runs.journal.recorded(lastOf(batches[0]!));
  assert.deepEqual([accepted.settled, ended.settled], [true, false]);
  for (const order of pool.taken) finish(order.run);
  await settle();
  assert.equal(ended.settled, false);
  runs.journal.recorded(lastOf(batches[1]!));
  assert.equal(ended.settled, true);
});

test('a lost store is sent everything again that it had not acknowledged, under the same ordinals', async () => {
  const { trigger, settle, batches, runs } = withBatches();
  for (const task of ['a', 'b', 'a'] as const) {
    trigger(task);
    await settle();
  }
  runs.journal.recorded(1);
  runs.journal.resend();
  await settle();
  assert.deepEqual(
    batches.map(({ first }) => first),
    [1, 2, 3, 2, 3],
  );
  assert.deepEqual(batches[3], batches[1]);
});

test('a store that cannot write: triggers and replays are refused with the reason, schedules and slots go on', async () => {
  const { trigger, settle, batches, runs, pool, finish } = withBatches();
  trigger('a');
  await settle();
  runs.journal.pause('the disk is full');
  assert.equal(runs.journal.trouble, 'the disk is full');
  assert.throws(() => trigger('a'), { code: 'store-unavailable', message: /the disk is full/ });
  assert.throws(() => runs.replay({ runs: null, task: null, sinceMs: null, untilMs: null }), {
    code: 'store-unavailable',
  });
  runs.due({ task: 'b', id: 'b@1', dueAtMs: 0, origin: 'schedule' });
  assert.equal(pool.held.has('b@1'), true);
  finish('b@1');
  await settle();
  assert.equal(batches.length, 1, 'nothing is sent meanwhile');
  runs.journal.resend();
  await settle();
  assert.deepEqual(
    batches.map(({ first, events }) => [first, events.length]),
    [
      [1, 1],
      [1, 1],
      [2, 1],
    ],
  );
  assert.equal(runs.journal.trouble, null);
  trigger('a');
});

test('at the bound nothing new is made: occurrences wait as the newest of their task, triggers and offers with their answer', async () => {
  const { trigger, settle, runs, pool, events } = withBatches({
    slots: 0,
    queues: { ready: { capacity: 100_000, whenFull: 'block' } },
  });
  for (let index = 0; index < 20_000; index++) trigger('a');
  const { unrecorded } = runs.journal;
  for (let index = 1; index <= 50; index++) {
    runs.due({ task: 'b', id: `b@${index}`, dueAtMs: index, origin: 'schedule' });
  }
  const answers = Array.from({ length: MAX_CALLS }, () => trigger('b'));
  const offer = new FakeAnswer();
  assert.throws(() => trigger('b'), { code: 'queue-full', message: /journal/ });
  assert.throws(() => runs.offer({ task: 'b', items: [] }, offer), { code: 'queue-full' });
  assert.equal(runs.journal.unrecorded, unrecorded, 'however much comes');
  await settle();
  runs.journal.recorded(20_000);
  await settle();
  runs.journal.recorded(Number.MAX_SAFE_INTEGER);
  assert.ok(answers.every((answer) => answer.settled && answer.error === undefined));
  const occurrences = events.filter(({ run }) => /^b@\d+$/.test(run)).map(({ run }) => run);
  assert.deepEqual(occurrences, ['b@50']);
  assert.equal(pool.active, 0);
});

test('an offer that came at the bound is judged when there is room', async () => {
  const { trigger, settle, runs } = withBatches({
    slots: 0,
    queues: { ready: { capacity: 100_000, whenFull: 'block' } },
  });
  for (let index = 0; index < 20_000; index++) trigger('a');
  const offer = new FakeAnswer();
  runs.offer({ task: 'b', items: [{ mark: '0'.repeat(16), input: '{}' }] }, offer);
  await settle();
  assert.equal(offer.settled, false);
  runs.journal.recorded(20_000);
  assert.equal((offer.value as OfferReply).accepted, 1);
});

test('the end of the daemon: who waits at the bound is told', () => {
  const { trigger, runs } = withBatches({
    slots: 0,
    queues: { ready: { capacity: 100_000, whenFull: 'block' } },
  });
  for (let index = 0; index < 20_000; index++) trigger('a');
  const waiting = trigger('b');
  runs.close();
  assert.equal(code(waiting), 'shutting-down');
});
