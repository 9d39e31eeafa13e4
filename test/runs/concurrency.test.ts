/** Bounds on runs at one time through all that a run can come to: retries, crashes, cancels, other bounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ExecuteOrder, Pool } from '../../src/actors/execution.ts';
import type { ErrorData } from '../../src/actors/kernel/errors.ts';
import type { StoredRun } from '../../src/actors/records.ts';
import { isTerminal, type RunsTask } from '../../src/actors/runs/index.ts';
import { byKey, NO_BOUNDS } from './queue-setup.ts';
import { FakeAnswer, FakePool, type Setup, setup, taskSpec } from './runs-setup.ts';

const TASKS: readonly RunsTask[] = [
  taskSpec({ name: 'free', maxRetry: 1 }),
  taskSpec({ name: 'a', group: 'g', maxRetry: 2 }),
  taskSpec({ name: 'b', group: 'g', priority: 3, bounds: { concurrency: 1, key: null } }),
  taskSpec({ name: 'k', maxRetry: 1, bounds: { concurrency: 3, key: byKey(1) } }),
];
const OPTIONS = {
  slots: 6,
  groups: { g: { concurrency: 2, rate: { count: 1, perMs: 50, burst: 2 } } },
  bounds: { concurrency: 5, ageingMs: 1000 },
  queues: { ready: { capacity: 50, whenFull: 'block' } },
} as const;

function expectBounds({ pool, runs }: Setup): void {
  const held = [...pool.held.values()];
  const of = (...names: string[]) => held.filter(({ task }) => names.includes(task));
  assert.ok(held.length <= 5, `${held.length} at once`);
  assert.ok(of('a', 'b').length <= 2, 'group');
  assert.ok(of('b').length <= 1, 'task');
  assert.ok(of('k').length <= 3, 'task with keys');
  const keys = of('k').map(({ input }) => input);
  assert.equal(new Set(keys).size, keys.length, 'one of each key');
  for (const { kind, active, concurrency } of runs.figures.bounds()) {
    if (kind !== 'key') assert.ok(active <= (concurrency ?? 99), `${kind} counts ${active}`);
  }
  const group = runs.figures.bounds().find(({ kind }) => kind === 'group')!;
  assert.equal(group.active, of('a', 'b').length);
}

/** What the journal would have of the runs that are not over. */
function leftBehind({ runs }: Setup): StoredRun[] {
  return runs.table
    .list({ task: null, state: null, limit: 1000 })
    .filter(({ state }) => !isTerminal(state))
    .reverse()
    .map(({ durationMs: _, endedAtMs: __, result: ___, progress: ____, dueAtMs, ...view }) => {
      return { ...view, dueAtMs: dueAtMs ?? 0, interruptions: 0, mark: null };
    });
}

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('trigger' as const), task: fc.nat(3), key: fc.nat(2) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      pick: fc.nat(50),
      status: fc.constantFrom('success', 'failed', 'interrupted', 'cancelled'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(3000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
);

test('any mix of triggers, ends, cancels, time and crashes: never above a bound, none lost, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 80, size: 'max' }), async (actions) => {
      let s = setup(TASKS, OPTIONS);
      const accepted = new Set<string>();
      const over = new Set<string>();
      /** First attempts by task and input, in the order they began. */
      const begun: string[] = [];
      const look = async (): Promise<void> => {
        await s.settle();
        expectBounds(s);
        for (const { run, state } of s.events) if (isTerminal(state)) over.add(run);
        for (const { run, attempt } of s.pool.taken.splice(0)) if (attempt === 1) begun.push(run);
      };
      let count = 0;
      for (const step of actions) {
        if (step.do === 'trigger') {
          const answer = s.trigger(TASKS[step.task]!.name, { payload: JSON.stringify({ key: step.key }) });
          await s.settle();
          if (answer.error === undefined) accepted.add((answer.value as { run: string }).run);
          count++;
        } else if (step.do === 'finish') {
          const run = [...s.pool.held.keys()][step.pick % Math.max(1, s.pool.active)];
          const error: ErrorData | null =
            step.status === 'success' ? null : { code: 'handler-failed', message: 'no' };
          if (run !== undefined) s.finish(run, { status: step.status, error });
        } else if (step.do === 'cancel') {
          const live = leftBehind(s);
          const view = live[step.pick % Math.max(1, live.length)];
          if (view !== undefined) s.runs.cancel(view.run);
        } else if (step.do === 'advance') await s.clock.advance(step.ms);
        else {
          const left = leftBehind(s);
          s.runs.destroy();
          s = setup(TASKS, OPTIONS);
          // Ids of triggers hold the instant they came: those of the next daemon are others.
          s.clock.stepWall(count);
          for (const stored of left) s.runs.restore(stored);
          s.runs.restored();
        }
        await look();
      }
      for (let round = 0; round < 500 && s.runs.figures.unfinished > 0; round++) {
        for (const run of [...s.pool.held.keys()]) s.finish(run);
        await s.clock.advance(1000);
        await look();
      }
      assert.equal(s.runs.figures.unfinished, 0, 'everything ends');
      for (const run of accepted) assert.ok(over.has(run), `${run} has an end`);
      assert.ok(s.runs.figures.bounds().every(({ active, held }) => active === 0 && held === 0));
      s.runs.destroy();
      assert.equal(s.clock.timers, 0);
    }),
    { numRuns: 60 },
  );
});

