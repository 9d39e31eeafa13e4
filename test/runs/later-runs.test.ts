/** Runs that are to begin later: in memory, in the store alone, and back again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ColibriError } from '../../src/actors/kernel/index.ts';
import { isTerminal } from '../../src/actors/runs/index.ts';
import { NEAR } from '../../src/actors/runs/later-runs.ts';
import { keeper, PAGE } from './keeper.ts';
import { FakeAnswer, type Setup, setup, taskSpec } from './runs-setup.ts';

function rig(options: Parameters<typeof setup>[1] = {}, task = taskSpec({ name: 'a' })) {
  const store = keeper();
  const made = setup([task], {
    slots: 1_000_000,
    far: store.far,
    onBatch: (events) => store.keep(events),
    queues: { delayed: { capacity: 1_000_000 } },
    ...options,
  });
  return { ...made, store };
}

/** A stream that is the same for the same seed: xorshift32 (Marsaglia, 2003). */
function numbersFrom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** What the pool took, in order. */
const taken = ({ pool }: Setup) => pool.taken.map((order) => order.run);

test('a run that is to begin later is kept and answered at once, begins when its time has come, and not before', async () => {
  const { clock, trigger, pool, states, settle, depth, runs } = rig();
  const answer = trigger('a', { dueAtMs: clock.wallMs() + 90_000, payload: '{"x":1}' });
  assert.equal(answer.settled, false);
  await settle();
  const { run } = answer.value as { run: string };
  assert.deepEqual(states(run), ['pending']);
  assert.deepEqual([depth('delayed'), depth('ready'), pool.taken.length], [1, 0, 0]);
  assert.equal(runs.table.get(run)?.view().dueAtMs, clock.wallMs() + 90_000);
  await clock.advance(89_999);
  assert.equal(pool.taken.length, 0);
  await clock.advance(1);
  assert.deepEqual(JSON.parse(pool.taken[0]!.input), { x: 1 });
  await settle();
  assert.deepEqual([states(run).at(-1), depth('delayed')], ['running', 0]);
});

test('until its time it is no run in progress: overlap is looked at then', async () => {
  const { clock, trigger, finish, pool, states, settle, events } = rig(
    {},
    taskSpec({ name: 'a', overlap: 'skip' }),
  );
  const later = trigger('a', { dueAtMs: clock.wallMs() + 1000 });
  const now = trigger('a');
  await settle();
  const first = (now.value as { run: string }).run;
  const second = (later.value as { run: string }).run;
  assert.deepEqual(
    pool.taken.map((order) => order.run),
    [first],
  );
  await clock.advance(1000);
  assert.equal(states(second).at(-1), 'skipped');
  const { asked, error } = events.findLast(({ run }) => run === second)!;
  assert.deepEqual([asked, error?.code], [true, 'overlap-refused'], 'it was accepted: a user has its id');
  finish(first);
  await settle();
  assert.equal(states(first).at(-1), 'success');
});

test('its time has passed already: it begins now', async () => {
  const { clock, trigger, pool, settle } = rig();
  trigger('a', { dueAtMs: clock.wallMs() - 5 });
  await settle();
  assert.equal(pool.taken.length, 1);
});

test('force and a later time: refused', () => {
  const { clock, trigger } = rig();
  assert.throws(
    () => trigger('a', { force: true, dueAtMs: clock.wallMs() + 1 }),
    (error: ColibriError) => error.code === 'input-invalid',
  );
});

test('the delayed queue is bounded: what has no room is refused, and was never a run', async () => {
  const { clock, trigger, depth, rejected, events, settle } = rig({ queues: { delayed: { capacity: 2 } } });
  const answers = [1, 2, 3].map((second) => trigger('a', { dueAtMs: clock.wallMs() + second * 1000 }));
  await settle();
  assert.equal((answers[2]!.error as ColibriError).code, 'queue-full');
  assert.deepEqual([depth('delayed'), rejected('delayed'), events.length], [2, 1, 2]);
});

