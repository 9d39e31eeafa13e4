/** Bounds in bytes: of the four queues, of dead letters, of the journal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { errorBytes, textBytes } from '../../src/actors/kernel/index.ts';
import type { OfferReply } from '../../src/actors/protocol.ts';
import { type RunsByteLimits, runsByteLimits } from '../../src/actors/runs/index.ts';
import { FakeAnswer, setup, taskSpec } from './runs-setup.ts';

const failed = { status: 'failed', error: { code: 'handler-failed', message: 'no' } } as const;
const KB = 1000;
const ROOMY: RunsByteLimits = { ready: 1e9, retry: 1e9, delayed: 1e9, deadLetters: 1e9, journal: 1e9 };
/** About as many bytes as characters, whatever else a run costs. */
const payload = (bytes: number) => JSON.stringify('x'.repeat(bytes));

test('a text costs a byte a character, or two where a character needs them', () => {
  assert.equal(textBytes(null), 0);
  assert.equal(textBytes('x'.repeat(1000)) - textBytes(''), 1000);
  assert.equal(textBytes('é'.repeat(1000)) - textBytes(''), 1000);
  assert.equal(textBytes(`${'x'.repeat(999)}ж`) - textBytes(''), 2000);
  const cause = { code: 'internal', message: 'x'.repeat(100), stack: 'y'.repeat(50) } as const;
  assert.ok(errorBytes({ code: 'internal', message: 'z', cause }) > errorBytes(cause));
  assert.equal(errorBytes(null), 0);
});

for (const whenFull of ['block', 'reject', 'drop-oldest', 'drop-newest'] as const) {
  test(`a ready queue that is full in bytes: ${whenFull}, far below its capacity in runs`, async () => {
    const { pool, trigger, finish, depth, rejected, runs, settle } = setup([taskSpec({ name: 'a' })], {
      slots: 1,
      queues: { ready: { capacity: 1000, whenFull } },
      byteLimits: { ...ROOMY, ready: 32 * KB },
    });
    // The first one is on a slot, and counts.
    const answers = Array.from({ length: 6 }, () => trigger('a', { payload: payload(10 * KB) }));
    assert.equal(depth('ready'), whenFull === 'drop-oldest' ? 3 : 3, whenFull);
    assert.equal(depth('delayed'), whenFull === 'block' ? 2 : 0);
    assert.equal(rejected('ready'), whenFull === 'block' ? 0 : 2);
    const refused = answers.filter((answer) => answer.error !== undefined);
    assert.equal(refused.length, whenFull === 'reject' || whenFull === 'drop-newest' ? 2 : 0);
    for (const { error } of refused) {
      assert.equal((error as { code: string }).code, 'queue-full');
      assert.match((error as Error).message, /MB of runs; .*memory\.budget_mb/);
    }
    await settle();
    assert.equal(answers.filter((answer) => !answer.settled).length, whenFull === 'block' ? 2 : 0);
    const { ready, running } = runs.figures.heldBytes();
    assert.ok(ready + running < 32 * KB + 11 * KB, `${ready + running}`);
    while (pool.active > 0) finish([...pool.held.keys()][0]!);
    assert.equal(pool.taken.length, whenFull === 'block' ? 6 : 4);
    await settle();
    assert.ok(answers.every((answer) => answer.settled));
  });
}

test('a run larger than the bound is taken by an empty queue, and alone', () => {
  const { trigger, depth, rejected } = setup([taskSpec({ name: 'a' })], {
    slots: 0,
    queues: { ready: { capacity: 10, whenFull: 'reject' } },
    byteLimits: { ...ROOMY, ready: 5 * KB },
  });
  assert.equal(trigger('a', { payload: payload(50 * KB) }).error, undefined);
  assert.equal((trigger('a').error as { code: string }).code, 'queue-full');
  assert.deepEqual([depth('ready'), rejected('ready')], [1, 1]);
});

