/** The ready queue against a plain list that looks at every run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PoolName } from '../../src/actors/execution.ts';
import type { Bounds, RateSpec } from '../../src/actors/runs/bounds.ts';
import { LinkedList } from '../../src/actors/runs/linked-list.ts';
import type { Run } from '../../src/actors/runs/run.ts';
import type { TaskState } from '../../src/actors/runs/task-state.ts';
import { byKey, NO_BOUNDS, queueSetup, taskOf } from './queue-setup.ts';

const POOLS = ['io', 'cpu'] as const satisfies readonly PoolName[];

/** A bucket with tokens: another way to say the same as `RateLimit`. */
class Bucket {
  readonly #spec: RateSpec;
  #tokens = 1;
  #atMono: number;

  constructor(spec: RateSpec, nowMono: number) {
    this.#spec = spec;
    this.#atMono = nowMono;
  }

  has(nowMono: number): boolean {
    const { count, perMs, burst } = this.#spec;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMono - this.#atMono) * count) / perMs);
    this.#atMono = nowMono;
    return this.#tokens >= 1 - 1e-9;
  }

  take(): void {
    this.#tokens -= 1;
  }
}

/** Every bound as its sentence says it, by looking at all runs. */
class Model {
  readonly bounds: Bounds;
  readonly ready: Run[] = [];
  readonly running: Run[] = [];
  readonly #buckets = new Map<string, Bucket>();

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    for (const [name, { rate }] of Object.entries(bounds.groups)) {
      if (rate !== undefined) this.#buckets.set(name, new Bucket(rate, 0));
    }
  }

  rank(run: Run): number {
    return run.readyMono - run.priority * this.bounds.ageingMs;
  }

  mayBegin(run: Run, nowMono: number): boolean {
    const { concurrency: all, groups } = this.bounds;
    const { group, bounds } = run.task.spec;
    const { running } = this;
    if (all !== null && running.length >= all) return false;
    const limits = group === null ? undefined : groups[group];
    if (limits?.concurrency !== undefined) {
      if (running.filter((other) => other.task.spec.group === group).length >= limits.concurrency)
        return false;
    }
    if (group !== null && this.#buckets.get(group)?.has(nowMono) === false) return false;
    const own = running.filter((other) => other.task === run.task);
    if (bounds?.concurrency != null && own.length >= bounds.concurrency) return false;
    const key = bounds?.key;
    return key == null || own.filter((other) => other.input === run.input).length < key.concurrency;
  }

  take(run: Run): void {
    this.ready.splice(this.ready.indexOf(run), 1);
    this.running.push(run);
    this.#buckets.get(run.task.spec.group ?? '')?.take();
  }
}

function tasks(): TaskState[] {
  return [
    taskOf({ name: 'free' }),
    taskOf({ name: 'urgent', priority: 2 }),
    taskOf({ name: 'grouped', group: 'g' }),
    taskOf({ name: 'low', group: 'g', priority: -1 }),
    taskOf({ name: 'rated', group: 'r' }),
    taskOf({ name: 'few', group: 'g', bounds: { concurrency: 1, key: null } }),
    taskOf({ name: 'keyed', group: 'r', bounds: { concurrency: null, key: byKey(1) } }),
    taskOf({ name: 'both', pool: 'cpu', kind: 'cpu', bounds: { concurrency: 3, key: byKey(2) } }),
    taskOf({ name: 'across', pool: 'cpu', kind: 'cpu', group: 'g', priority: 1 }),
  ];
}

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('push' as const),
      task: fc.nat(8),
      key: fc.nat(3),
      // Of a step that has one of its own.
      priority: fc.option(fc.integer({ min: -2, max: 2 }), { nil: null }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const), pool: fc.constantFrom(...POOLS) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), pick: fc.nat(99) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(400) }) },
);
const limit = fc.option(fc.integer({ min: 1, max: 4 }), { nil: null });