test('a retry counts for its group while it runs, not while it waits', async () => {
  const { pool, trigger, finish, clock } = setup([taskSpec({ name: 'a', group: 'g', maxRetry: 3 })], {
    slots: 9,
    groups: { g: { concurrency: 1 } },
  });
  trigger('a');
  trigger('a');
  const [first] = pool.held.keys();
  finish(first!, { status: 'failed', error: { code: 'handler-failed', message: 'no' } });
  const [second] = pool.held.keys();
  assert.notEqual(second, first);
  await clock.advance(2000);
  assert.deepEqual([...pool.held.keys()], [second], 'the retry is due, and stepped over');
  finish(second!);
  assert.deepEqual([...pool.held.keys()], [first]);
});

test('after a restart what was interrupted has freed its place, and what waited is held back again in its order', async () => {
  const s = setup([taskSpec({ name: 'a', group: 'g' })], { slots: 9, groups: { g: { concurrency: 2 } } });
  const stored = (run: string, state: StoredRun['state'], attempt = 0): StoredRun => {
    const times = { createdAtMs: 0, dueAtMs: 0, startedAtMs: null };
    const more = {
      interruptions: 0,
      origin: 'manual',
      input: '{}',
      mark: null,
      error: null,
      flow: null,
      note: null,
    } as const;
    return { run, task: 'a', state, attempt, attempts: [], ...times, ...more };
  };
  s.runs.restore(stored('a@1', 'running', 1));
  for (const id of [2, 3, 4]) s.runs.restore(stored(`a@${id}`, 'ready'));
  s.runs.restored();
  assert.deepEqual([...s.pool.held.keys()], ['a@1', 'a@2']);
  const [bound] = s.runs.figures.bounds();
  assert.deepEqual([bound?.active, bound?.held], [2, 2]);
  s.finish('a@1');
  assert.deepEqual([...s.pool.held.keys()], ['a@2', 'a@3']);
});

test('a run that is cancelled while it is held back leaves no trace in its bounds', async () => {
  const s = setup(TASKS.slice(3), { slots: 9 });
  const answers = ['x', 'x', 'y'].map((key) => s.trigger('k', { payload: JSON.stringify({ key }) }));
  await s.settle();
  const [, held] = answers.map(({ value }) => (value as { run: string }).run);
  assert.equal(s.pool.active, 2);
  const ofKey = () => s.runs.figures.bounds().find(({ kind }) => kind === 'key');
  assert.deepEqual([ofKey()?.active, ofKey()?.held], [2, 1]);
  s.runs.cancel(held!);
  assert.equal(ofKey()?.held, 0);
  for (const run of [...s.pool.held.keys()]) s.finish(run);
  assert.equal(ofKey(), undefined, 'no key is kept of which there is nothing');
});

