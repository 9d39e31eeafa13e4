import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ErrorData } from '../../src/actors/kernel/errors.ts';
import type { ColibriError } from '../../src/actors/kernel/index.ts';
import type { OfferReply } from '../../src/actors/protocol.ts';
import {
  INTERRUPTION_BUDGET,
  isTerminal,
  MOST_INTERRUPTIONS,
  PAYLOAD_LIMIT,
  type RunState,
} from '../../src/actors/runs/index.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { FakeAnswer, FakePool, setup, taskSpec } from './runs-setup.ts';

const failed = { status: 'failed', error: { code: 'handler-failed', message: 'no' } } as const;

test('a trigger becomes ready, runs, succeeds, and its waiter sees the end', async () => {
  const { pool, trigger, finish, states, settle } = setup([taskSpec({ name: 'a' })]);
  const answer = trigger('a', { wait: true, payload: '{"x":1}' });
  const order = pool.taken[0]!;
  assert.equal(order.input, '{"x":1}');
  assert.equal(answer.settled, false);
  await settle();
  finish(order.run, { result: '7', durationMs: 12 });
  assert.equal(answer.settled, false, 'not before the end is kept');
  await settle();
  const { ended } = answer.value as { ended: RunView };
  assert.equal(ended.state, 'success');
  assert.equal(ended.result, '7');
  await settle();
  assert.deepEqual(states(order.run), ['running', 'success']);
});

test('who asks later waits as well: for the end, and until it is kept; of what is not live there is nothing to wait for', async () => {
  const { runs, pool, trigger, finish, settle } = setup([taskSpec({ name: 'a' })]);
  trigger('a');
  await settle();
  const { run } = pool.taken[0]!;
  const ask = async (id: string) => {
    const answer = new FakeAnswer();
    await runs.wait(id, answer);
    return answer;
  };
  const early = await ask(run);
  finish(run, { status: 'failed', error: { code: 'handler-failed', message: 'no' }, retryable: false });
  const late = await ask(run);
  assert.deepEqual([early.settled, late.settled], [false, false], 'not before the end is kept');
  await settle();
  for (const { value } of [early, late]) assert.equal((value as { ended: RunView }).ended.state, 'failed');
  assert.deepEqual((await ask(run)).value, { run, ended: null });
});

test('how a task ended before is known from the start; its own ends are newer', async () => {
  const { runs, pool, trigger, finish, clock } = setup([taskSpec({ name: 'a' })]);
  runs.knowEnds([
    { task: 'a', state: 'success', endedAtMs: 10, succeededAtMs: null },
    { task: 'a', state: 'failed', endedAtMs: 20, succeededAtMs: null },
    { task: 'a', state: 'skipped', endedAtMs: 15, succeededAtMs: null },
    { task: 'gone', state: 'failed', endedAtMs: 30, succeededAtMs: null },
  ]);
  const [task] = runs.table.tasks;
  assert.deepEqual([task?.lastState, task?.lastEndedAtMs], ['failed', 20]);
  trigger('a');
  finish(pool.taken[0]!.run);
  runs.knowEnds([{ task: 'a', state: 'failed', endedAtMs: 20, succeededAtMs: null }]);
  assert.deepEqual([task?.lastState, task?.lastEndedAtMs], ['success', clock.wallMs()]);
});

test('with, the file and the payload are laid over each other in that order', () => {
  const { pool, trigger } = setup([taskSpec({ name: 'a', withJson: '{"x":1,"y":2}' })], { slots: 9 });
  for (const payload of ['{"y":3}', '{}', ' { "z" : "}" } ', '[1]', '5', 'null']) trigger('a', { payload });
  trigger('a');
  assert.deepEqual(
    pool.taken.map((order) => JSON.parse(order.input) as unknown),
    [{ x: 1, y: 3 }, { x: 1, y: 2 }, { x: 1, y: 2, z: '}' }, [1], 5, null, { x: 1, y: 2 }],
  );
});