test('any groups, tasks, keys, rates and priorities: what is taken is the best of those that no bound holds back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 120, size: 'max' }),
      fc.record({ all: limit, group: fc.integer({ min: 1, max: 3 }), burst: fc.integer({ min: 1, max: 3 }) }),
      async (actions, { all, group, burst }) => {
        const bounds: Bounds = {
          concurrency: all,
          groups: { g: { concurrency: group }, r: { rate: { count: 1, perMs: 100, burst } } },
          ageingMs: 150,
        };
        const model = new Model(bounds);
        const { clock, queue, push } = queueSetup(bounds);
        const all9 = tasks();
        const begin = (pool: PoolName): Run | null => {
          const fit = model.ready.filter((run) => run.pool === pool && model.mayBegin(run, clock.monoMs()));
          const best = Math.min(...fit.map((run) => model.rank(run)));
          const peeked = queue.peek(pool);
          const run = queue.take(pool);
          assert.equal(run, peeked);
          assert.equal(run === null, fit.length === 0, 'taken only if one may begin, and then');
          if (run === null) return null;
          assert.ok(fit.includes(run), `${run.id} is held back`);
          assert.equal(model.rank(run), best, 'the best one');
          model.take(run);
          return run;
        };
        const end = (run: Run): void => {
          model.running.splice(model.running.indexOf(run), 1);
          queue.release(run);
        };
        for (const step of actions) {
          if (step.do === 'push') model.ready.push(push(all9[step.task]!, `${step.key}`, step.priority));
          else if (step.do === 'take') begin(step.pool);
          else if (step.do === 'advance') {
            await clock.advance(step.ms);
            for (const { kind, name, active } of queue.view()) {
              if (kind !== 'task' && kind !== 'key') continue;
              const own = model.running.filter((run) => run.task.spec.name === name);
              assert.equal(active, own.length, `${kind} ${name}`);
            }
          } else if (step.do === 'end') {
            const run = model.running[step.pick % Math.max(1, model.running.length)];
            if (run !== undefined) end(run);
          } else if (model.ready.length > 0) {
            const [run] = model.ready.splice(step.pick % model.ready.length, 1);
            queue.remove(run!);
          }
          assert.equal(queue.depth, model.ready.length);
        }
        for (let round = 0; model.ready.length > 0 && round < 500; round++) {
          for (const run of [...model.running]) end(run);
          for (const pool of POOLS) while (begin(pool) !== null);
          await clock.advance(100);
        }
        assert.equal(model.ready.length, 0, 'none is left behind');
        for (const run of [...model.running]) end(run);
        assert.ok(queue.view().every(({ active, held }) => active === 0 && held === 0));
        queue.close();
        assert.equal(clock.timers, 0);
      },
    ),
    { numRuns: 150 },
  );
});