test('a queue that rejects when it is full does not refuse a run that was accepted before', async () => {
  const { clock, trigger, finish, states, settle, pool } = rig({
    slots: 1,
    queues: { ready: { capacity: 1, whenFull: 'reject' }, delayed: { capacity: 10 } },
  });
  const later = trigger('a', { dueAtMs: clock.wallMs() + 1000 });
  trigger('a');
  trigger('a');
  await clock.advance(1000);
  const { run } = later.value as { run: string };
  assert.equal(states(run).at(-1), 'pending');
  while (pool.held.size > 0) finish([...pool.held.keys()][0]!);
  await settle();
  assert.equal(states(run).at(-1), 'success');
});

test('cancelled before its time, near or far', async () => {
  const { clock, trigger, runs, settle, states, depth, store } = rig();
  const answers = Array.from({ length: NEAR.most + 1 }, (_, index) =>
    trigger('a', { dueAtMs: clock.wallMs() + 1000 + index }),
  );
  await settle();
  trigger('a', { dueAtMs: clock.wallMs() + 1 });
  await settle();
  const ids = answers.map((answer) => (answer.value as { run: string }).run);
  assert.ok(runs.table.size < NEAR.most, 'the latest have left memory');
  for (const run of [ids[0]!, ids.at(-1)!]) {
    await runs.recall(run);
    assert.equal(runs.cancel(run), 'cancelled');
  }
  await settle();
  assert.deepEqual([states(ids[0]!).at(-1), states(ids.at(-1)!).at(-1)], ['cancelled', 'cancelled']);
  assert.equal(depth('delayed'), NEAR.most);
  const stillPending = [...store.rows.values()].filter((row) => row.state === 'pending').length;
  assert.equal(stillPending, NEAR.most);
  await runs.recall('a@unknown');
});

test('what has come due in the store alone is judged by overlap as what has in memory: none beside another', async () => {
  for (const [overlap, ends] of [
    ['skip', 'skipped'],
    ['queue-all', 'success'],
  ] as const) {
    const { clock, runs, store, pool, finish, trigger, settle, states } = rig(
      {},
      taskSpec({ name: 'a', overlap }),
    );
    const dueAtMs = clock.wallMs() + 1000;
    store.keep([{ run: 'a@1', task: 'a', state: 'pending', attempt: 0, atMs: 0, dueAtMs }]);
    store.fail(true);
    runs.restored(1);
    trigger('a');
    await clock.advance(0);
    const first = pool.taken[0]!.run;
    // It is asked for again when its time has passed.
    clock.stepWall(60_000);
    store.fail(false);
    await clock.advance(1000);
    await settle();
    assert.deepEqual([...pool.held.keys()], [first], overlap);
    finish(first);
    await settle();
    if (overlap === 'queue-all') finish('a@1');
    await settle();
    assert.equal(states('a@1').at(-1), ends, overlap);
  }
});

test('one that has left memory is waited for all the same', async () => {
  const { clock, trigger, runs, settle, finish, pool } = rig();
  const answers = Array.from({ length: NEAR.most + 1 }, (_, index) =>
    trigger('a', { dueAtMs: clock.wallMs() + 1000 + index }),
  );
  await settle();
  const { run } = answers.at(-1)!.value as { run: string };
  assert.equal(runs.table.get(run), undefined);
  const waiting = new FakeAnswer();
  await runs.wait(run, waiting);
  await clock.advance(60_000);
  for (const id of [...pool.held.keys()]) finish(id);
  await settle();
  assert.equal((waiting.value as { ended: { state: string } }).ended.state, 'success');
});

