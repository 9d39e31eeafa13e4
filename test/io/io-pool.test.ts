import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Delivery } from '../../src/actors/kernel/envelope.ts';
import { MeasuredSizing } from '../../src/workers/io-pool/pool-size.ts';
import { stopped, succeeded } from '../../src/workers/outcomes.ts';
import { kinds, letters, order, ordersOf, turn } from './io-fixtures.ts';
import { rig } from './io-pool-rig.ts';

test('free slots take, busy ones do not, and a freed one takes the next', async () => {
  const { pool, ready, sent, outcomes } = rig();
  for (const run of ['a', 'b', 'c']) ready.push(order(run));
  pool.wake();
  pool.wake();
  await turn();
  assert.deepEqual(kinds(sent), ['execute a', 'execute b']);
  assert.equal(pool.active, 2);
  assert.equal(letters(sent).length, 1);
  assert.equal(pool.settle(succeeded(order('a'), '1', 3)), true);
  await turn();
  assert.deepEqual(kinds(sent), ['execute a', 'execute b', 'execute c']);
  assert.deepEqual(
    outcomes.map(({ run, result }) => [run, result]),
    [['a', '1']],
  );
});

test('R9: handlers that never settle, as many as slots, are aborted, killed, and free every slot', async () => {
  const { pool, clock, ready, sent, outcomes } = rig();
  for (const run of ['a', 'b', 'c']) ready.push(order(run, { timeoutMs: 1000 }));
  pool.wake();
  await turn();
  await clock.advance(999);
  assert.deepEqual(kinds(sent), ['execute a', 'execute b']);
  await clock.advance(1);
  assert.deepEqual(kinds(sent).slice(2), ['abort a', 'abort b']);
  assert.deepEqual(sent[1]?.body, { run: 'a', reason: 'timeout' });
  await clock.advance(100);
  assert.deepEqual(kinds(sent).slice(4), ['kill a', 'kill b']);
  assert.equal(outcomes.length, 0);
  // What the actor says to a kill.
  for (const run of ['a', 'b']) pool.settle({ ...succeeded(order(run), '', 0), status: 'failed' });
  assert.equal(outcomes.length, 2);
  await turn();
  assert.deepEqual(kinds(sent).slice(6), ['execute c']);
});

test('a thread that answers nothing: outcomes by the pool, one call of onStuck, no order until it is replaced', async () => {
  const { pool, clock, ready, sent, outcomes, stuck } = rig({ slots: 3 });
  ready.push(order('a', { timeoutMs: 50, task: 'spin' }), order('b', { timeoutMs: 50 }), order('c'));
  pool.wake();
  await turn();
  await clock.advance(250);
  assert.deepEqual(
    outcomes.map(({ run, status, error }) => [run, status, error?.code]),
    [
      ['a', 'failed', 'timeout'],
      ['b', 'failed', 'timeout'],
    ],
  );
  assert.equal(outcomes[0]?.error?.cause?.code, 'thread-lost');
  assert.equal(stuck.length, 1);
  assert.match(stuck[0]?.message ?? '', /task spin/);
  ready.push(order('d'));
  pool.wake();
  await turn();
  await clock.advance(100);
  assert.equal(kinds(sent).includes('execute d'), false);
  pool.threadLost({ code: 'thread-lost', message: 'replaced' });
  assert.equal(pool.active, 0);
  await turn();
  assert.deepEqual(
    outcomes.slice(2).map(({ run, status, error }) => [run, status, error?.code]),
    [['c', 'interrupted', 'thread-lost']],
  );
  assert.deepEqual(kinds(sent).slice(-1), ['execute d']);
  assert.equal(pool.active, 1);
  assert.equal(pool.settle(succeeded(order('a'), '', 0)), false);
  assert.equal(pool.lateOutcomes, 1);
});

test('an order told to stop before its thread was lost has stopped, and is not run again', async () => {
  const { pool, ready, outcomes } = rig();
  ready.push(order('a'), order('b'));
  pool.wake();
  await turn();
  pool.abort('a', 'cancel');
  pool.threadLost({ code: 'worker-lost', message: 'heap' });
  assert.deepEqual(
    outcomes.map(({ run, status, error }) => [run, status, error?.code]),
    [
      ['a', 'cancelled', 'cancelled'],
      ['b', 'interrupted', 'thread-lost'],
    ],
  );
  assert.equal(pool.active, 0);
});

