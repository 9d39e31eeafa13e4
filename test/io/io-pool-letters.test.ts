/** Orders that become ready together travel together: the bounds of a letter, and what a refused one keeps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Delivery } from '../../src/actors/kernel/envelope.ts';
import { LETTER_ORDERS, LETTER_TEXT } from '../../src/workers/io-pool/io-pool.ts';
import { succeeded } from '../../src/workers/outcomes.ts';
import { kinds, letters, order, ordersOf, turn } from './io-fixtures.ts';
import { type Rig, rig } from './io-pool-rig.ts';

const LOST = { code: 'thread-lost', message: 'gone' } as const;

function names(count: number, prefix = 'r'): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`);
}

async function offer({ pool, ready }: Rig, ...orders: Parameters<typeof order>[]): Promise<void> {
  ready.push(...orders.map((args) => order(...args)));
  pool.wake();
  await turn();
}

function ends({ outcomes }: Rig): [string, string][] {
  return outcomes.map(({ run, status }) => [run, status]);
}

test('the bounds are those of the protocol', () => {
  assert.deepEqual([LETTER_ORDERS, LETTER_TEXT], [128, 65_536]);
});

test('what is woken for one by one within a turn travels in one letter', async () => {
  const { pool, ready, sent } = rig({ slots: 10 });
  for (const run of names(5)) {
    ready.push(order(run));
    pool.wake();
    assert.equal(pool.active, 0);
  }
  await turn();
  ready.push(order('next'));
  pool.wake();
  await turn();
  assert.deepEqual(letters(sent), [names(5), ['next']]);
});

test('128 orders are one letter, 129 are two, and the order is kept', async () => {
  for (const [count, sizes] of [
    [128, [128]],
    [129, [128, 1]],
    [300, [128, 128, 44]],
  ] as const) {
    const r = rig({ slots: 400 });
    await offer(r, ...names(count).map((run): [string] => [run]));
    const sent = letters(r.sent);
    assert.deepEqual(
      sent.map(({ length }) => length),
      sizes,
    );
    assert.deepEqual(sent.flat(), names(count));
    assert.equal(r.pool.active, count);
  }
});

test('slots bound what one letter takes', async () => {
  const r = rig({ slots: 3 });
  await offer(r, ...names(10).map((run): [string] => [run]));
  assert.deepEqual(letters(r.sent), [names(3)]);
  for (const run of ['r0', 'r2']) r.pool.settle(succeeded(order(run), '', 0));
  assert.equal(r.pool.active, 1);
  await turn();
  assert.deepEqual(letters(r.sent).slice(1), [['r3', 'r4']]);
  assert.equal(r.pool.active, 3);
});

test('inputs are summed up: a letter has 64 Ki code units at most, unless one order alone has more', async () => {
  const ki = (count: number) => ({ input: 'x'.repeat(count * 1024) });
  const cases: readonly [inputs: readonly number[], expected: readonly number[]][] = [
    [
      [32, 32, 1],
      [2, 1],
    ],
    [
      [20, 20, 20, 20, 20, 20, 20, 20],
      [3, 3, 2],
    ],
    [
      [0, 200, 0, 0],
      [1, 1, 2],
    ],
    [
      [64, 64],
      [1, 1],
    ],
    [
      [1, 64, 1],
      [1, 1, 1],
    ],
  ];
  for (const [inputs, expected] of cases) {
    const r = rig({ slots: 20 });
    await offer(r, ...inputs.map((size, at): Parameters<typeof order> => [`r${at}`, ki(size)]));
    assert.deepEqual(
      letters(r.sent).map(({ length }) => length),
      expected,
      inputs.join(),
    );
    assert.deepEqual(letters(r.sent).flat(), names(inputs.length));
    for (const letter of r.sent.map(ordersOf)) {
      const text = letter.reduce((sum, { input }) => sum + input.length, 0);
      assert.ok(text <= LETTER_TEXT || letter.length === 1);
    }
  }
});

test('the first letter goes and the second is refused: the second alone is offered again', async () => {
  const r = rig({ slots: 200 });
  r.answers.push(Delivery.Delivered, Delivery.Full);
  await offer(r, ...names(150).map((run): [string] => [run]));
  assert.deepEqual(letters(r.sent), [names(128)]);
  assert.equal(r.pool.active, 150);
  await r.clock.advance(100);
  assert.deepEqual(letters(r.sent).flat(), names(150));
  assert.equal(r.outcomes.length, 0);
});

test('a refused letter is offered once a wake and once in 100 ms, however many orders are in it', async () => {
  const r = rig({ slots: 100 });
  r.answers.push(...Array.from({ length: 50 }, () => Delivery.Full));
  await offer(r, ...names(100).map((run): [string] => [run]));
  assert.equal(r.answers.length, 49);
  r.pool.wake();
  await turn();
  assert.equal(r.answers.length, 48);
  await r.clock.advance(99);
  assert.equal(r.answers.length, 48);
  await r.clock.advance(1);
  assert.equal(r.answers.length, 47);
  await r.clock.advance(100);
  assert.equal(r.answers.length, 46);
});

for (const refusal of [Delivery.Full, Delivery.Closed, Delivery.Dropped]) {
  test(`a letter that is ${refusal} keeps every order, takes no other, and loses what is aborted`, async () => {
    const r = rig({ slots: 4 });
    r.answers.push(refusal);
    await offer(r, ['a'], ['b'], ['c']);
    r.answers.push(refusal);
    await offer(r, ['d']);
    assert.equal(r.pool.active, 3);
    assert.equal(r.ready.length, 1);
    r.answers.push(refusal);
    assert.equal(r.pool.abort('b', 'cancel'), true);
    assert.equal(r.pool.abort('b', 'cancel'), false);
    await turn();
    assert.deepEqual(kinds(r.sent), []);
    await r.clock.advance(100);
    assert.deepEqual(letters(r.sent), [['a', 'c'], ['d']]);
    assert.equal(r.pool.active, 3);
    assert.deepEqual(ends(r), [['b', 'cancelled']]);
    // From its sending, an order has its whole timeout.
    await r.clock.advance(999);
    assert.equal(kinds(r.sent).length, 3);
    await r.clock.advance(1);
    assert.deepEqual(kinds(r.sent).slice(3), ['abort a', 'abort c', 'abort d']);
  });
}

test('a refused letter of which nothing is left holds nothing up', async () => {
  const r = rig();
  r.answers.push(Delivery.Full);
  await offer(r, ['a'], ['b'], ['c']);
  for (const run of ['a', 'b']) r.pool.abort(run, 'cancel');
  assert.equal(r.pool.active, 0);
  await turn();
  assert.deepEqual(letters(r.sent), [['c']]);
});

test('a refused letter keeps to the slots: a smaller size, and a larger one, count from the next order on', async () => {
  const r = rig({ slots: 3 });
  r.answers.push(Delivery.Full, Delivery.Full, Delivery.Full);
  await offer(r, ...names(8).map((run): [string] => [run]));
  r.pool.resize(5);
  await turn();
  assert.equal(r.pool.active, 3);
  r.pool.resize(4);
  await turn();
  assert.equal(r.pool.active, 3);
  await r.clock.advance(100);
  assert.deepEqual(letters(r.sent), [names(3), ['r3']]);
});

test('unsent orders end at their own timeouts; the rest of the letter goes with the thread', async () => {
  const r = rig({ slots: 3 });
  r.answers.push(...Array.from({ length: 100 }, () => Delivery.Full));
  await offer(r, ['a', { timeoutMs: 250 }], ['b', { timeoutMs: 400 }], ['c', { timeoutMs: 5000 }]);
  await r.clock.advance(249);
  assert.deepEqual(ends(r), []);
  await r.clock.advance(1);
  assert.deepEqual(ends(r), [['a', 'interrupted']]);
  await r.clock.advance(150);
  assert.equal(ends(r).length, 2);
  assert.equal(r.stuck.length, 1);
  r.answers.length = 0;
  await offer(r, ['d']);
  await r.clock.advance(500);
  assert.deepEqual(kinds(r.sent), []);
  r.pool.threadLost(LOST);
  await turn();
  assert.deepEqual(ends(r).slice(1), [
    ['b', 'interrupted'],
    ['c', 'interrupted'],
  ]);
  assert.deepEqual(letters(r.sent), [['d']]);
});

test('of more than a letter, the first refused: one order beyond it is held, with a deadline as all others', async () => {
  const r = rig({ slots: 300 });
  r.answers.push(...Array.from({ length: 1000 }, () => Delivery.Full));
  await offer(r, ...names(200).map((run): [string] => [run]));
  assert.equal(r.pool.active, 129);
  assert.equal(r.ready.length, 71);
  for (const run of names(128)) r.pool.abort(run, 'cancel');
  r.pool.resize(1);
  await r.clock.advance(999);
  assert.equal(r.outcomes.length, 128);
  await r.clock.advance(1);
  assert.deepEqual(ends(r).at(-1), ['r128', 'interrupted']);
  assert.equal(r.outcomes.length, 129);
});

test('what is held beyond a refused letter goes with it once there is room, and ends by itself if there is none', async () => {
  const orders: readonly [string, { timeoutMs: number }][] = names(129).map((run, at) => [
    run,
    { timeoutMs: at < 128 ? 5000 : 50 },
  ]);
  const roomLater = rig({ slots: 300 });
  roomLater.answers.push(Delivery.Full);
  await offer(roomLater, ...orders);
  roomLater.pool.wake();
  await turn();
  assert.deepEqual(
    letters(roomLater.sent).map(({ length }) => length),
    [128, 1],
  );
  assert.deepEqual(letters(roomLater.sent).flat(), names(129));
  const never = rig({ slots: 300 });
  never.answers.push(Delivery.Full, Delivery.Full);
  await offer(never, ...orders);
  await never.clock.advance(50);
  assert.deepEqual(ends(never), [['r128', 'interrupted']]);
});

test('wakes that are refused again and again do not put off the end of unsent orders', async () => {
  const r = rig();
  r.answers.push(...Array.from({ length: 1000 }, () => Delivery.Full));
  await offer(r, ['a', { timeoutMs: 1000 }], ['b', { timeoutMs: 1000 }]);
  for (let ms = 0; ms < 1000; ms += 50) {
    assert.equal(r.outcomes.length, 0);
    await r.clock.advance(50);
    r.pool.wake();
    await turn();
  }
  assert.deepEqual(ends(r), [
    ['a', 'interrupted'],
    ['b', 'interrupted'],
  ]);
  assert.equal(r.stuck.length, 1);
});

test('drain waits for a refused letter to go and to end', async () => {
  const r = rig();
  r.answers.push(Delivery.Full);
  await offer(r, ['a'], ['b'], ['c']);
  let drained = false;
  const drain = r.pool.drain().then(() => {
    drained = true;
  });
  await r.clock.advance(100);
  assert.deepEqual(letters(r.sent), [['a', 'b']]);
  r.pool.settle(succeeded(order('a'), '', 0));
  await turn();
  assert.equal(drained, false);
  r.pool.settle(succeeded(order('b'), '', 0));
  await drain;
  await turn();
  assert.equal(r.ready.length, 1);
  assert.equal(r.clock.timers, 0);
});

test('drain between a wake and its fill takes nothing', async () => {
  const r = rig();
  r.ready.push(order('a'));
  r.pool.wake();
  await r.pool.drain();
  await turn();
  assert.deepEqual([r.ready.length, r.sent.length, r.pool.active], [1, 0, 0]);
});

test('destroy with unsent letters: one outcome each, nothing of them is sent or killed', async () => {
  const r = rig({ slots: 300 });
  r.answers.push(Delivery.Delivered, Delivery.Full);
  await offer(r, ...names(200).map((run): [string] => [run]));
  const destroyed = r.pool.destroy();
  assert.equal(r.pool.active, 0);
  assert.deepEqual(
    ends(r).sort(),
    names(200)
      .map((run) => [run, 'cancelled'])
      .sort(),
  );
  assert.deepEqual(
    kinds(r.sent).slice(128),
    names(128).map((run) => `kill ${run}`),
  );
  r.pool.wake();
  await r.clock.advance(100);
  await destroyed;
  await r.clock.advance(5000);
  assert.equal(r.sent.length, 129);
  assert.equal(r.outcomes.length, 200);
  assert.equal(r.clock.timers, 0);
});

test('a thread lost under a refused letter interrupts each order once, but those told to stop', async () => {
  const r = rig({ slots: 5 });
  await offer(r, ['a'], ['b']);
  r.answers.push(Delivery.Full);
  await offer(r, ['c'], ['d']);
  r.pool.abort('a', 'cancel');
  r.pool.threadLost(LOST);
  await r.clock.advance(5000);
  assert.deepEqual(ends(r), [
    ['a', 'cancelled'],
    ['b', 'interrupted'],
    ['c', 'interrupted'],
    ['d', 'interrupted'],
  ]);
  await offer(r, ['e']);
  assert.deepEqual(letters(r.sent), [['a', 'b'], ['e']]);
});

/** All ways in which an outcome can be given, each with `onOutcome` calling back into the pool. */
const GIVES: readonly [name: string, give: (r: Rig) => unknown, status: string][] = [
  ['threadLost', (r) => r.pool.threadLost(LOST), 'interrupted'],
  ['destroy', (r) => r.pool.destroy(), 'cancelled'],
  ['settle', (r) => r.pool.settle(succeeded(order('a'), '', 0)), 'success'],
  ['abort', (r) => r.pool.abort('c', 'cancel'), 'cancelled'],
];