test('a store that cannot be asked is asked again', async () => {
  const { clock, runs, store, pool } = rig();
  store.keep([
    { run: 'a@1', task: 'a', state: 'pending', attempt: 0, atMs: 0, dueAtMs: clock.wallMs() + 10_000 },
  ]);
  store.fail(true);
  runs.restored(1);
  await clock.advance(0);
  await clock.advance(2500);
  assert.equal(store.asked, 3);
  store.fail(false);
  await clock.advance(7500);
  assert.deepEqual(
    pool.taken.map((order) => order.run),
    ['a@1'],
  );
});

test('who waits for the end of a run keeps it in memory', async () => {
  const { clock, trigger, runs, settle, finish, pool } = rig();
  const waiting = trigger('a', { dueAtMs: clock.wallMs() + 60_000, wait: true });
  for (let index = 0; index <= NEAR.most + 10; index++) {
    trigger('a', { dueAtMs: clock.wallMs() + 1000 + index });
    if (index % 500 === 0) await settle();
  }
  await settle();
  assert.ok(runs.table.size <= NEAR.most + 1);
  await clock.advance(60_000);
  for (const run of [...pool.held.keys()]) finish(run);
  await settle();
  assert.equal((waiting.value as { ended: { state: string } }).ended.state, 'success');
});

test('many at one instant, more than may stay in memory: all of them leave it, and all begin', async () => {
  const { clock, trigger, settle, pool, depth } = rig();
  const dueAtMs = clock.wallMs() + 1000;
  const payload = JSON.stringify({ note: 'x'.repeat(500) });
  for (let index = 0; index < 1500; index++) {
    trigger('a', { dueAtMs, payload });
    if (index % 300 === 299) await settle();
  }
  await clock.advance(1000);
  // Some turns for each page.
  for (let turn = 0; turn < (5 * 1500) / PAGE; turn++) await settle();
  assert.deepEqual([pool.taken.length, depth('delayed')], [1500, 0]);
});

test('any mix of delays, bursts and restarts: each run once, in the order they are due, and memory stays small', async () => {
  const burst = fc.record({
    count: fc.integer({ min: 1, max: 1500 }),
    spreadMs: fc.constantFrom(1, 1000, 1_000_000),
    advanceMs: fc.constantFrom(0, 100, 50_000),
    restart: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 5 }), fc.nat(), async (bursts, seed) => {
      const random = numbersFrom(seed);
      let rigged = rig();
      const { store } = rigged;
      const order: string[] = [];
      let accepted = 0;
      for (const { count, spreadMs, advanceMs, restart } of bursts) {
        for (let index = 0; index < count; index++) {
          const dueAtMs = rigged.clock.wallMs() + 1 + (random() % spreadMs);
          rigged.trigger('a', { dueAtMs });
          accepted++;
          if (index % 400 === 399) await rigged.settle();
        }
        await rigged.settle();
        assert.ok(rigged.runs.table.size - rigged.pool.held.size <= NEAR.most + 500);
        await rigged.clock.advance(advanceMs);
        if (!restart) continue;
        order.push(...taken(rigged));
        rigged.runs.destroy();
        const nowMs = rigged.clock.wallMs() + 1;
        const next = setup([taskSpec({ name: 'a' })], {
          slots: 1_000_000,
          far: store.far,
          onBatch: (events) => store.keep(events),
          queues: { delayed: { capacity: 1_000_000 } },
        });
        next.clock.stepWall(nowMs - next.clock.wallMs());
        rigged = { ...next, store };
        rigged.runs.restored([...store.rows.values()].filter((row) => row.state === 'pending').length);
        await rigged.settle();
      }
      await rigged.clock.advance(1_100_000);
      order.push(...taken(rigged));
      assert.equal(order.length, accepted);
      assert.equal(new Set(order).size, accepted);
      assert.equal([...store.rows.values()].filter((row) => !isTerminal(row.state)).length, accepted);
      assert.equal(rigged.depth('delayed'), 0);
      const dues = taken(rigged).map((run) => store.rows.get(run)!.dueAtMs);
      assert.deepEqual(
        dues,
        dues.toSorted((a, b) => a - b),
      );
    }),
    { numRuns: 15 },
  );
});