test('orders given up while a new thread takes long to start do not keep it from getting the next ones', async () => {
  const { pool, clock, ready, sent, outcomes, stuck } = rig();
  pool.threadLost({ code: 'thread-lost', message: 'replaced' });
  ready.push(order('a', { timeoutMs: 50 }), order('b', { timeoutMs: 50 }), order('c'));
  pool.wake();
  await turn();
  await clock.advance(250);
  assert.deepEqual([outcomes.length, stuck.length], [2, 1]);
  await turn();
  assert.equal(kinds(sent).includes('execute c'), false);
  pool.threadReady();
  await turn();
  assert.deepEqual(kinds(sent).slice(-1), ['execute c']);
  assert.deepEqual(
    kinds(sent).filter((kind) => kind.startsWith('kill')),
    ['kill a', 'kill b'],
    'what was given up is told to stop once it is there',
  );
});

test('the run for which the thread was ended has failed; the others are not to blame', async () => {
  const { pool, clock, ready, outcomes } = rig({ slots: 4 });
  ready.push(order('given-up', { timeoutMs: 50 }), order('blocks'), order('beside'), order('told'));
  pool.wake();
  await turn();
  await clock.advance(250);
  pool.abort('told', 'cancel');
  const runs = pool.inFlight.map(({ run }) => run).sort();
  assert.deepEqual(runs, ['beside', 'blocks', 'given-up', 'told'], 'what was given up may still be running');
  pool.threadLost({ code: 'thread-lost', message: 'its event loop is blocked' }, 'blocks');
  assert.deepEqual(
    outcomes.map(({ run, status, error, retryable }) => [run, status, error?.code, retryable]),
    [
      ['given-up', 'failed', 'timeout', true],
      ['blocks', 'failed', 'worker-lost', true],
      ['beside', 'interrupted', 'thread-lost-by-another', true],
      ['told', 'cancelled', 'cancelled', false],
    ],
  );
  assert.deepEqual(pool.inFlight, []);
});

test('where nobody knows for which run the thread was ended, only what was not sent is not to blame', async () => {
  const { pool, ready, answers, outcomes } = rig({ slots: 3 });
  ready.push(order('sent'));
  pool.wake();
  await turn();
  answers.push(Delivery.Full);
  ready.push(order('unsent'));
  pool.wake();
  await turn();
  pool.threadLost({ code: 'thread-lost', message: 'gone' });
  assert.deepEqual(
    outcomes.map(({ run, status, error }) => [run, status, error?.code]),
    [
      ['sent', 'interrupted', 'thread-lost'],
      ['unsent', 'interrupted', 'thread-lost-by-another'],
    ],
  );
});

test('a full mailbox: the letter is held whole, offered again, and never lost or sent twice', async () => {
  const { pool, clock, ready, sent, answers } = rig();
  answers.push(Delivery.Full, Delivery.Full, Delivery.Closed);
  ready.push(order('a'), order('b'), order('c'));
  pool.wake();
  await turn();
  assert.equal(ready.length, 1);
  assert.equal(pool.active, 2);
  pool.wake();
  await turn();
  assert.deepEqual(kinds(sent), []);
  assert.equal(answers.length, 1);
  await clock.advance(100);
  assert.equal(answers.length, 0);
  assert.deepEqual(kinds(sent), []);
  await clock.advance(100);
  assert.deepEqual(letters(sent), [['a', 'b']]);
  assert.equal(pool.active, 2);
});

test('a held order can be cancelled before it was sent', async () => {
  const { pool, ready, sent, outcomes, answers } = rig();
  answers.push(Delivery.Full);
  ready.push(order('a'), order('b'), order('c'));
  pool.wake();
  await turn();
  assert.equal(pool.abort('a', 'cancel'), true);
  assert.equal(outcomes[0]?.status, 'cancelled');
  await turn();
  assert.deepEqual(kinds(sent), ['execute b', 'execute c']);
  assert.equal(pool.abort('a', 'cancel'), false);
  assert.equal(outcomes.length, 1);
});

test('an order that finds no room for its whole timeout is interrupted, and the thread counts as stuck', async () => {
  const answers = Array.from({ length: 100 }, () => Delivery.Full);
  const { pool, clock, ready, outcomes, stuck, answers: own } = rig();
  own.push(...answers);
  ready.push(order('a', { timeoutMs: 1000 }));
  pool.wake();
  await turn();
  await clock.advance(999);
  assert.equal(outcomes.length, 0);
  await clock.advance(1001);
  assert.equal(outcomes[0]?.status, 'interrupted');
  assert.equal(outcomes[0]?.error?.code, 'thread-lost-by-another', 'it never was there');
  assert.equal(outcomes.length, 1);
  assert.equal(stuck.length, 1);
  assert.match(stuck[0]?.message ?? '', /room for run a of task task within 1000 ms/);
});