test('more keys than have lanes of their own: no bound is exceeded, each key keeps its order, none is lost', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ push: fc.boolean(), key: fc.nat(9), pick: fc.nat(99) }), {
        maxLength: 150,
        size: 'max',
      }),
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 1, max: 2 }),
      (steps, maxKeys, perKey) => {
        const { queue, push } = queueSetup({}, { maxKeys });
        const task = taskOf({ name: 'keyed', bounds: { concurrency: null, key: byKey(perKey) } });
        const pushed: Run[] = [];
        const taken: Run[] = [];
        let running: Run[] = [];
        const takeAll = (): void => {
          for (let run = queue.take('io'); run !== null; run = queue.take('io')) {
            taken.push(run);
            running.push(run);
            const same = running.filter(({ input }) => input === run?.input).length;
            assert.ok(same <= perKey, `${same} of one key`);
          }
        };
        const end = (run: Run | undefined): void => {
          if (run === undefined) return;
          running = running.filter((other) => other !== run);
          queue.release(run);
        };
        for (const { push: isPush, key, pick } of steps) {
          if (isPush) pushed.push(push(task, `${key}`));
          else end(running[pick % Math.max(1, running.length)]);
          takeAll();
        }
        while (running.length > 0) {
          end(running[0]);
          takeAll();
        }
        assert.equal(taken.length, pushed.length);
        for (let key = 0; key < 10; key++) {
          const input = JSON.stringify({ key: `${key}` });
          const of = (runs: Run[]): string[] => runs.filter((run) => run.input === input).map(({ id }) => id);
          assert.deepEqual(of(taken), of(pushed));
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('a key that is over leaves its lane to another one', () => {
  const { queue, push } = queueSetup({}, { maxKeys: 2 });
  const task = taskOf({ name: 'keyed', bounds: { concurrency: null, key: byKey(1) } });
  const shared = queueSetup({}, { maxKeys: 0 });
  /** Whether two keys share a lane where none has one of its own. */
  const meet = (one: string, two: string): boolean => {
    const runs = [shared.push(task, one), shared.push(task, two)];
    const taken = runs.map(() => shared.queue.take('io'));
    for (const run of taken) if (run !== null) shared.queue.release(run);
    const left = shared.queue.take('io');
    if (left !== null) shared.queue.release(left);
    return left !== null;
  };
  const other = Array.from({ length: 1000 }, (_, index) => `k${index}`).find((key) => meet('a', key))!;
  for (const [first, second] of [
    ['x', 'y'],
    ['a', other],
    ['y', 'x'],
    ['a', other],
  ] as const) {
    push(task, first);
    queue.remove(push(task, second));
    push(task, second);
    for (const run of [queue.take('io'), queue.take('io')]) {
      assert.ok(run, 'each has a lane');
      queue.release(run);
    }
  }
  assert.deepEqual(queue.view(), [], 'no key is kept of which there is nothing');
  assert.deepEqual(shared.queue.view(), [], 'nor a lane that keys have shared');
});

test('a key whose last run is taken out while it waits is kept no longer, with a lane of its own or not', () => {
  const task = taskOf({ name: 'keyed', bounds: { concurrency: null, key: byKey(1) } });
  for (const maxKeys of [0, 1]) {
    const { queue, push } = queueSetup({}, { maxKeys });
    for (const key of ['x', 'y', 'z']) {
      const run = push(task, key);
      assert.equal(queue.keys, maxKeys);
      queue.remove(run);
      assert.deepEqual([queue.keys, queue.view()], [0, []]);
    }
  }
});

test('a run that several bounds hold back counts for the outermost alone', () => {
  const { queue, push } = queueSetup({ concurrency: 1, groups: { g: { concurrency: 1 } } });
  const task = taskOf({ name: 'a', group: 'g', bounds: { concurrency: 1, key: byKey(1) } });
  for (let count = 0; count < 3; count++) push(task, 'x');
  queue.take('io');
  assert.deepEqual(
    queue.view().map(({ kind, active, held }) => [kind, active, held]),
    [
      ['all', 1, 2],
      ['group', 1, 0],
      ['task', 1, 0],
      ['key', 1, 0],
    ],
  );
});

test('bounds set anew leave no timer of the old ones', () => {
  const rate = { count: 1, perMs: 1000, burst: 1 };
  const { clock, queue, push } = queueSetup({ groups: { g: { rate } } });
  const task = taskOf({ name: 'a', group: 'g' });
  for (let count = 0; count < 2; count++) push(task);
  queue.take('io');
  assert.equal(clock.timers, 1);
  queue.rebound({ ...NO_BOUNDS, groups: { g: { concurrency: 5 } } }, []);
  assert.equal(clock.timers, 0);
});

/** How often the head of a list is looked at meanwhile. */
function looksAtHeads(work: () => void): number {
  const own = Object.getOwnPropertyDescriptor(LinkedList.prototype, 'head')!;
  let looks = 0;
  Object.defineProperty(LinkedList.prototype, 'head', {
    ...own,
    get() {
      looks++;
      return own.get!.call(this);
    },
  });
  try {
    work();
  } finally {
    Object.defineProperty(LinkedList.prototype, 'head', own);
  }
  return looks;
}

test('what is held back is not looked at: a run is taken as fast beside 10,000 of them as beside 10', () => {
  const looks = [10, 100, 1000, 10_000].map((held) => {
    const { queue, push } = queueSetup({
      groups: { g: { concurrency: 1 }, r: { rate: { count: 1, perMs: 1e6, burst: 1 } } },
    });
    const [free, grouped, rated] = [
      taskOf({ name: 'free' }),
      taskOf({ name: 'grouped', group: 'g', priority: 5, bounds: { concurrency: null, key: byKey(1) } }),
      taskOf({ name: 'rated', group: 'r', priority: 5 }),
    ];
    for (const task of [grouped!, rated!]) {
      for (let index = 0; index < held / 2 + 1; index++) push(task, `${index % 1000}`);
      queue.take('io');
    }
    for (let count = 0; count < 20; count++) push(free!);
    return looksAtHeads(() => {
      for (let count = 0; count < 20; count++) {
        const run = queue.take('io')!;
        assert.equal(run.task, free);
        queue.release(run);
      }
    });
  });
  assert.ok(
    looks.every((count) => count === looks[0]),
    looks.join(', '),
  );
});

test('a group that gets a place gives it to the next one, however many keys wait in it', () => {
  const looks = [10, 1000].map((keys) => {
    const { queue, push } = queueSetup({ groups: { g: { concurrency: 1 } } });
    const task = taskOf({ name: 'keyed', group: 'g', bounds: { concurrency: null, key: byKey(1) } });
    for (let key = 0; key < keys; key++) push(task, `${key}`);
    let last = queue.take('io')!;
    return looksAtHeads(() => {
      for (let count = 1; count < 10; count++) {
        queue.release(last);
        last = queue.take('io')!;
        assert.equal(last.input, JSON.stringify({ key: `${count}` }));
        assert.equal(queue.take('io'), null);
      }
    });
  });
  assert.equal(looks[0], looks[1]);
});

test('F5: one of low priority begins although those of high priority never end to come, after a bounded number of them', async () => {
  const { clock, queue, push } = queueSetup({ ageingMs: 1000 });
  const high = taskOf({ name: 'high', priority: 7 });
  const low = push(taskOf({ name: 'low', priority: -3 }));
  let passed = 0;
  for (push(high); queue.peek('io') !== low; passed++) {
    queue.release(queue.take('io')!);
    await clock.advance(10);
    push(high);
    assert.ok(passed <= 1000, 'ten steps of priority, a second each, one run every 10 ms');
  }
  assert.equal(passed, 1001, 'those that came until then, and the first');
});

test('among runs of one priority the longest waiting goes first, in whatever lanes they stand', () => {
  const { queue, push } = queueSetup({ groups: { a: { concurrency: 99 }, b: { concurrency: 99 } } });
  const lanes = [
    taskOf({ name: 'plain' }),
    taskOf({ name: 'a', group: 'a' }),
    taskOf({ name: 'b', group: 'b', bounds: { concurrency: 99, key: byKey(99) } }),
  ];
  const pushed = Array.from({ length: 30 }, (_, index) => push(lanes[(index * 7) % 3]!, `${index % 4}`).id);
  const taken = pushed.map(() => queue.take('io')?.id);
  assert.deepEqual(taken, pushed);
});

test('the oldest of the lowest priority is the one to be dropped, also when a bound holds it back', () => {
  const { queue, push } = queueSetup({ groups: { g: { concurrency: 1 } } });
  push(taskOf({ name: 'first', priority: 1 }));
  const grouped = taskOf({ name: 'grouped', group: 'g' });
  push(grouped);
  assert.equal(queue.take('io')?.id, 'first@0');
  assert.equal(queue.take('io')?.task, grouped);
  const held = push(grouped);
  push(taskOf({ name: 'later' }));
  assert.equal(queue.oldest(), held);
});

test('bounds set anew: what waits keeps its place, what runs counts, a smaller bound is reached from above', () => {
  const { queue, push } = queueSetup({ groups: { g: { concurrency: 3 } } });
  const task = taskOf({ name: 'a', group: 'g' });
  const runs = Array.from({ length: 9 }, () => push(task));
  const running = [1, 2, 3].map(() => queue.take('io')!);
  assert.deepEqual(queue.take('io'), null);
  const held = () => queue.view().find(({ kind }) => kind === 'group');
  assert.deepEqual([held()?.active, held()?.held], [3, 6]);
  queue.rebound({ ...NO_BOUNDS, groups: { g: { concurrency: 1 } } }, running);
  assert.deepEqual([held()?.active, held()?.concurrency, held()?.held], [3, 1, 6]);
  for (const run of running.slice(0, 2)) queue.release(run);
  assert.equal(queue.take('io'), null, 'one runs still');
  queue.release(running[2]!);
  assert.equal(queue.take('io'), runs[3]);
  // The group is gone, and its tasks with it are free.
  task.spec = { ...task.spec, group: null };
  queue.rebound(NO_BOUNDS, [runs[3]!]);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => queue.take('io')?.id),
    runs.slice(4).map(({ id }) => id),
  );
  assert.deepEqual([queue.depth, queue.view()], [0, []]);
});

test('a flow is behind no bound and counts for none: its steps would wait for it for ever', () => {
  const { queue, push } = queueSetup({ concurrency: 1 });
  const flow = push(taskOf({ name: 'flow', pool: 'flow' }));
  assert.equal(queue.take('flow'), flow);
  const [first, second] = [push(taskOf({ name: 'a' })), push(taskOf({ name: 'b' }))];
  const pool = first.pool;
  assert.equal(queue.take(pool), first);
  assert.equal(queue.take(pool), null, 'the bound is reached');
  const other = push(taskOf({ name: 'other', pool: 'flow' }));
  assert.equal(queue.take('flow'), other);
  queue.release(first);
  assert.equal(queue.take(pool), second);
  assert.deepEqual(
    queue.view().map(({ active, held }) => [active, held]),
    [[1, 0]],
  );
});