test('an occurrence runs once, however often it is due', async () => {
  const { runs, pool, finish, settle } = setup([taskSpec({ name: 'a' })], { acknowledge: false });
  runs.due({ task: 'a', id: 'a@1', dueAtMs: 1, origin: 'schedule' });
  runs.due({ task: 'a', id: 'a@1', dueAtMs: 1, origin: 'schedule' });
  assert.equal(pool.taken.length, 1);
  finish('a@1');
  await settle();
  runs.due({ task: 'a', id: 'a@1', dueAtMs: 1, origin: 'schedule' });
  assert.equal(pool.taken.length, 1, 'known until the store has acknowledged its end');
});

test('a failed run is retried after its backoff, and is a dead letter when the retries are used up', async () => {
  const { clock, pool, trigger, finish, depth, states, runs, settle } = setup([
    taskSpec({ name: 'a', maxRetry: 2 }),
  ]);
  const answer = trigger('a', { wait: true });
  const run = pool.taken[0]!.run;
  finish(run, failed);
  assert.equal(depth('retry'), 1);
  await clock.advance(999);
  assert.equal(pool.active, 0);
  await clock.advance(1);
  assert.equal(pool.held.get(run)?.attempt, 2);
  finish(run, failed);
  await clock.advance(2000);
  finish(run, failed);
  await clock.advance(0);
  assert.equal((answer.value as { ended: RunView }).ended.state, 'failed');
  assert.equal(depth('dead-letter'), 1);
  await settle();
  assert.deepEqual(states(run).at(-1), 'failed');
  const [letter] = runs.deadLetters.list({ task: null, sinceMs: null, untilMs: null, limit: 10 });
  assert.equal(letter?.attempts, 3);
  assert.equal(letter?.error?.message, 'no');
});

test('a failure that a retry cannot help is final at once', () => {
  const { pool, trigger, finish, depth } = setup([taskSpec({ name: 'a', maxRetry: 5 })]);
  trigger('a');
  finish(pool.taken[0]!.run, { ...failed, retryable: false });
  assert.equal(depth('retry'), 0);
  assert.equal(depth('dead-letter'), 1);
});

test('interruptions do not use up retries, and have a budget of their own', async () => {
  const { clock, pool, trigger, finish, depth } = setup([taskSpec({ name: 'a', maxRetry: 0 })]);
  trigger('a');
  const run = pool.taken[0]!.run;
  const lost = { status: 'interrupted', error: { code: 'thread-lost', message: 'gone' } } as const;
  for (let time = 0; time < INTERRUPTION_BUDGET; time++) {
    finish(run, lost);
    // The first time at once, later ones after a short while.
    if (time > 0) assert.equal(pool.held.has(run), false);
    await clock.advance(time === 0 ? 0 : 1000);
    assert.ok(pool.held.has(run), `runs again after interruption ${time + 1}`);
  }
  finish(run, lost);
  assert.equal(pool.active, 0);
  assert.equal(depth('dead-letter'), 1);
});

test('what another run is to blame for costs nothing, and does not go on for ever', async () => {
  const { clock, pool, trigger, finish, depth } = setup([taskSpec({ name: 'a', maxRetry: 0 })]);
  trigger('a');
  const run = pool.taken[0]!.run;
  const lose = async (code: 'thread-lost' | 'thread-lost-by-another') => {
    finish(run, { status: 'interrupted', error: { code, message: 'gone' } });
    await clock.advance(60_000);
  };
  for (let time = 0; time < MOST_INTERRUPTIONS - INTERRUPTION_BUDGET; time++) {
    await lose('thread-lost-by-another');
    assert.ok(pool.held.has(run), `runs again after interruption ${time + 1}`);
  }
  // Its own budget is whole.
  for (let time = 0; time < INTERRUPTION_BUDGET; time++) {
    await lose('thread-lost');
    assert.ok(pool.held.has(run), `runs again after interruption ${time + 1} of its own`);
  }
  await lose('thread-lost-by-another');
  assert.equal(pool.active, 0);
  assert.equal(depth('dead-letter'), 1);
});

test('an outcome that comes twice, late, or for another attempt is counted and ignored', async () => {
  const { clock, runs, pool, trigger, finish, settle } = setup([taskSpec({ name: 'a', maxRetry: 1 })]);
  trigger('a');
  const run = pool.taken[0]!.run;
  finish(run, failed);
  const late = {
    run,
    attempt: 1,
    status: 'success',
    result: null,
    error: null,
    durationMs: 1,
    retryable: true,
  } as const;
  runs.outcome(late);
  await clock.advance(1000);
  runs.outcome(late);
  runs.outcome({ ...late, run: 'never@seen' });
  assert.equal(runs.lateOutcomes, 3);
  assert.equal(runs.table.get(run)?.state, 'running');
  finish(run);
  await settle();
});

