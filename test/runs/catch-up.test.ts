/** Late occurrences that are all to run: one behind the other, whatever the overlap policy, and over a restart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { RunEvent } from '../../src/actors/records.ts';
import { OverlapPolicy, type RunsTask, runsByteLimits } from '../../src/actors/runs/index.ts';
import { type Keeper, keeper } from './keeper.ts';
import { type Setup, setup, taskSpec } from './runs-setup.ts';

const POLICIES = Object.values(OverlapPolicy);
/** All but the one that is for runs beside each other. */
const IN_TURN = POLICIES.filter((overlap) => overlap !== 'allow');

const FAILED = { code: 'handler-failed', message: 'no' } as const;

/** So many late occurrences of one task, as a scheduler gives them out. */
function late(runs: Setup['runs'], count: number, from = 1): string[] {
  const ids = Array.from({ length: count }, (_, index) => `a@${from + index}`);
  for (const [index, id] of ids.entries())
    runs.due({ task: 'a', id, dueAtMs: from + index, origin: 'schedule', catchUp: true });
  return ids;
}

const regular = (runs: Setup['runs'], id: string) =>
  runs.due({ task: 'a', id, dueAtMs: 1000, origin: 'schedule' });

/** What the pool holds, one run at a time; each ends well. */
async function workOff({ pool, finish, settle }: Setup): Promise<string[]> {
  const order: string[] = [];
  for (; pool.held.size > 0; await settle()) {
    const [run, another] = pool.held.keys();
    assert.equal(another, undefined, 'none beside another');
    order.push(run!);
    finish(run!);
  }
  return order;
}

for (const overlap of IN_TURN) {
  test(`${overlap}: late occurrences run one behind the other, the oldest first, all of them`, async () => {
    const s = setup([taskSpec({ name: 'a', overlap })], { slots: 9 });
    const ids = late(s.runs, 5);
    assert.deepEqual([[...s.pool.held.keys()], s.depth('delayed')], [[ids[0]], 4]);
    await s.settle();
    assert.deepEqual(await workOff(s), ids);
    for (const id of ids) assert.equal(s.states(id).at(-1), 'success');
    assert.deepEqual(s.pool.aborted, []);
    assert.equal(s.runs.table.size, 0);
    // And the next one is an occurrence as any other.
    regular(s.runs, 'a@9');
    assert.ok(s.pool.held.has('a@9'));
  });
}

test('allow: late occurrences run beside each other', () => {
  const { runs, pool } = setup([taskSpec({ name: 'a', overlap: 'allow' })], { slots: 9 });
  const ids = late(runs, 3);
  assert.deepEqual([...pool.held.keys()], ids);
});

test('a run that was live before the catch-up: overlap decides, of the first one and with it of all', async () => {
  for (const [overlap, live, ends] of [
    ['skip', 'success', ['skipped', 'skipped', 'skipped']],
    ['queue-one', 'success', ['success', 'success', 'success']],
    ['queue-all', 'success', ['success', 'success', 'success']],
    ['cancel-running', 'cancelled', ['success', 'success', 'success']],
  ] as const) {
    const s = setup([taskSpec({ name: 'a', overlap })], { slots: 9 });
    const answer = s.trigger('a');
    await s.settle();
    const { run } = answer.value as { run: string };
    const ids = late(s.runs, 3);
    assert.deepEqual([...s.pool.held.keys()], [run], overlap);
    const aborted = overlap === 'cancel-running';
    assert.deepEqual(s.pool.aborted, aborted ? [run] : [], overlap);
    s.finish(run, { status: aborted ? 'cancelled' : 'success' });
    await s.settle();
    await workOff(s);
    const states = [run, ...ids].map((id) => s.states(id).at(-1));
    assert.deepEqual(states, [live, ...ends], overlap);
  }
});

test('cancel-running: what waits for a slot before the catch-up is cancelled, and the first of it goes at once', async () => {
  const s = setup([taskSpec({ name: 'a', overlap: 'cancel-running' })], { slots: 0 });
  s.trigger('a');
  const ids = late(s.runs, 3);
  s.pool.slots = 9;
  s.pool.wake();
  assert.deepEqual(await workOff(s), ids);
});