test('groups that a reload takes away let go of what they held back, and nothing of it is lost', () => {
  const s = setup([taskSpec({ name: 'a', group: 'g' })], { slots: 9, groups: { g: { concurrency: 1 } } });
  for (let count = 0; count < 5; count++) s.trigger('a');
  assert.equal(s.pool.active, 1);
  s.runs.rebound({ ...NO_BOUNDS, groups: { g: { concurrency: 3 } } }, [taskSpec({ name: 'a', group: 'g' })]);
  assert.equal(s.pool.active, 3);
  s.runs.rebound(NO_BOUNDS, [taskSpec({ name: 'a' }), taskSpec({ name: 'unknown' })]);
  assert.equal(s.pool.active, 5);
  s.runs.rebound({ ...NO_BOUNDS, concurrency: 2 }, [taskSpec({ name: 'a', priority: 3 })]);
  s.trigger('a');
  for (const run of [...s.pool.held.keys()].slice(0, 3)) s.finish(run);
  assert.equal(s.pool.active, 2, 'not before fewer run than the new bound');
  for (const run of [...s.pool.held.keys()]) s.finish(run);
  assert.equal(s.pool.active, 1);
});

/** Fills its slots at the end of the turn, as the real ones do. */
class TurnPool extends FakePool implements Pool {
  /** So often it takes nothing when it is woken: its share of the turn is used up, its thread is just starting. */
  leaves = 0;
  #isPlanned = false;

  override wake(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      if (this.leaves-- <= 0) super.wake();
    });
  }
}

const SHARED_BOUNDS = [
  { groups: { g: { concurrency: 1 } } },
  { groups: { g: { rate: { count: 1, perMs: 10, burst: 1 } } } },
  { bounds: { concurrency: 1, ageingMs: 60_000 } },
];

// In both orders: one of the two is always woken first.
for (const [hungry, patient] of [
  ['cpu', 'io'],
  ['io', 'cpu'],
] as const) {
  test(`${hungry}, which always has work, does not take every place of a bound that ${patient} waits for`, async () => {
    for (const [shared, leaves] of SHARED_BOUNDS.flatMap((bounds) =>
      [0, 3, 4, 5, 6, 7].map((n) => [bounds, n] as const),
    )) {
      const tasks = [
        taskSpec({ name: 'cpu', kind: 'cpu', pool: 'cpu', group: 'g' }),
        taskSpec({ name: 'io', group: 'g' }),
      ];
      const s = setup(tasks, { slots: 0, groups: {}, ...shared });
      const poolOf = (name: 'cpu' | 'io') => new TurnPool(name, 4, s.runs.source(name));
      const [busy, other] = [poolOf(hungry), poolOf(patient)];
      other.leaves = leaves;
      for (const pool of [busy, other]) s.runs.attachPool(pool);
      for (let count = 0; count < 3; count++) s.trigger(hungry);
      s.trigger(patient);
      for (let ended = 0; other.active === 0; ended++) {
        assert.ok(ended < 15, `those before it, and ${leaves} that it left`);
        s.trigger(hungry);
        await s.clock.advance(10);
        for (const { run, attempt } of [...busy.held.values()]) {
          busy.held.delete(run);
          const end = {
            status: 'success',
            result: null,
            error: null,
            durationMs: 1,
            retryable: true,
          } as const;
          s.runs.outcome({ run, attempt, ...end });
        }
        await s.settle();
      }
      s.runs.destroy();
    }
  });
}

const SCANNED = taskSpec({ name: 'files', scanJson: '{"root":"/"}' });
const found = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ mark: `${from + index}`.padStart(16, '0'), input: '{}' }));