test('overlap: skip, queue-one, queue-all, cancel-running, allow', () => {
  const { pool, trigger, finish, runs } = setup(
    (['skip', 'queue-one', 'queue-all', 'cancel-running', 'allow'] as const).map((overlap) =>
      taskSpec({ name: overlap, overlap }),
    ),
    { slots: 100 },
  );
  const running = (task: string) => [...pool.held.values()].filter((order) => order.task === task);
  for (const task of ['skip', 'queue-one', 'queue-all', 'cancel-running', 'allow']) {
    for (let time = 0; time < 3; time++) trigger(task);
  }
  assert.equal(running('skip').length, 1);
  assert.equal(running('queue-one').length, 1);
  assert.equal(running('queue-all').length, 1);
  assert.equal(running('cancel-running').length, 1);
  assert.equal(running('allow').length, 3);
  assert.deepEqual(pool.aborted, [running('cancel-running')[0]!.run]);
  const started = (task: string) => pool.taken.filter((order) => order.task === task).length;
  for (const task of ['skip', 'queue-one', 'queue-all', 'cancel-running']) {
    for (let order = running(task)[0]; order !== undefined; order = running(task)[0]) finish(order.run);
  }
  assert.equal(started('skip'), 1);
  assert.equal(started('queue-one'), 2);
  assert.equal(started('queue-all'), 3);
  assert.equal(started('cancel-running'), 2);
  assert.deepEqual(
    [...runs.table.tasks].map((task) => task.live),
    [0, 0, 0, 0, 3],
  );
});

test('a manual trigger obeys overlap; force passes by it', () => {
  const { pool, trigger } = setup([taskSpec({ name: 'a', overlap: 'skip' })]);
  trigger('a');
  const [first] = pool.taken;
  const refused = trigger('a');
  const { code, message } = refused.error as { code: string; message: string };
  assert.equal(code, 'overlap-refused');
  const why = 'expected no run of a in progress, got 1; overlap is skip';
  assert.equal(message, `${why}; wait for the end of ${first!.run}, or run it beside that with --force`);
  assert.equal(pool.active, 1);
  const forced = trigger('a', { force: true });
  assert.equal(forced.error, undefined);
  assert.equal(pool.active, 2);
});

test('a full ready queue: block holds the source, reject and drop are counted', async () => {
  for (const whenFull of ['block', 'reject', 'drop-oldest', 'drop-newest'] as const) {
    const { pool, trigger, finish, depth, rejected, settle } = setup([taskSpec({ name: 'a' })], {
      slots: 1,
      queues: { ready: { capacity: 2, whenFull } },
    });
    const answers = Array.from({ length: 5 }, () => trigger('a'));
    const refused = answers.filter((answer) => answer.error !== undefined).length;
    assert.equal(depth('ready'), 2, whenFull);
    assert.equal(depth('delayed'), whenFull === 'block' ? 2 : 0, whenFull);
    assert.equal(rejected('ready'), whenFull === 'block' ? 0 : 2, whenFull);
    assert.equal(refused, whenFull === 'reject' || whenFull === 'drop-newest' ? 2 : 0, whenFull);
    await settle();
    const waiting = answers.filter((answer) => !answer.settled).length;
    assert.equal(waiting, whenFull === 'block' ? 2 : 0, whenFull);
    while (pool.active > 0) finish([...pool.held.keys()][0]!);
    assert.equal(pool.taken.length, whenFull === 'block' ? 5 : 3, whenFull);
    await settle();
    assert.ok(answers.every((answer) => answer.settled));
  }
});

test('block: when even the delayed queue is full, the newcomer is refused and counted', () => {
  const { trigger, rejected } = setup([taskSpec({ name: 'a' })], {
    slots: 0,
    queues: { ready: { capacity: 1, whenFull: 'block' }, delayed: { capacity: 2 } },
  });
  const answers = Array.from({ length: 5 }, () => trigger('a'));
  assert.deepEqual(
    answers.map((answer) => (answer.error as { code?: string } | undefined)?.code ?? null),
    [null, null, null, 'queue-full', 'queue-full'],
  );
  assert.equal(rejected('delayed'), 2);
});