test('drop-oldest makes room for a large run with several small ones, not with more than it needs', () => {
  const { trigger, depth, rejected } = setup([taskSpec({ name: 'a' })], {
    slots: 0,
    queues: { ready: { capacity: 100, whenFull: 'drop-oldest' } },
    byteLimits: { ...ROOMY, ready: 10 * KB },
  });
  for (let count = 0; count < 6; count++) trigger('a', { payload: payload(KB) });
  trigger('a', { payload: payload(9 * KB) });
  assert.deepEqual([depth('ready'), rejected('ready')], [7, 0], 'full is what is above the bound');
  trigger('a', { payload: payload(KB) });
  assert.deepEqual([depth('ready'), rejected('ready')], [2, 6], 'the small ones were the oldest');
});

test('a delayed queue that is full in bytes refuses, and counts it', () => {
  const { trigger, depth, rejected } = setup([taskSpec({ name: 'a' })], {
    slots: 0,
    queues: { ready: { capacity: 1, whenFull: 'block' }, delayed: { capacity: 1000 } },
    byteLimits: { ...ROOMY, delayed: 25 * KB },
  });
  const answers = Array.from({ length: 6 }, () => trigger('a', { payload: payload(10 * KB) }));
  assert.equal(depth('delayed'), 2);
  assert.equal(rejected('delayed'), 3);
  assert.match((answers.at(-1)!.error as Error).message, /delayed queue, got 2 runs/);
});

test('a run that waits for the one before it counts as delayed', () => {
  const { trigger, rejected } = setup([taskSpec({ name: 'a', overlap: 'queue-all' })], {
    byteLimits: { ...ROOMY, delayed: 15 * KB },
  });
  const answers = Array.from({ length: 4 }, () => trigger('a', { payload: payload(10 * KB) }));
  assert.deepEqual(
    answers.map((answer) => answer.error === undefined),
    [true, true, false, false],
  );
  assert.equal(rejected('delayed'), 2);
});

test('a scan is held back by a queue that is full in bytes, and goes on when there is room', () => {
  const { runs, pool, finish } = setup([taskSpec({ name: 'a', scanJson: '{"root":"/"}' })], {
    slots: 1,
    queues: { ready: { capacity: 1000, whenFull: 'block' } },
    byteLimits: { ...ROOMY, ready: 20 * KB },
  });
  const items = Array.from({ length: 12 }, (_, index) => ({
    mark: `${index}`.padStart(16, '0'),
    input: payload(5 * KB),
  }));
  let rest = items;
  let offers = 0;
  for (; rest.length > 0 && offers < 20; offers++) {
    const answer = new FakeAnswer();
    runs.offer({ task: 'a', items: rest }, answer);
    while (!answer.settled) finish([...pool.held.keys()][0]!);
    const reply = answer.value as OfferReply;
    assert.equal(reply.rejected, 0);
    assert.ok(runs.figures.heldBytes().ready < 26 * KB);
    rest = rest.filter((item) => reply.rest.includes(item.mark));
  }
  assert.ok(offers > 2, `${offers}`);
  while (pool.active > 0) finish([...pool.held.keys()][0]!);
  assert.equal(pool.taken.length, 12);
});

test('a run that is large and on a slot holds back others, and its end lets them in although nothing is taken', async () => {
  const { pool, trigger, finish, depth, settle } = setup(
    [taskSpec({ name: 'a' }), taskSpec({ name: 'grouped', group: 'g' })],
    {
      slots: 2,
      groups: { g: { concurrency: 1 } },
      byteLimits: { ...ROOMY, ready: 20 * KB },
    },
  );
  trigger('grouped');
  trigger('a', { payload: payload(50 * KB) });
  // Its group is full, so that it stays in the queue; the next one has to wait outside.
  trigger('grouped');
  pool.slots = 0;
  const waiting = trigger('a');
  await settle();
  assert.deepEqual([depth('ready'), depth('delayed'), waiting.settled], [1, 1, false]);
  finish(pool.taken[1]!.run);
  await settle();
  assert.deepEqual([depth('ready'), depth('delayed'), waiting.settled], [2, 0, true]);
});