test('above the high watermark sources wait, below the low one they go on; both are told and counted', async () => {
  const told: (readonly [string, boolean])[] = [];
  const s = setup([SCANNED, taskSpec({ name: 'other' })], {
    slots: 0,
    queues: { ready: { capacity: 20, whenFull: 'block', watermarks: { high: 0.5, low: 0.25 } } },
    onPressure: (queue, isHigh) => told.push([queue, isHigh]),
  });
  const scans = new FakePool('scan', 2, s.runs.source('scan'));
  s.runs.attachPool(scans);
  const answer = new FakeAnswer();
  s.runs.offer({ task: 'files', items: found(0, 15) }, answer);
  assert.deepEqual([s.depth('ready'), answer.settled], [10, false]);
  assert.deepEqual(told, [['ready', true]]);
  s.runs.due({ task: 'files', id: 'files@1', dueAtMs: 1, origin: 'schedule' });
  assert.equal(scans.active, 0, 'no scan begins');
  for (let count = 0; count < 10; count++) s.trigger('other');
  assert.equal(s.depth('ready'), 20, 'the room above it is for others');
  const take = (count: number): void => {
    s.pool.slots += count;
    s.pool.wake();
  };
  take(15);
  assert.deepEqual([s.depth('ready'), answer.settled, scans.active], [5, true, 1]);
  assert.deepEqual(told, [
    ['ready', true],
    ['ready', false],
  ]);
  assert.deepEqual(s.runs.figures.pressures()[0], { queue: 'ready', isHigh: false, rises: 1 });
});

test('a retry queue that is nearly full makes scans wait, and nobody else', async () => {
  const told: (readonly [string, boolean, number])[] = [];
  const s = setup([SCANNED, taskSpec({ name: 'other', maxRetry: 5 })], {
    slots: 20,
    queues: { retry: { capacity: 10 } },
    onPressure: (queue, isHigh, share) => told.push([queue, isHigh, share]),
  });
  const scans = new FakePool('scan', 2, s.runs.source('scan'));
  s.runs.attachPool(scans);
  const error = { code: 'handler-failed', message: 'no luck' } as const;
  const failOne = async (): Promise<void> => {
    s.trigger('other');
    await s.settle();
    s.finish(s.pool.taken.at(-1)!.run, { status: 'failed', error });
    await s.clock.advance(10);
  };
  for (let count = 0; count < 8; count++) await failOne();
  assert.deepEqual(told, []);
  await failOne();
  assert.deepEqual(told, [['retry', true, 0.9]]);
  const answer = new FakeAnswer();
  s.runs.offer({ task: 'files', items: found(0, 3) }, answer);
  s.runs.due({ task: 'files', id: 'files@1', dueAtMs: 1, origin: 'schedule' });
  s.trigger('other');
  assert.deepEqual([answer.settled, scans.active, s.pool.active], [false, 0, 1]);
  // A run that is cancelled makes room as one that is due does: nine, eight, seven.
  s.runs.cancel(s.pool.taken[0]!.run);
  assert.deepEqual([s.depth('retry'), answer.settled], [8, false]);
  await s.clock.advance(925);
  assert.deepEqual(told.at(-1), ['retry', false, 0.7]);
  assert.deepEqual([answer.settled, scans.active], [true, 1]);
  const view = s.runs.figures.pressures().find(({ queue }) => queue === 'retry');
  assert.deepEqual(view, { queue: 'retry', isHigh: false, rises: 1 });
});

test('a retry queue has room again when a run of it is due, or is cancelled, whether a pool asks or not', async () => {
  for (const isCancelled of [true, false]) {
    const told: boolean[] = [];
    const s = setup([SCANNED, taskSpec({ name: 'other', maxRetry: 5 })], {
      slots: 3,
      queues: { retry: { capacity: 3 } },
      onPressure: (_, isHigh) => told.push(isHigh),
    });
    for (let count = 0; count < 3; count++) s.trigger('other');
    const runs = [...s.pool.held.keys()];
    for (const run of runs) {
      s.finish(run, { status: 'failed', error: { code: 'handler-failed', message: 'no luck' } });
    }
    const answer = new FakeAnswer();
    s.runs.offer({ task: 'files', items: found(0, 1) }, answer);
    s.pool.slots = 0;
    assert.deepEqual([told, answer.settled], [[true], false]);
    if (isCancelled) s.runs.cancel(runs[0]!);
    else await s.clock.advance(5000);
    assert.deepEqual([told, answer.settled], [[true, false], true]);
  }
});