test('an abort that found no room is sent again', async () => {
  const { pool, ready, sent, answers } = rig();
  ready.push(order('a'));
  pool.wake();
  await turn();
  answers.push(Delivery.Full);
  pool.abort('a', 'cancel');
  assert.deepEqual(kinds(sent), ['execute a']);
  pool.wake();
  await turn();
  assert.deepEqual(kinds(sent), ['execute a', 'abort a']);
});

test('abort of an unknown run is false; a second abort changes nothing', async () => {
  const { pool, ready, sent } = rig();
  assert.equal(pool.abort('a', 'cancel'), false);
  ready.push(order('a'));
  pool.wake();
  await turn();
  assert.equal(pool.abort('a', 'cancel'), true);
  assert.equal(pool.abort('a', 'timeout'), true);
  assert.deepEqual(kinds(sent), ['execute a', 'abort a']);
  assert.deepEqual(sent[1]?.body, { run: 'a', reason: 'cancel' });
});

test('outcomes of another attempt, of a settled run and of none are late', async () => {
  const { pool, ready, outcomes } = rig();
  ready.push(order('a', { attempt: 2 }));
  pool.wake();
  await turn();
  assert.equal(pool.settle(succeeded(order('a', { attempt: 1 }), '', 0)), false);
  assert.equal(pool.settle(succeeded(order('x'), '', 0)), false);
  assert.equal(pool.settle(succeeded(order('a', { attempt: 2 }), '', 0)), true);
  assert.equal(pool.settle(succeeded(order('a', { attempt: 2 }), '', 0)), false);
  assert.equal(pool.lateOutcomes, 3);
  assert.equal(outcomes.length, 1);
});

test('drain takes nothing more and resolves with the last outcome; its timer is gone', async () => {
  const { pool, clock, ready, sent } = rig();
  ready.push(order('a'), order('b'), order('c'));
  pool.wake();
  await turn();
  let drained = false;
  const drain = pool.drain().then(() => {
    drained = true;
  });
  pool.settle(succeeded(order('a'), '', 0));
  await clock.advance(0);
  assert.equal(drained, false);
  pool.settle(succeeded(order('b'), '', 0));
  await drain;
  await pool.drain();
  assert.deepEqual(kinds(sent), ['execute a', 'execute b']);
  assert.equal(clock.timers, 0);
});

test('destroy kills what runs, gives every order its outcome, and may be called again', async () => {
  const { pool, clock, ready, sent, outcomes, answers } = rig();
  ready.push(order('a'));
  pool.wake();
  await turn();
  ready.push(order('b'), order('c'));
  answers.push(Delivery.Full);
  pool.wake();
  await turn();
  assert.equal(pool.active, 2);
  const drained = pool.drain();
  let destroyed = false;
  const destroy = Promise.all([pool.destroy(), pool.destroy()]).then(() => {
    destroyed = true;
  });
  await drained;
  assert.deepEqual(kinds(sent), ['execute a', 'kill a']);
  assert.deepEqual(
    outcomes.map(({ run, status }) => [run, status]),
    [
      ['a', 'cancelled'],
      ['b', 'cancelled'],
    ],
  );
  assert.equal(pool.active, 0);
  await clock.advance(50);
  assert.equal(destroyed, false);
  // The thread confirms; no confirmation would be waited for until the grace is over.
  assert.equal(pool.settle(stopped(order('a'), 'shutdown', 1)), false);
  await destroy;
  assert.equal(pool.lateOutcomes, 0);
  assert.equal(outcomes.length, 2);
  assert.equal(clock.timers, 0);
  pool.wake();
  await turn();
  assert.deepEqual(kinds(sent), ['execute a', 'kill a']);
});

test('destroy does not wait for a thread that answers nothing longer than the grace, or that is lost', async () => {
  for (const lost of [false, true]) {
    const { pool, clock, ready } = rig();
    ready.push(order('a'));
    pool.wake();
    await turn();
    const destroyed = pool.destroy();
    if (lost) pool.threadLost({ code: 'thread-lost', message: 'gone' });
    else await clock.advance(100);
    await destroyed;
    assert.equal(clock.timers, 0);
  }
});