test('an offer is answered when there is room for more; what had none is offered anew, and known files are not run again', () => {
  const { runs, pool, finish } = setup([taskSpec({ name: 'a', scanJson: '{"root":"/"}' })], {
    slots: 1,
    queues: { ready: { capacity: 4, whenFull: 'block' } },
  });
  const items = Array.from({ length: 12 }, (_, index) => ({
    mark: `${index}`.padStart(16, '0'),
    input: '{}',
  }));
  let rest = items;
  let accepted = 0;
  for (let offers = 0; rest.length > 0 && offers < 20; offers++) {
    const answer = new FakeAnswer();
    runs.offer({ task: 'a', items: rest }, answer);
    while (!answer.settled) finish([...pool.held.keys()][0]!);
    const reply = answer.value as OfferReply;
    accepted += reply.accepted;
    assert.equal(reply.rejected, 0);
    rest = rest.filter((item) => reply.rest.includes(item.mark));
    assert.ok(runs.figures.queues()[0]!.depth <= 4);
  }
  assert.equal(accepted, 12);
  const again = new FakeAnswer();
  runs.offer({ task: 'a', items }, again);
  assert.deepEqual(
    again.value,
    { accepted: 0, known: 12, rejected: 0, rest: [] },
    'all are live or not acknowledged',
  );
});

test('a waiting offer keeps nothing that was checked before: files that ended meanwhile are not run by it', async () => {
  const { runs, pool, finish, settle } = setup([taskSpec({ name: 'a', scanJson: '{"root":"/"}' })], {
    slots: 1,
    queues: { ready: { capacity: 4, whenFull: 'block' } },
  });
  const items = Array.from({ length: 10 }, (_, index) => ({
    mark: `${index}`.padStart(16, '0'),
    input: '{}',
  }));
  const answers = [new FakeAnswer(), new FakeAnswer()];
  for (const answer of answers) runs.offer({ task: 'a', items }, answer);
  while (pool.active > 0) {
    finish([...pool.held.keys()][0]!);
    await settle();
  }
  const ran = pool.taken.map((order) => order.run);
  assert.equal(new Set(ran).size, ran.length, 'no file ran twice');
  assert.ok(answers.every((answer) => answer.settled));
});

test('scans have a lane of their own: an io pool full of work does not keep them from making room', () => {
  const { runs, pool } = setup([taskSpec({ name: 'a', scanJson: '{"root":"/"}' })], { slots: 1 });
  const scans = new FakePool('scan', 1, runs.source('scan'));
  runs.attachPool(scans);
  runs.due({ task: 'a', id: 'a@1', dueAtMs: 1, origin: 'schedule' });
  assert.equal(pool.active, 0);
  assert.equal(scans.taken[0]?.handler, 'scan');
});

test('a group limits its runs; others step past; order inside the group is kept', () => {
  const { pool, trigger, finish } = setup(
    [taskSpec({ name: 'grouped', group: 'api' }), taskSpec({ name: 'free' })],
    { slots: 10, groups: { api: { concurrency: 2 } } },
  );
  for (let count = 0; count < 5; count++) trigger('grouped');
  assert.equal(pool.active, 2);
  trigger('free');
  assert.equal(pool.taken.at(-1)?.task, 'free');
  const order: string[] = [];
  for (;;) {
    const next = [...pool.held.values()].find((held) => held.task === 'grouped');
    if (next === undefined) break;
    order.push(next.run);
    finish(next.run);
  }
  assert.equal(order.length, 5);
  const grouped = pool.taken.filter((taken) => taken.task === 'grouped').map((taken) => taken.run);
  assert.deepEqual(grouped, grouped.toSorted());
});