test('a retry queue that is full in bytes makes a dead letter of a failed run, and counts it', () => {
  const { pool, trigger, finish, depth, rejected } = setup([taskSpec({ name: 'a', maxRetry: 5 })], {
    slots: 10,
    byteLimits: { ...ROOMY, retry: 25 * KB },
  });
  for (let count = 0; count < 3; count++) trigger('a', { payload: payload(10 * KB) });
  for (const { run } of [...pool.taken]) finish(run, failed);
  // Three runs hold more than the bound: the first is kept whatever it holds, then none until one has gone.
  assert.deepEqual([depth('retry'), depth('dead-letter'), rejected('retry')], [2, 1, 1]);
});

test('error texts of attempts count, and stacks are not kept', async () => {
  const { clock, pool, trigger, finish, runs } = setup([taskSpec({ name: 'a', maxRetry: 5 })]);
  trigger('a');
  const { run } = pool.taken[0]!;
  const before = runs.figures.heldBytes().running;
  const error = { code: 'handler-failed', message: 'm'.repeat(1000), stack: 's'.repeat(4000) } as const;
  for (let attempt = 1; attempt <= 3; attempt++) {
    finish(run, { status: 'failed', error });
    const grown = runs.figures.heldBytes().retry - before;
    assert.ok(grown > attempt * 1000 && grown < attempt * 1300 + 300, `${grown}`);
    await clock.advance(100_000);
  }
  assert.equal(runs.table.get(run)?.view().attempts[0]?.error?.stack, undefined);
});

for (const whenFull of ['drop-oldest', 'drop-newest'] as const) {
  test(`dead letters that are full in bytes: ${whenFull}; one alone may be larger than the bound`, () => {
    const { pool, trigger, finish, depth, rejected, runs } = setup([taskSpec({ name: 'a' })], {
      slots: 10,
      queues: { deadLetter: { capacity: 100, whenFull } },
      byteLimits: { ...ROOMY, deadLetters: 25 * KB },
    });
    const die = (bytes: number) => {
      trigger('a', { payload: payload(bytes) });
      const { run } = pool.taken.at(-1)!;
      finish(run, failed);
      return run;
    };
    const first = die(10 * KB);
    die(10 * KB);
    const third = die(10 * KB);
    const kept = runs.deadLetters
      .list({ task: null, sinceMs: null, untilMs: null, limit: 10 })
      .map(({ run }) => run);
    assert.equal(kept.length, 2);
    assert.equal(kept.includes(first), whenFull === 'drop-newest');
    assert.equal(kept.includes(third), whenFull === 'drop-oldest');
    assert.equal(rejected('dead-letter'), 1);
    assert.ok(runs.figures.heldBytes().deadLetters <= 25 * KB);
    runs.deadLetters.purge({ runs: null, task: null, sinceMs: null, untilMs: null });
    die(40 * KB);
    assert.equal(depth('dead-letter'), 1);
    die(1);
    assert.equal(depth('dead-letter'), 1);
  });
}

test('a dead letter shows the input as its handler had it', () => {
  const { pool, trigger, finish, runs } = setup([taskSpec({ name: 'a', withJson: '{"x":1}' })]);
  trigger('a', { payload: '{"y":2}' });
  finish(pool.taken[0]!.run, failed);
  assert.deepEqual(
    JSON.parse(runs.deadLetters.list({ task: null, sinceMs: null, untilMs: null, limit: 1 })[0]!.input),
    { x: 1, y: 2 },
  );
});