test('while a catch-up is worked off, another occurrence is judged by overlap as ever', async () => {
  for (const [overlap, state] of [
    ['skip', 'skipped'],
    ['queue-one', 'skipped'],
    ['queue-all', 'success'],
    ['cancel-running', 'skipped'],
  ] as const) {
    const s = setup([taskSpec({ name: 'a', overlap })], { slots: 9 });
    const ids = late(s.runs, 3);
    regular(s.runs, 'a@regular');
    await s.settle();
    const order = await workOff(s);
    assert.deepEqual(order, state === 'success' ? [...ids, 'a@regular'] : ids, overlap);
    assert.equal(s.states('a@regular').at(-1), state, overlap);
  }
});

test('a second catch-up waits for the first one, also where the newest of that was cancelled', async () => {
  for (const overlap of IN_TURN) {
    const s = setup([taskSpec({ name: 'a', overlap })], { slots: 9 });
    const first = late(s.runs, 3);
    s.runs.cancel(first[2]!);
    const second = late(s.runs, 2, 10);
    await s.settle();
    assert.deepEqual(await workOff(s), [...first.slice(0, 2), ...second], overlap);
  }
});

test('one that fails has its retries before the next one begins', async () => {
  const s = setup([taskSpec({ name: 'a', overlap: 'skip', maxRetry: 1 })], { slots: 9 });
  const [first, second] = late(s.runs, 2);
  s.finish(first!, { status: 'failed', error: FAILED });
  assert.equal(s.pool.active, 0);
  await s.clock.advance(1000);
  assert.deepEqual([...s.pool.held.keys()], [first]);
  s.finish(first!, { status: 'failed', error: FAILED });
  assert.deepEqual([...s.pool.held.keys()], [second], 'and one that is given up makes room as well');
  assert.equal(s.depth('dead-letter'), 1);
});

test('those that wait are bounded as the delayed queue is: the newest have no room, and are noted', async () => {
  const s = setup([taskSpec({ name: 'a', overlap: 'skip' })], { queues: { delayed: { capacity: 2 } } });
  const ids = late(s.runs, 5);
  assert.deepEqual([s.depth('delayed'), s.rejected('delayed')], [2, 2]);
  await s.settle();
  await workOff(s);
  const states = ids.map((id) => s.states(id).at(-1));
  assert.deepEqual(states, ['success', 'success', 'success', 'skipped', 'skipped']);
  assert.equal(s.events.find((event) => event.state === 'skipped')?.error?.code, 'queue-full');
});

for (const whenFull of ['block', 'reject', 'drop-oldest', 'drop-newest'] as const) {
  test(`a full ready queue that answers ${whenFull}: those that wait have their turn when there is room`, async () => {
    const s = setup([taskSpec({ name: 'a', overlap: 'skip' }), taskSpec({ name: 'b' })], {
      slots: 0,
      queues: { ready: { capacity: 1, whenFull } },
    });
    const ids = late(s.runs, 3);
    s.trigger('b');
    s.trigger('b');
    assert.ok(s.depth('ready') <= 1);
    s.pool.slots = 1;
    s.pool.wake();
    await s.settle();
    const order = (await workOff(s)).filter((id) => id.startsWith('a'));
    // The oldest makes room for a newer one of another task; those behind it were accepted, and wait for room.
    assert.deepEqual(order, whenFull === 'drop-oldest' ? ids.slice(1) : ids);
    assert.equal(s.runs.table.size, 0);
  });
}

test('while the journal is blocked: all of a catch-up wait, and go on behind each other', async () => {
  const s = setup([taskSpec({ name: 'a', overlap: 'skip' }), taskSpec({ name: 'b' })], {
    slots: 1,
    acknowledge: false,
    byteLimits: { ...runsByteLimits(40 * 2 ** 20), journal: 1000 },
  });
  for (let count = 0; count < 9; count++) s.trigger('b');
  const ids = late(s.runs, 4);
  assert.equal(s.runs.table.get(ids[0]!), undefined);
  await s.settle();
  s.runs.journal.recorded(Number.MAX_SAFE_INTEGER);
  assert.deepEqual(
    ids.map((id) => s.runs.table.get(id)?.state),
    ['ready', 'pending', 'pending', 'pending'],
  );
});