test('the end of a grouped run lets the next one go, also when another one is cancelled or shares two pools', async () => {
  const { runs, pool, trigger, finish, settle } = setup(
    [
      taskSpec({ name: 'io', group: 'api' }),
      taskSpec({ name: 'cpu', kind: 'cpu', pool: 'cpu', group: 'api' }),
    ],
    { slots: 10, groups: { api: { concurrency: 1 } } },
  );
  trigger('io');
  const answers = ['io', 'io', 'cpu', 'io'].map((task) => trigger(task));
  await settle();
  const [second, third, , fourth] = answers.map(({ value }) => value as { run: string });
  runs.cancel(second!.run);
  finish(pool.taken[0]!.run);
  assert.deepEqual([...pool.held.keys()], [third!.run], 'a cancelled one does not block the group');
  finish(third!.run);
  assert.deepEqual([...pool.held.keys()], [fourth!.run], 'nor does one that waits for another pool');
});

test('two ends before the next take keep the order of a group', async () => {
  const { pool, trigger, finish, settle } = setup([taskSpec({ name: 'a', group: 'g' })], {
    slots: 2,
    groups: { g: { concurrency: 2 } },
  });
  const answers = Array.from({ length: 6 }, () => trigger('a'));
  await settle();
  const ids = answers.map(({ value }) => (value as { run: string }).run);
  const [one, two] = [...pool.held.keys()];
  pool.slots = 0;
  finish(one!);
  finish(two!);
  pool.slots = 2;
  pool.wake();
  assert.deepEqual([...pool.held.keys()], ids.slice(2, 4));
});

test('cancel-running replaces what is in work, not itself, and leaves the runs of files alone', async () => {
  const { runs, pool, trigger, finish, settle } = setup(
    [taskSpec({ name: 'a', overlap: 'cancel-running', scanJson: '{"root":"/"}' })],
    { slots: 0 },
  );
  runs.offer({ task: 'a', items: [{ mark: '0'.repeat(16), input: '{}' }] }, new FakeAnswer());
  const first = trigger('a', { wait: true, payload: '1' });
  const second = trigger('a', { wait: true, payload: '2' });
  await settle();
  assert.equal((first.value as { ended: RunView }).ended.state, 'cancelled');
  assert.equal(second.settled, false);
  pool.slots = 2;
  pool.wake();
  assert.deepEqual(
    pool.taken.map((order) => order.input),
    ['{}', '2'],
  );
  for (const order of pool.taken) finish(order.run);
  await settle();
  assert.equal((second.value as { ended: RunView }).ended.state, 'success');
});

test('drop-oldest keeps to the capacity although the dropped run had a follower, and drops no more than it must', () => {
  const { trigger, depth, rejected } = setup(
    [taskSpec({ name: 'a', overlap: 'queue-one' }), taskSpec({ name: 'b' })],
    {
      slots: 0,
      queues: { ready: { capacity: 1, whenFull: 'drop-oldest' } },
    },
  );
  trigger('a');
  trigger('a');
  trigger('b');
  assert.deepEqual([depth('ready'), depth('delayed'), rejected('ready')], [1, 1, 1]);
});

test('a place that a cancel makes is given to who waits', async () => {
  const { runs, pool, trigger, depth, settle } = setup([taskSpec({ name: 'a' })], {
    slots: 0,
    queues: { ready: { capacity: 1, whenFull: 'block' } },
  });
  const accepted = trigger('a');
  const waiting = trigger('a');
  await settle();
  const first = accepted.value as { run: string };
  assert.equal(waiting.settled, false);
  runs.cancel(first.run);
  await settle();
  assert.equal(waiting.settled, true);
  assert.deepEqual([depth('ready'), depth('delayed')], [1, 0]);
  pool.slots = 1;
  pool.wake();
  assert.equal(pool.active, 1);
});

test('a trigger that waits for the run before it is accepted at once', async () => {
  const { trigger, settle } = setup([taskSpec({ name: 'a', overlap: 'queue-one' })], { slots: 1 });
  trigger('a');
  const second = trigger('a');
  assert.equal(second.settled, false, 'not before it is kept');
  await settle();
  assert.equal(second.settled, true);
});

test('a replay of the run of a file is not judged by overlap', () => {
  const { runs, pool, finish, trigger } = setup(
    [taskSpec({ name: 'a', overlap: 'skip', scanJson: '{"root":"/"}' })],
    { slots: 9 },
  );
  runs.offer({ task: 'a', items: [{ mark: '0'.repeat(16), input: '{}' }] }, new FakeAnswer());
  finish(pool.taken[0]!.run, failed);
  runs.replay({ runs: null, task: null, sinceMs: null, untilMs: null });
  assert.equal(trigger('a', { payload: '1' }).error, undefined);
});