for (const [name, give, status] of GIVES) {
  test(`${name}, and onOutcome wakes, aborts all and drains: one outcome each, nothing sent twice`, async () => {
    const all = ['a', 'b', 'c', 'd'];
    const r: Rig = rig({
      slots: 4,
      onOutcome: (outcome) => {
        r.outcomes.push(outcome);
        r.pool.wake();
        for (const run of all) r.pool.abort(run, 'cancel');
        void r.pool.drain();
        r.pool.wake();
      },
    });
    await offer(r, ['a'], ['b']);
    r.answers.push(Delivery.Full);
    await offer(r, ['c'], ['d']);
    assert.equal(r.pool.active, 4);
    r.ready.push(order('e'));
    give(r);
    await turn();
    const first = r.outcomes[0];
    assert.deepEqual([first?.run, first?.status], [name === 'abort' ? 'c' : 'a', status]);
    // What was unsent has ended; what the thread has, answers to its abort.
    for (const run of ['a', 'b']) r.pool.settle(succeeded(order(run), '', 0));
    await r.pool.drain();
    await r.clock.advance(10_000);
    assert.deepEqual(r.outcomes.map(({ run }) => run).sort(), all);
    assert.deepEqual(letters(r.sent), [['a', 'b']]);
    assert.equal(r.ready.length, 1);
    assert.equal(r.clock.timers, 0);
  });
}
