/** What a daemon of before left behind: every state, and any mix of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RunEvent, StoredRun } from '../../src/actors/records.ts';
import { INTERRUPTION_BUDGET, isTerminal, RUN_STATES } from '../../src/actors/runs/index.ts';
import { setup, taskSpec } from './runs-setup.ts';

function stored(run: string, fields: Partial<StoredRun> = {}): StoredRun {
  return {
    run,
    task: 'a',
    state: 'ready',
    attempt: 0,
    interruptions: 0,
    origin: 'manual',
    createdAtMs: 0,
    dueAtMs: 0,
    startedAtMs: null,
    input: '{}',
    mark: null,
    error: null,
    attempts: [],
    flow: null,
    note: null,
    ...fields,
  };
}

const stateOf = (events: readonly RunEvent[], run: string) =>
  events.findLast((one) => one.run === run)?.state;

test('ready runs are taken in the order they were created, with what they were given', async () => {
  const { runs, pool, depth, finish, settle, events } = setup([taskSpec({ name: 'a', withJson: '{"x":1}' })]);
  runs.restore(stored('a@1', { input: '{"x":1}' }));
  runs.restore(stored('a@2', { input: '{"x":1,"y":2}' }));
  runs.restore(stored('a@3', { attempt: 1 }));
  assert.equal(depth('ready'), 3);
  assert.deepEqual(events, [], 'the journal has them already');
  runs.restored();
  assert.deepEqual([...pool.held.keys()], ['a@1', 'a@2']);
  assert.deepEqual(JSON.parse(pool.taken[1]!.input), { x: 1, y: 2 });
  finish('a@1');
  assert.equal(pool.held.get('a@3')?.attempt, 2);
  await settle();
  assert.equal(stateOf(events, 'a@1'), 'success');
});

test('an input that was all the task’s own follows the config, another one stays', () => {
  const { runs, pool } = setup([taskSpec({ name: 'a', withJson: '{"x":2}' })]);
  runs.restore(stored('a@1', { input: '{"x":1}' }));
  runs.restore(stored('a@2', { input: '{"x":2}' }));
  pool.wake();
  assert.deepEqual(
    pool.taken.map((order) => JSON.parse(order.input).x),
    [1, 2],
  );
});

test('R6: a run that was on a slot is interrupted, not failed, with max_retry 0, and has a budget of its own', async () => {
  const { runs, pool, events, finish, settle, depth } = setup([taskSpec({ name: 'a', maxRetry: 0 })]);
  runs.restore(stored('a@1', { state: 'running', attempt: 1, startedAtMs: 5 }));
  runs.restore(stored('a@2', { state: 'running', attempt: 9, interruptions: INTERRUPTION_BUDGET }));
  pool.wake();
  assert.equal(pool.held.get('a@1')?.attempt, 2);
  assert.equal(pool.held.has('a@2'), false);
  finish('a@1');
  await settle();
  const interrupted = events.find((event) => event.state === 'interrupted');
  assert.deepEqual([interrupted?.run, interrupted?.error?.code], ['a@1', 'daemon-lost']);
  assert.equal(stateOf(events, 'a@1'), 'success');
  assert.deepEqual([stateOf(events, 'a@2'), depth('dead-letter')], ['failed', 1]);
  assert.equal(events.find((event) => event.state === 'failed')?.dead, true);
});

test('what another run was to blame for is known after a restart, and not counted', () => {
  const { runs, pool } = setup([taskSpec({ name: 'a', maxRetry: 0 })]);
  const attempts = Array.from({ length: INTERRUPTION_BUDGET }, (_, index) => ({
    attempt: index + 1,
    startedAtMs: 0,
    endedAtMs: 1,
    state: 'interrupted' as const,
    error: { code: 'thread-lost-by-another' as const, message: 'gone' },
  }));
  const attempt = INTERRUPTION_BUDGET + 1;
  const interruptions = INTERRUPTION_BUDGET;
  runs.restore(stored('a@1', { state: 'running', attempt, interruptions, attempts }));
  runs.restore(stored('a@2', { state: 'running', attempt, interruptions, attempts: attempts.slice(1) }));
  runs.restore(stored('a@3', { state: 'running', attempt, interruptions }));
  pool.wake();
  const states = ['a@1', 'a@2', 'a@3'].map((run) => runs.table.get(run)?.state);
  assert.deepEqual(states, ['interrupted', 'interrupted', 'failed']);
});

for (const [onInterrupted, state, letters] of [
  ['rerun', 'running', 0],
  ['skip', 'skipped', 0],
  ['ask', 'failed', 1],
] as const) {
  test(`on_interrupted: ${onInterrupted}`, async () => {
    const { runs, pool, events, settle, depth } = setup([taskSpec({ name: 'a', onInterrupted })]);
    for (const was of ['running', 'interrupted'] as const) {
      runs.restore(stored(`a@${was}`, { state: was, attempt: 1, interruptions: was === 'running' ? 0 : 1 }));
    }
    pool.wake();
    await settle();
    assert.deepEqual([stateOf(events, 'a@running'), stateOf(events, 'a@interrupted')], [state, state]);
    assert.equal(depth('dead-letter'), 2 * letters);
  });
}

test('a retry is due when it was; one that is overdue at once', async () => {
  const { runs, pool, clock } = setup([taskSpec({ name: 'a', maxRetry: 5 })]);
  const now = clock.wallMs();
  runs.restore(stored('a@1', { state: 'retrying', attempt: 1, dueAtMs: now + 5000 }));
  runs.restore(stored('a@2', { state: 'retrying', attempt: 1, dueAtMs: now - 5000 }));
  await clock.advance(0);
  assert.deepEqual([...pool.held.keys()], ['a@2']);
  await clock.advance(4999);
  assert.equal(pool.held.has('a@1'), false);
  await clock.advance(1);
  assert.equal(pool.held.get('a@1')?.attempt, 2);
});

test('a retry waits no longer than it was planned, by a clock that was set back or is not set yet', async () => {
  for (const wrongMs of [-3_600_000, -50 * 365 * 86_400_000]) {
    const { runs, pool, clock } = setup([taskSpec({ name: 'a', maxRetry: 5 })]);
    const endedAtMs = clock.wallMs();
    clock.stepWall(wrongMs);
    const attempt = {
      attempt: 1,
      startedAtMs: endedAtMs - 10,
      endedAtMs,
      state: 'failed',
      error: null,
    } as const;
    runs.restore(
      stored('a@1', { state: 'retrying', attempt: 1, dueAtMs: endedAtMs + 5000, attempts: [attempt] }),
    );
    await clock.advance(4999);
    assert.equal(pool.active, 0);
    await clock.advance(1);
    assert.deepEqual([...pool.held.keys()], ['a@1']);
  }
});

test('pending runs wait for the one before them again', () => {
  const { runs, pool, finish, depth } = setup([taskSpec({ name: 'a', overlap: 'queue-all' })]);
  runs.restore(stored('a@1'));
  runs.restore(stored('a@2', { state: 'pending' }));
  runs.restore(stored('a@3', { state: 'pending' }));
  runs.restored();
  assert.deepEqual([[...pool.held.keys()], depth('delayed')], [['a@1'], 2]);
  finish('a@1');
  assert.deepEqual([...pool.held.keys()], ['a@2']);
  finish('a@2');
  assert.deepEqual([...pool.held.keys()], ['a@3']);
});

test('a task that is gone: its runs are orphaned, can be cancelled, and run when it is there again', async () => {
  const before = setup([taskSpec({ name: 'b' })]);
  for (const state of ['ready', 'pending', 'retrying', 'running', 'interrupted', 'orphaned'] as const) {
    before.runs.restore(stored(`a@${state}`, { state, attempt: 1 }));
  }
  before.runs.restored();
  await before.settle();
  assert.equal(before.pool.active, 0);
  assert.equal(before.runs.figures.orphaned, 6);
  assert.equal(before.runs.cancel('a@ready'), 'cancelled');
  await before.settle();
  assert.equal(stateOf(before.events, 'a@ready'), 'cancelled');
  assert.equal(stateOf(before.events, 'a@pending'), 'orphaned');

  const after = setup([taskSpec({ name: 'a' })], { slots: 1 });
  after.runs.restore(stored('a@pending', { state: 'orphaned', attempt: 1 }));
  after.runs.restored();
  await after.settle();
  assert.equal(after.pool.held.get('a@pending')?.attempt, 2);
});

test('what was accepted stays accepted where the queue has become smaller', () => {
  const { runs, depth } = setup([taskSpec({ name: 'a' })], {
    slots: 0,
    queues: { ready: { capacity: 2, whenFull: 'reject' } },
  });
  for (let index = 0; index < 5; index++) runs.restore(stored(`a@${index}`));
  assert.equal(depth('ready'), 5);
});

test('dead letters are there again, for a list, a replay and a purge; what no longer has room is dropped', async () => {
  const dropped: string[] = [];
  const s = setup([taskSpec({ name: 'a', withJson: '{"x":1}' })], {
    queues: { deadLetter: { capacity: 2, whenFull: 'drop-oldest' } },
    onRecord: (batch) => dropped.push(...batch.dropped),
  });
  const letter = { dueAtMs: 0, diedAtMs: 1, attempts: 2, input: '{"x":1,"y":2}', mark: null, error: null };
  for (const [run, task] of [
    ['a@0', 'a'],
    ['a@1', 'a'],
    ['gone@1', 'gone'],
  ] as const) {
    s.runs.restoreLetter({ run, task, ...letter });
  }
  assert.equal(s.depth('dead-letter'), 2);
  const everything = { runs: null, task: null, sinceMs: null, untilMs: null };
  assert.deepEqual(s.runs.replay(everything), { runs: ['a@1~1'], refused: 1 });
  assert.deepEqual(JSON.parse(s.pool.taken[0]!.input), { x: 1, y: 2 });
  assert.equal(s.runs.deadLetters.purge(everything), 1);
  await s.settle();
  assert.deepEqual(dropped, ['a@0', 'a@1', 'gone@1']);
});

test('any mix of states: each run ends, each ready one runs, none twice at a time', async () => {
  const live = RUN_STATES.filter((state) => !isTerminal(state));
  const arbitrary = fc.array(
    fc.record({
      state: fc.constantFrom(...live),
      task: fc.constantFrom('a', 'b', 'c', 'gone'),
      interruptions: fc.nat(INTERRUPTION_BUDGET + 1),
    }),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(arbitrary, async (left) => {
      const s = setup([
        taskSpec({ name: 'a', overlap: 'allow' }),
        taskSpec({ name: 'b', overlap: 'queue-all' }),
        taskSpec({ name: 'c', overlap: 'skip', onInterrupted: 'skip' }),
      ]);
      for (const [index, { state, task, interruptions }] of left.entries()) {
        s.runs.restore(stored(`${task}@${index}`, { state, task, interruptions, attempt: 1 }));
      }
      s.runs.restored();
      for (let round = 0; round < 100 && s.runs.table.size > s.runs.figures.orphaned; round++) {
        for (const run of [...s.pool.held.keys()]) s.finish(run);
        await s.clock.advance(1000);
      }
      assert.equal(s.runs.table.size, s.runs.figures.orphaned);
      assert.equal(s.runs.figures.orphaned, left.filter(({ task }) => task === 'gone').length);
      assert.deepEqual([s.depth('ready'), s.depth('delayed'), s.depth('retry')], [0, 0, 0]);
      const { ready, delayed, running } = s.runs.figures.heldBytes();
      assert.deepEqual([ready, delayed, running], [0, 0, 0]);
    }),
    { numRuns: 150 },
  );
});

test('a run that was to begin later, created before the one that runs: it waits for it', async () => {
  const { runs, pool, finish, settle } = setup([taskSpec({ name: 'a', overlap: 'queue-all' })]);
  runs.restore(stored('a@1', { state: 'pending', dueAtMs: 5 }));
  runs.restore(stored('a@2', { state: 'running', attempt: 1, startedAtMs: 4 }));
  runs.restore(stored('a@3', { state: 'pending' }));
  runs.restored();
  assert.deepEqual([...pool.held.keys()], ['a@2']);
  for (const next of ['a@1', 'a@3']) {
    finish([...pool.held.keys()][0]!);
    assert.deepEqual([...pool.held.keys()], [next]);
  }
  finish('a@3');
  await settle();
  assert.equal(runs.table.size, 0);
});