test('attempts stay apart in the journal although it is slow; a success carries no error of before', async () => {
  const { clock, runs, pool, trigger, finish, events, settle } = setup(
    [taskSpec({ name: 'a', maxRetry: 1 })],
    {
      acknowledge: false,
    },
  );
  trigger('a');
  finish(pool.taken[0]!.run, failed);
  // The retry is due before the journal has had its turn.
  const due = clock.advance(1000);
  await due;
  finish(pool.taken[1]!.run, { result: '1' });
  await settle();
  const states = events.map((event) => event.state);
  assert.equal(states.filter((state) => state === 'retrying').length, 1);
  const last = events.at(-1)!;
  assert.deepEqual([last.state, last.error, last.dueAtMs], ['success', undefined, undefined]);
  runs.journal.recorded(Number.MAX_SAFE_INTEGER);
  assert.equal(runs.table.size, 0);
});

test('a store that does not outlive the process is told of a run when it begins, or ends before it has', async () => {
  const { clock, runs, pool, trigger, finish, events } = setup(
    [taskSpec({ name: 'a', maxRetry: 1, withJson: '{"x":1}' })],
    { slots: 1, durable: false, queues: { ready: { capacity: 2, whenFull: 'reject' } } },
  );
  const createdAtMs = clock.wallMs();
  trigger('a', { payload: '{"y":2}' });
  const [first] = pool.held.keys();
  const second = trigger('a').value as { run: string };
  const third = trigger('a').value as { run: string };
  const refused = trigger('a');
  runs.due({ task: 'a', id: 'a@due', dueAtMs: createdAtMs, origin: 'schedule' });
  await runs.settled();
  assert.equal((refused.error as ColibriError).code, 'queue-full');
  const about = (run: string) => events.filter((event) => event.run === run);
  assert.deepEqual([about(second.run), about(third.run)], [[], []], 'they are main\u2019s alone');
  const origin = { origin: 'manual', createdAtMs } as const;
  assert.deepEqual(about(first!), [
    {
      run: first,
      task: 'a',
      state: 'running',
      attempt: 1,
      atMs: createdAtMs,
      lagMs: 0,
      ...origin,
      input: '{"x":1,"y":2}',
    },
  ]);
  const skipped = events.find((event) => event.state === 'skipped');
  assert.deepEqual(
    [skipped?.run, skipped?.origin, skipped?.createdAtMs, skipped?.input],
    ['a@due', 'schedule', createdAtMs, '{"x":1}'],
  );
  assert.equal(events.length, 2, 'a trigger that was refused has never been a run');
  await clock.advance(500);
  runs.cancel(third.run);
  finish(first!, failed);
  await runs.settled();
  assert.deepEqual(
    about(third.run).map(({ state, createdAtMs: at }) => [state, at]),
    [['cancelled', createdAtMs]],
  );
  const [, begun] = [first, ...pool.held.keys()];
  assert.equal(begun, second.run);
  assert.equal(about(second.run)[0]?.lagMs, 500);
  assert.equal(about(second.run)[0]?.createdAtMs, createdAtMs);
  finish(second.run);
  await clock.advance(2000);
  await runs.settled();
  const retried = about(first!).map(({ state, origin: from }) => [state, from]);
  assert.deepEqual(retried, [
    ['running', 'manual'],
    ['retrying', undefined],
    ['running', undefined],
  ]);
});

test('a batch of large errors stays far below what a link takes at once', async () => {
  const sizes: number[] = [];
  const { pool, trigger, finish, settle, events } = setup([taskSpec({ name: 'a' })], {
    slots: 1000,
    queues: {
      ready: { capacity: 1000, whenFull: 'block' },
      deadLetter: { capacity: 1000, whenFull: 'drop-oldest' },
    },
    onBatch: (batch) => sizes.push(JSON.stringify(batch).length),
  });
  const text = 'x'.repeat(4096);
  const deep = [1, 2, 3, 4].reduce<ErrorData>(
    (cause) => ({ code: 'handler-failed', message: text, stack: text, cause }),
    { code: 'handler-failed', message: text, stack: text },
  );
  for (let count = 0; count < 500; count++) trigger('a');
  for (const order of [...pool.taken]) finish(order.run, { status: 'failed', error: deep });
  await settle();
  assert.equal(events.filter((event) => event.state === 'failed').length, 500);
  assert.ok(Math.max(...sizes) < 1024 * 1024, `${Math.max(...sizes)}`);
});