test('one timer for all, capped, and none for runs that end in time', async () => {
  const { pool, clock, ready, sent } = rig({ slots: 100 });
  for (let run = 0; run < 100; run++) ready.push(order(String(run), { timeoutMs: 3_600_000 + run }));
  pool.wake();
  await turn();
  assert.equal(clock.timers, 1);
  await clock.advance(3_599_999);
  assert.equal(kinds(sent).length, 100);
  assert.equal(clock.timers, 1);
  await clock.advance(110);
  assert.equal(sent.filter(({ kind }) => kind === 'abort').length, 100);
  for (let run = 0; run < 100; run++) pool.settle(succeeded(order(String(run)), '', 0));
  await clock.advance(60_000);
  assert.equal(clock.timers, 0);
});

test('resize: more slots take at once, fewer let the rest end', async () => {
  const { pool, ready, sent } = rig({ slots: 1 });
  for (const run of ['a', 'b', 'c', 'd']) ready.push(order(run));
  pool.wake();
  await turn();
  pool.resize(3);
  await turn();
  assert.deepEqual(kinds(sent), ['execute a', 'execute b', 'execute c']);
  pool.resize(1);
  assert.equal(pool.slots, 1);
  pool.settle(succeeded(order('a'), '', 0));
  pool.settle(succeeded(order('b'), '', 0));
  await turn();
  assert.equal(kinds(sent).length, 3);
  pool.settle(succeeded(order('c'), '', 0));
  await turn();
  assert.deepEqual(kinds(sent).slice(3), ['execute d']);
});

test('a measured pool follows what it measures', async () => {
  const sizing = new MeasuredSizing({ cores: 2, waitMs: 0, computeMs: 10 });
  const { pool, clock, ready } = rig({ slots: 2, sizing });
  pool.measure(0);
  for (let second = 0; second < 20; second++) {
    for (let run = 0; run < 2; run++) ready.push(order(`${second}-${run}`));
    pool.wake();
    await turn();
    await clock.advance(1000);
    for (let run = 0; run < 2; run++) pool.settle(succeeded(order(`${second}-${run}`), '', 90));
    pool.measure(20);
  }
  assert.ok(pool.slots > 14 && pool.slots <= 18, String(pool.slots));
  const measured = pool.measured;
  assert.ok(measured !== null && Math.abs(measured.waitMs - 80) < 2 && Math.abs(measured.computeMs - 10) < 1);
});

test('the busy ratio is the share of slot time since the last look', async () => {
  const { pool, clock, ready } = rig({ slots: 2 });
  assert.equal(pool.busyRatio, 0);
  ready.push(order('a', { timeoutMs: 60_000 }));
  pool.wake();
  await turn();
  await clock.advance(1000);
  pool.settle(succeeded(order('a'), '', 0));
  await clock.advance(1000);
  assert.equal(pool.busyRatio, 0.25);
  await clock.advance(1000);
  assert.equal(pool.busyRatio, 0);
});

test('an outcome that makes new work, and new work that wakes the pool, do not overfill it', async () => {
  const seen: number[] = [];
  const r = rig({
    onOutcome: (outcome) => {
      if (seen.length < 50) r.ready.push(order(`${outcome.run}x`), order(`${outcome.run}y`));
      r.pool.wake();
      seen.push(r.pool.active);
    },
  });
  r.ready.push(order('a'));
  r.pool.wake();
  await turn();
  for (let step = 0; step < 60; step++) {
    const next = r.sent.flatMap(ordersOf)[step];
    if (next !== undefined) r.pool.settle(succeeded(next, '', 0));
    assert.ok(r.pool.active <= 2);
    await turn();
    assert.ok(r.pool.active <= 2);
  }
  assert.equal(seen.length, 60);
});

test('a thread that is lost or ended leaves its runs, unconfirmed kills too, for their processes to be ended', async () => {
  const ended: (readonly string[])[] = [];
  const { pool, ready, clock } = rig({ endProcesses: (runs) => ended.push([...runs].sort()) });
  ready.push(order('a'), order('b'));
  pool.wake();
  await clock.advance(0);
  pool.threadLost({ code: 'thread-lost', message: 'gone' });
  assert.deepEqual(ended.splice(0), [['a', 'b']]);
  pool.threadEnded();
  assert.deepEqual(ended.splice(0), [[]]);
  ready.push(order('c'), order('d'));
  pool.wake();
  await clock.advance(0);
  const destroyed = pool.destroy();
  pool.settle(succeeded(order('c'), '', 0));
  pool.threadEnded();
  assert.deepEqual(ended, [['d']]);
  await clock.advance(100);
  await destroyed;
});