test('a retry queue whose runs hold as many bytes as they may is nearly full', () => {
  const told: string[] = [];
  const limits = { ready: 1e9, retry: 1000, delayed: 1e9, deadLetters: 1e9, journal: 1e9 };
  const s = setup([taskSpec({ name: 'other', maxRetry: 5 })], {
    byteLimits: limits,
    onPressure: (queue) => told.push(queue),
  });
  s.trigger('other', { payload: JSON.stringify('x'.repeat(2000)) });
  assert.deepEqual(told, [], 'none of it waits to be tried again');
  const [run] = s.pool.held.keys();
  s.finish(run!, { status: 'failed', error: { code: 'handler-failed', message: 'no luck' } });
  assert.deepEqual(told, ['retry']);
});

test('scans do not wait for room that they take themselves', () => {
  const s = setup(
    [1, 2, 3, 4].map((n) => ({ ...SCANNED, name: `files${n}` })),
    { queues: { ready: { capacity: 2, whenFull: 'block' } } },
  );
  for (let n = 1; n <= 4; n++)
    s.runs.due({ task: `files${n}`, id: `files${n}@1`, dueAtMs: 1, origin: 'schedule' });
  const scans = new FakePool('scan', 1, s.runs.source('scan'));
  s.runs.attachPool(scans);
  for (let n = 1; n <= 4; n++) {
    scans.wake();
    const { run, attempt } = [...scans.held.values()][0] as ExecuteOrder;
    scans.held.delete(run);
    const end = { status: 'success', result: null, error: null, durationMs: 1, retryable: true } as const;
    s.runs.outcome({ run, attempt, ...end });
  }
  assert.equal(scans.taken.length, 4);
});

test('a journal that is behind stops the pools, and they go on when it has caught up with a quarter', async () => {
  const told: boolean[] = [];
  const s = setup([taskSpec({ name: 'a' })], {
    slots: 1000,
    acknowledge: false,
    byteLimits: { ready: 1e9, retry: 1e9, delayed: 1e9, deadLetters: 1e9, journal: 10_000 },
    onPressure: (queue, isHigh) => queue === 'journal' && told.push(isHigh),
  });
  for (let count = 0; count < 60; count++) s.trigger('a');
  const { unrecorded } = s.runs.journal;
  assert.deepEqual(told, [true]);
  const taken = s.pool.taken.length;
  assert.ok(taken < 60);
  await s.settle();
  s.runs.journal.recorded(Math.floor(unrecorded / 10));
  assert.deepEqual([told, s.pool.taken.length], [[true], taken]);
  s.runs.journal.recorded(unrecorded);
  assert.deepEqual(told.slice(0, 2), [true, false]);
  assert.ok(s.pool.taken.length > taken);
});

test('a pool that leaves the run it was told of does not hold up the others', async () => {
  const s = setup([taskSpec({ name: 'cpu', kind: 'cpu', pool: 'cpu' }), taskSpec({ name: 'io' })], {
    slots: 0,
    bounds: { concurrency: 1, ageingMs: 60_000 },
  });
  class Stuck extends FakePool {
    override wake(): void {}
  }
  s.runs.attachPool(new Stuck('cpu', 4, s.runs.source('cpu')));
  const io = new TurnPool('io', 4, s.runs.source('io'));
  s.runs.attachPool(io);
  s.trigger('cpu');
  s.trigger('io');
  await s.settle();
  assert.equal(io.active, 1);
});