test('a payload beyond the limit is refused with a remedy', () => {
  const { trigger } = setup([taskSpec({ name: 'a' })]);
  assert.throws(() => trigger('a', { payload: `"${'x'.repeat(PAYLOAD_LIMIT)}"` }), { code: 'input-invalid' });
});

test('higher priorities leave the ready queue first, equal ones in order', () => {
  const { runs, pool, trigger } = setup(
    [taskSpec({ name: 'low' }), taskSpec({ name: 'high', priority: 5 })],
    { slots: 0 },
  );
  trigger('low');
  trigger('high');
  trigger('low');
  trigger('high');
  pool.slots = 4;
  pool.wake();
  assert.deepEqual(
    pool.taken.map((order) => order.task),
    ['high', 'high', 'low', 'low'],
  );
  assert.equal(runs.figures.queues()[0]?.depth, 0);
});

test('cancel works in every state; a cancelled running run is aborted', async () => {
  const { clock, runs, pool, trigger, finish, depth } = setup([taskSpec({ name: 'a', maxRetry: 3 })], {
    slots: 1,
    queues: { ready: { capacity: 1, whenFull: 'block' } },
  });
  trigger('a');
  const running = pool.taken[0]!.run;
  trigger('a');
  trigger('a');
  const [third, second] = runs.table
    .list({ task: null, state: null, limit: 10 })
    .filter((view) => view.run !== running);
  assert.equal(runs.cancel(third!.run), 'cancelled');
  assert.equal(runs.cancel(second!.run), 'cancelled');
  assert.equal(depth('ready') + depth('delayed'), 0);
  assert.equal(runs.cancel(running), 'running');
  assert.deepEqual(pool.aborted, [running]);
  finish(running, failed);
  assert.equal(depth('retry'), 0, 'what was cancelled is not retried');
  trigger('a');
  const again = pool.taken.at(-1)!.run;
  finish(again, failed);
  assert.equal(depth('retry'), 1);
  assert.equal(runs.cancel(again), 'cancelled');
  assert.equal(depth('retry'), 0);
  await clock.advance(100_000);
  assert.equal(pool.active, 0);
  assert.throws(() => runs.cancel(again), { code: 'no-such-run' });
});

test('replay makes a new run of a dead letter and takes it out; purge forgets', () => {
  const { runs, pool, trigger, finish, depth } = setup([taskSpec({ name: 'a' }), taskSpec({ name: 'b' })]);
  for (const task of ['a', 'b', 'b']) {
    trigger(task, { payload: '{"n":1}' });
    finish(pool.taken.at(-1)!.run, failed);
  }
  assert.equal(depth('dead-letter'), 3);
  const first = runs.deadLetters.list({ task: 'a', sinceMs: null, untilMs: null, limit: 10 })[0]!;
  const { runs: replayed, refused } = runs.replay({
    runs: [first.run],
    task: null,
    sinceMs: null,
    untilMs: null,
  });
  assert.deepEqual([replayed, refused], [[`${first.run}~1`], 0]);
  assert.equal(pool.held.get(`${first.run}~1`)?.input, '{"n":1}');
  finish(`${first.run}~1`, failed);
  assert.deepEqual(runs.replay({ runs: null, task: 'a', sinceMs: null, untilMs: null }).runs, [
    `${first.run}~2`,
  ]);
  assert.equal(runs.deadLetters.purge({ runs: null, task: null, sinceMs: null, untilMs: null }), 2);
  assert.equal(depth('dead-letter'), 0);
});