// — over a restart

/** A daemon with a store that outlives it: restarted, another one takes over what the store has. */
class Lives {
  readonly clock = new TestClock();
  readonly store: Keeper = keeper();
  readonly spec: RunsTask;
  readonly slots: number;
  /** Beginnings and ends of runs that the store was told of, over all lives. */
  readonly events: RunEvent[] = [];
  now: Setup;
  /** Events that the store still takes; then the daemon is no more. */
  #left = Number.POSITIVE_INFINITY;

  constructor(spec: RunsTask, slots = 3) {
    this.spec = spec;
    this.slots = slots;
    this.now = this.#begin();
  }

  /** The daemon ends; of what it has not yet told the store, so many transitions come there. */
  async restart(told: number, spec = this.spec): Promise<void> {
    this.#left = told;
    await this.now.settle();
    this.now.runs.destroy();
    this.#left = Number.POSITIVE_INFINITY;
    this.now = this.#begin(spec);
    for (const run of this.store.unfinished(this.clock.wallMs())) this.now.runs.restore(run);
    const delayed = [...this.store.rows.values()].filter(
      ({ state, dueAtMs }) => state === 'pending' && dueAtMs > this.clock.wallMs(),
    );
    this.now.runs.restored(delayed.length);
    await this.now.settle();
  }

  #begin(spec = this.spec): Setup {
    const { clock, slots, store } = this;
    return setup([spec], { clock, slots, far: store.far, onBatch: (events) => this.#keep(events) });
  }

  #keep(events: readonly RunEvent[]): void {
    const kept = events.slice(0, this.#left);
    this.#left -= kept.length;
    this.store.keep(kept);
    this.events.push(...kept.map((event) => ({ ...event })));
  }
}

for (const overlap of IN_TURN) {
  test(`${overlap}: a daemon that comes after lets those that wait go on behind each other`, async () => {
    const lives = new Lives(taskSpec({ name: 'a', overlap }), 9);
    const ids = late(lives.now.runs, 4);
    await lives.restart(9);
    assert.deepEqual([...lives.now.pool.held.keys()], [ids[0]], 'the one that was interrupted');
    lives.now.finish(ids[0]!);
    await lives.now.settle();
    await lives.restart(0);
    assert.deepEqual([...lives.now.pool.held.keys()], [ids[1]]);
    // What came due while it was away is of the same catch-up.
    const missed = late(lives.now.runs, 2, 10);
    assert.deepEqual(await workOff(lives.now), [...ids.slice(1), ...missed]);
  });
}

test('a task that is away for one life of the daemon: its runs come back behind each other', async () => {
  const spec = taskSpec({ name: 'a', overlap: 'skip' });
  const lives = new Lives(spec, 9);
  const ids = late(lives.now.runs, 4);
  await lives.restart(9, taskSpec({ name: 'another' }));
  assert.equal(lives.now.runs.figures.orphaned, 4);
  await lives.restart(0, spec);
  assert.deepEqual([lives.now.runs.figures.orphaned, lives.now.depth('delayed')], [0, 3]);
  assert.deepEqual(await workOff(lives.now), ids);
  assert.equal(lives.now.runs.table.size, 0);
});

test('a daemon that comes after by a clock that is not set yet: none early, and none is lost or beside another', async () => {
  for (const overlap of IN_TURN) {
    const lives = new Lives(taskSpec({ name: 'a', overlap }), 9);
    const from = lives.clock.wallMs() - 10;
    const ids = late(lives.now.runs, 4, from);
    await lives.now.settle();
    const wrongMs = 50 * 365 * 86_400_000;
    lives.clock.stepWall(-wrongMs);
    await lives.restart(0);
    assert.deepEqual(await workOff(lives.now), ids.slice(0, 1), 'it had begun');
    await lives.clock.advance(60_000);
    assert.equal(lives.now.pool.active, 0);
    lives.clock.stepWall(wrongMs);
    await lives.clock.advance(15_000);
    assert.deepEqual(await workOff(lives.now), ids.slice(1), overlap);
  }
});

type Step =
  | { readonly do: 'finish'; readonly how: 'success' | 'failed' | 'interrupted' }
  | { readonly do: 'restart'; readonly told: number }
  | { readonly do: 'regular' | 'trigger' }
  | { readonly do: 'advance'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      how: fc.constantFrom('success', 'success', 'failed', 'interrupted'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), told: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('regular' as const, 'trigger' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(3000) }) },
);