test('a journal whose transitions hold too many bytes stops the taking of work until the store has answered', async () => {
  const { runs, pool, trigger, finish, settle } = setup([taskSpec({ name: 'a' })], {
    slots: 1,
    acknowledge: false,
    byteLimits: { ...ROOMY, journal: 100 * KB },
  });
  for (let count = 0; count < 4; count++) trigger('a');
  finish(pool.taken[0]!.run, { result: payload(90 * KB) });
  assert.equal(pool.active, 1, 'not yet');
  finish(pool.taken[1]!.run, { result: payload(90 * KB) });
  assert.equal(pool.active, 0);
  assert.ok(runs.figures.heldBytes().journal > 180 * KB);
  await settle();
  runs.journal.recorded(Number.MAX_SAFE_INTEGER);
  assert.equal(pool.active, 1);
  assert.ok(runs.figures.heldBytes().journal < 10 * KB);
});

test('shares of the budget: newcomers are refused before waiting sources, and those before retries', () => {
  const { ready, retry, delayed, deadLetters } = runsByteLimits(40_000);
  assert.ok(ready < retry);
  assert.equal(retry + delayed, 10_000);
  assert.equal(deadLetters, 2000);
});

test('whatever comes and goes: no queue holds more than its share and one run, and in the end nothing is held', async () => {
  const largest = 3 * KB;
  const limits: RunsByteLimits = {
    ready: 10 * KB,
    retry: 12 * KB,
    delayed: 4 * KB,
    deadLetters: 5 * KB,
    journal: 1e9,
  };
  const step = fc.oneof(
    fc.record({ do: fc.constant('trigger' as const), bytes: fc.nat(largest - KB), task: fc.nat(1) }),
    fc.record({
      do: fc.constant('finish' as const),
      status: fc.constantFrom('success', 'failed', 'interrupted'),
      text: fc.nat(500),
    }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.nat(3000) }),
    fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(50) }),
  );
  const whenFull = fc.constantFrom('block', 'reject', 'drop-oldest', 'drop-newest');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), whenFull, async (steps, full) => {
      const s = setup(
        [taskSpec({ name: 't0', maxRetry: 3 }), taskSpec({ name: 't1', overlap: 'queue-all', maxRetry: 1 })],
        { slots: 2, queues: { ready: { capacity: 50, whenFull: full } }, byteLimits: limits },
      );
      const finishOne = (status: 'success' | 'failed' | 'interrupted', text = 0) => {
        const [run] = s.pool.held.keys();
        const error = { code: 'handler-failed', message: 'e'.repeat(text) } as const;
        if (run !== undefined) s.finish(run, { status, error: status === 'success' ? null : error });
      };
      for (const action of steps) {
        if (action.do === 'trigger') s.trigger(`t${action.task}`, { payload: payload(action.bytes) });
        else if (action.do === 'finish') finishOne(action.status, action.text);
        else if (action.do === 'advance') await s.clock.advance(action.ms);
        else {
          const live = s.runs.table.list({ task: null, state: null, limit: 100 });
          const view = live[action.pick % Math.max(1, live.length)];
          if (view !== undefined && view.endedAtMs === null) s.runs.cancel(view.run);
        }
        const { ready, retry, running, delayed, deadLetters } = s.runs.figures.heldBytes();
        // Beside one run too many: errors of those that were let in, and runs on slots that left an empty queue.
        const slack = largest + 2 * largest + 50 * 600;
        assert.ok(ready + retry + running <= limits.retry + slack, `${ready} ${retry} ${running}`);
        assert.ok(ready <= limits.ready + largest, `ready ${ready}`);
        assert.ok(delayed <= limits.delayed + largest, `delayed ${delayed}`);
        assert.ok(deadLetters <= limits.deadLetters, `dead ${deadLetters}`);
      }
      for (let round = 0; round < 300 && s.runs.table.size > 0; round++) {
        while (s.pool.active > 0) finishOne('success');
        await s.clock.advance(120_000);
      }
      s.runs.deadLetters.purge({ runs: null, task: null, sinceMs: null, untilMs: null });
      assert.deepEqual(s.runs.figures.heldBytes(), {
        ready: 0,
        delayed: 0,
        retry: 0,
        running: 0,
        deadLetters: 0,
        keys: 0,
        journal: 0,
      });
      assert.equal(s.runs.table.size, 0);
    }),
    { numRuns: 100 },
  );
});