test('a journal that is not acknowledged stops the taking of work at its bound, and lets go on after it', async () => {
  const { runs, pool, trigger, finish, settle } = setup([taskSpec({ name: 'a' })], {
    slots: 1,
    acknowledge: false,
    queues: { ready: { capacity: 100_000, whenFull: 'block' } },
  });
  const answers = Array.from({ length: 20_001 }, () => trigger('a'));
  finish(pool.taken[0]!.run);
  assert.equal(pool.active, 0, 'no slot takes work while 20,000 transitions are not recorded');
  await settle();
  assert.ok(answers.every((answer) => !answer.settled));
  runs.journal.recorded(Number.MAX_SAFE_INTEGER);
  assert.equal(pool.active, 1);
  await settle();
  runs.journal.recorded(Number.MAX_SAFE_INTEGER);
  assert.ok(answers.every((answer) => answer.settled));
});

test('any mix of triggers, outcomes, cancels and time: every run is in one place, every queue within its bound', async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('trigger' as const), task: fc.nat(3) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('finish' as const),
        pick: fc.nat(50),
        status: fc.constantFrom('success', 'failed', 'interrupted', 'cancelled'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(5000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('offer' as const), from: fc.nat(30) }) },
  );
  const whenFull = fc.constantFrom('block', 'reject', 'drop-oldest', 'drop-newest');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), whenFull, async (steps, full) => {
      const s = setup(
        [
          taskSpec({ name: 't0', overlap: 'allow', maxRetry: 1 }),
          taskSpec({ name: 't1', overlap: 'queue-one', group: 'g' }),
          taskSpec({ name: 't2', overlap: 'queue-all', group: 'g', maxRetry: 2 }),
          taskSpec({ name: 't3', overlap: 'cancel-running', priority: 1 }),
        ],
        {
          groups: { g: { concurrency: 1 } },
          queues: {
            ready: { capacity: 3, whenFull: full },
            delayed: { capacity: 5 },
            retry: { capacity: 2 },
            deadLetter: { capacity: 4, whenFull: 'drop-oldest' },
          },
        },
      );
      const waiters: FakeAnswer[] = [];
      const finishOne = (pick: number, status: 'success' | 'failed' | 'interrupted' | 'cancelled') => {
        const held = [...s.pool.held.keys()];
        const run = held[pick % Math.max(1, held.length)];
        if (run !== undefined) s.finish(run, { status, error: status === 'success' ? null : failed.error });
      };
      for (const action of steps) {
        if (action.do === 'trigger') waiters.push(s.trigger(`t${action.task}`, { wait: true }));
        else if (action.do === 'finish') finishOne(action.pick, action.status);
        else if (action.do === 'advance') await s.clock.advance(action.ms);
        else if (action.do === 'replay')
          s.runs.replay({ runs: null, task: null, sinceMs: null, untilMs: null });
        else if (action.do === 'offer') {
          const items = Array.from({ length: 5 }, (_, index) => ({
            mark: (action.from + index).toString(16).padStart(16, '0'),
            input: '{}',
          }));
          const answer = new FakeAnswer();
          waiters.push(answer);
          s.runs.offer({ task: 't0', items }, answer);
        } else {
          const live = s.runs.table
            .list({ task: null, state: null, limit: 100 })
            .filter((view) => !isTerminal(view.state as RunState));
          const view = live[action.pick % Math.max(1, live.length)];
          if (view !== undefined) s.runs.cancel(view.run);
        }
        for (const queue of s.runs.figures.queues()) {
          const slack = queue.name === 'delayed' ? 10 : 0;
          assert.ok(queue.depth <= queue.capacity + slack, `${queue.name} ${queue.depth}`);
        }
        assert.ok(s.pool.active <= 2);
        const grouped = [...s.pool.held.values()].filter(
          (order) => order.task === 't1' || order.task === 't2',
        );
        assert.ok(grouped.length <= 1, 'group limit');
      }
      for (let round = 0; round < 500 && s.runs.table.size > 0; round++) {
        while (s.pool.active > 0) finishOne(0, 'success');
        await s.clock.advance(120_000);
      }
      assert.equal(s.runs.table.size, 0, 'everything ends and is forgotten');
      assert.ok(
        waiters.every((answer) => answer.settled),
        'every waiter is answered',
      );
      for (const task of s.runs.table.tasks)
        assert.deepEqual([task.live, task.active, task.queued], [0, 0, 0]);
      for (const name of ['ready', 'delayed', 'retry'] as const) assert.equal(s.depth(name), 0);
    }),
    { numRuns: 150 },
  );
});