test('any number of late occurrences, any policy, restarts at any point: none beside another, and each ends well once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...IN_TURN),
      fc.integer({ min: 1, max: 10 }),
      fc.boolean(),
      fc.array(step, { maxLength: 20 }),
      async (overlap, count, isFirst, steps) => {
        const spec = taskSpec({
          name: 'a',
          overlap,
          maxRetry: 9,
          backoff: { kind: 'scaled', baseMs: 500, capMs: 500 },
        });
        const lives = new Lives(spec);
        /** How often a run has lost its host: the budget of that is not what this is about. */
        const lost = new Map<string, number>();
        if (!isFirst) lives.now.trigger('a');
        if (!isFirst) await lives.now.settle();
        const ids = late(lives.now.runs, count);
        let others = 0;

        const assertAlone = (): void => {
          const live = lives.now.runs.table.list({ task: 'a', state: null, limit: 1000 });
          const begun = live.filter(({ state }) => /^(?:ready|running|retrying|interrupted)$/.test(state));
          assert.ok(begun.length <= 1, begun.map(({ run, state }) => `${run} ${state}`).join());
          assert.ok(lives.now.pool.active <= 1);
        };
        const finish = (how: 'success' | 'failed' | 'interrupted'): void => {
          const [run] = lives.now.pool.held.keys();
          if (run === undefined) return;
          const times = (lost.get(run) ?? 0) + (how === 'interrupted' ? 1 : 0);
          const error = how === 'success' ? null : FAILED;
          lost.set(run, times);
          const { aborted } = lives.now.pool;
          if (aborted.includes(run)) lives.now.finish(run, { status: 'cancelled' });
          else lives.now.finish(run, times > 1 ? {} : { status: how, error });
        };
        const restart = async (told: number): Promise<void> => {
          await lives.restart(told);
          for (const run of lives.now.pool.held.keys()) lost.set(run, 2);
          // As a scheduler does: what the store knows nothing of came due while nobody looked.
          const handled = lives.store.handledMs.get('a') ?? 0;
          late(lives.now.runs, Math.max(0, count - handled), handled + 1);
          await lives.now.settle();
        };

        let restarts = 0;
        for (const action of steps) {
          if (action.do === 'restart') {
            // Twice at most: by more, a run has used up its budget of interruptions.
            if (restarts++ < 2) await restart(action.told);
          } else {
            // What a pool holds has been told of.
            await lives.now.settle();
            if (action.do === 'finish') finish(action.how);
            else if (action.do === 'advance') await lives.clock.advance(action.ms);
            else if (action.do === 'trigger') lives.now.trigger('a');
            else regular(lives.now.runs, `a@regular-${others++}`);
          }
          assertAlone();
        }
        for (let round = 0; round < 200 && lives.now.runs.table.size > 0; round++) {
          finish('success');
          await lives.clock.advance(1000);
          assertAlone();
        }
        assert.equal(lives.now.runs.table.size, 0, 'everything ends');
        const ends = (id: string) =>
          lives.events.filter(
            ({ run, state }) => run === id && /success|failed|skipped|cancelled/.test(state),
          );
        for (const id of ids) assert.equal(ends(id).length, 1, `${id} has one end`);
        // A run that was live before decides with `skip`; a newer one cancels the last of them with `cancel-running`.
        const isCancelled = overlap === 'cancel-running';
        if (overlap === 'skip' ? !isFirst : isCancelled) return;
        for (const id of ids) assert.equal(ends(id)[0]?.state, 'success', id);
      },
    ),
    { numRuns: 200 },
  );
});
