/** An app in a program: its life, its tasks, what triggers give. All of it in memory and by a clock that is stepped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppOptions } from '../../src/main/index.ts';
import { library } from './library.ts';

const { App, ColibriError, ConfigInvalid, RunFailed, TestClock } = library;

const IN_MEMORY = { store: { kind: 'memory' }, logLevel: 'silent' } satisfies AppOptions;
const DIGEST = new URL('./modules/digest.ts', import.meta.url);

const hasCode = (code: string) => (error: unknown) => error instanceof ColibriError && error.code === code;

/** The problems of the config that a call is refused with. */
function problemsOf(call: () => unknown): string[] {
  try {
    call();
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.problems.map(({ message }) => message);
    throw error;
  }
  return assert.fail('expected to be refused');
}

test('an app does what its tasks say, and leaves nothing behind', async (t) => {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'exit'];
  const before = signals.map((name) => process.listenerCount(name));
  const clock = new TestClock(Date.UTC(2026, 0, 1));
  const app = new App({ ...IN_MEMORY, clock });
  t.after(() => app.stop());
  const ended: string[] = [];
  app.on('runEnded', () => {
    throw new Error('a listener of its own');
  });
  // One that nobody catches would end this test, as it would end a program.
  app.on('runEnded', async () => {
    throw new Error('an async listener of its own');
  });
  const off = app.on('runEnded', ({ id, state }) => ended.push(`${id} ${state}`));

  const add = app.task({ name: 'add' }, async ({ a, b }: { a: number; b: number }) => a + b);
  const greet = app.task(
    { name: 'greet', with: { name: 'you' } },
    ({ name }: { name: string }) => `hello ${name}`,
  );
  const fails = app.task({ name: 'fails', maxRetry: 1, backoff: { baseSeconds: 60, capSeconds: 60 } }, () => {
    throw new TypeError('no luck');
  });
  const plain = app.task({ name: 'plain', maxRetry: 0 }, () => {
    throw new Error('plain', { cause: new Error('inner') });
  });
  const held = Promise.withResolvers<void>();
  const holds = app.task({ name: 'holds' }, (_input, { signal }) =>
    Promise.race([held.promise, new Promise((_, reject) => signal.addEventListener('abort', reject))]),
  );
  let beside = 0;
  app.task(
    { name: 'minutely', schedule: '* * * * *', timeZone: 'UTC', misfire: { policy: 'run-all' } },
    async (_input, { run }) => {
      assert.equal(beside++, 0);
      await new Promise(setImmediate);
      beside--;
      return run;
    },
  );
  const digest = app.task<{ text: string }, { sha256: string; onMain: boolean }>({
    name: 'digest',
    kind: 'cpu',
    module: DIGEST,
    maxRetry: 0,
  });
  const onGuest = app.task<{ text: string }, { onMain: boolean }>({ name: 'digest-io', module: DIGEST });
  const nap = app.task({ name: 'nap', handler: 'sleep', with: { ms: 0 } });

  await app.stop();
  await assert.rejects(app.trigger(add, { a: 1, b: 2 }), hasCode('no-daemon'));
  await Promise.all([app.start(), app.start()]);
  await app.start();

  // Triggers.
  const sum = await app.trigger(add, { a: 1, b: 2 }, { wait: true });
  assert.deepEqual([sum.result, sum.state, sum.input], [3, 'success', { a: 1, b: 2 }]);
  const [attempt] = (await app.run(sum.id))!.attempts;
  assert.deepEqual([sum.attempts.length, attempt?.attempt, attempt?.state], [1, 1, 'success']);
  assert.equal((await app.trigger(greet, {}, { wait: true })).result, 'hello you');
  assert.equal((await app.trigger(greet, { name: 'there' }, { wait: true })).result, 'hello there');
  const { result } = await app.trigger(digest, { text: 'a' }, { wait: true });
  assert.deepEqual([result.onMain, result.sha256.slice(0, 8)], [false, 'ca978112']);
  assert.equal((await app.trigger(onGuest, { text: 'a' }, { wait: true })).result.onMain, false);
  assert.equal((await app.trigger(nap, undefined, { wait: true })).state, 'success');
  await assert.rejects(app.trigger(add, { a: Infinity, b: 1 }), hasCode('input-invalid'));
  await assert.rejects(
    app.trigger(new App(IN_MEMORY).task({ name: 'add' }, () => {})),
    hasCode('no-such-task'),
  );

  // A failure has its retries by the app's clock, then whoever waits is told.
  const failing = app.trigger(fails, {}, { wait: true });
  const failure = failing.catch((error: unknown) => error);
  const [first] = await app.runs({ task: fails });
  await app.idle();
  assert.equal((await app.run(first!.id))?.state, 'retrying');
  await clock.advance(95_000);
  const error = await failure;
  assert.ok(error instanceof RunFailed && error instanceof ColibriError);
  assert.deepEqual([error.code, error.run.state, error.run.attempt], ['handler-failed', 'failed', 2]);
  assert.match(error.message, /^expected run fails@\S+ to succeed, got failed: no luck$/);

  assert.deepEqual(
    [error.cause instanceof Error && error.cause.name, error.run.error?.stack],
    ['TypeError', undefined],
  );

  await assert.rejects(app.trigger(plain, undefined, { wait: true }), ({ cause }: Error) => {
    const { name, message } = cause as Error;
    return name === 'Error' && message === 'plain' && (cause as Error).cause instanceof Error;
  });

  // The stack of a rejection leads to whoever awaits it, that of its cause into the handler.
  const whoAwaits = async (call: () => Promise<unknown>): Promise<Error> => {
    try {
      await call();
    } catch (error) {
      return error as Error;
    }
    return assert.fail('expected a rejection');
  };
  const thrown = await whoAwaits(() => app.trigger(digest, {} as never, { wait: true }));
  assert.match(thrown.stack!, /^RunFailed: expected run .* to succeed[\s\S]* whoAwaits /);
  assert.match((thrown.cause as Error).stack!, /^TypeError[\s\S]*digest\.ts:10/);
  const big = { a: 1, b: 'x'.repeat(300_000) as never };
  for (const refused of [() => app.cancel('nobody@1'), () => app.trigger(add, big)]) {
    assert.match((await whoAwaits(refused)).stack!, / whoAwaits /);
  }

  // The schedule: each occurrence has its run.
  await clock.advance(10 * 60_000);
  await app.idle();
  const minutely = await app.runs({ task: 'minutely', state: 'success' });
  assert.equal(minutely.length, 11);
  assert.equal(minutely[0]?.result, 'minutely@2026-01-01T00:11:00Z');

  // Two seconds before the next one the machine sleeps for an hour. The schedule sees it: all that are late run, one
  // behind the other, and what was to begin later does so.
  await clock.advance(23_000);
  const slept = await app.trigger(add, { a: 3, b: 4 }, { inMs: 3_600_000 });
  clock.suspend(3_600_000);
  await clock.advance(2000);
  await app.idle();
  assert.equal((await app.run(slept.id))?.result, 7);
  assert.equal((await app.runs({ task: 'minutely', state: 'success', limit: 100 })).length, 11 + 61);

  // Later, cancelled, refused.
  const later = await app.trigger(add, { a: 2, b: 2 }, { inMs: 60_000 });
  assert.equal((await app.run(later.id))?.state, 'pending');
  await clock.advance(60_000);
  await app.idle();
  assert.equal((await app.run(later.id))?.result, 4);
  const at = await app.trigger(add, { a: 2, b: 3 }, { at: new Date(clock.wallMs() + 1000) });
  assert.equal(await app.cancel(at.id), 'cancelled');
  await assert.rejects(app.cancel(at.id), hasCode('no-such-run'));
  await assert.rejects(app.trigger(add, { a: 1, b: 1 }, { inMs: -1 }), hasCode('input-invalid'));
  await assert.rejects(app.trigger(add, { a: 1, b: 1 }, { at: 'tomorrow' }), hasCode('input-invalid'));
  const holding = app.trigger(holds, {}, { wait: true });
  const stopped = assert.rejects(holding, hasCode('cancelled'));
  await assert.rejects(app.trigger(holds, {}, { wait: true }), hasCode('overlap-refused'));
  const running = await app.runs({ state: 'running' });
  assert.deepEqual(
    running.map(({ task }) => task),
    ['holds'],
  );
  let idle = false;
  const idled = app.idle().then(() => {
    idle = true;
  });
  await clock.advance(0);
  assert.equal(idle, false);
  await app.cancel(running[0]!.id);
  await Promise.all([stopped, idled]);
  assert.equal(await app.run('nobody@1'), null);
  assert.ok(ended.includes(`${sum.id} success`) && ended.includes(`${running[0]!.id} cancelled`));
  assert.equal(new Set(ended).size, ended.length, 'each end is told once');
  off();

  // Tasks are what they were at the start.
  assert.match(problemsOf(() => app.task({ name: 'late' }, () => {}))[0]!, /^task late: .*before the start/);
  await Promise.all([app.stop(), app.stop()]);
  await app.stop();
  assert.deepEqual(
    signals.map((name) => process.listenerCount(name)),
    before,
  );
  assert.equal(clock.timers, 0, 'no timer is left');
});

test('an app starts again, whatever came in which order', async (t) => {
  const app = new App(IN_MEMORY);
  t.after(() => app.stop());
  const answer = app.task({ name: 'answer' }, () => 42);
  const first = app.start();
  const refused = assert.rejects(first, hasCode('shutting-down'));
  const stopping = app.stop();
  const second = app.start();
  await Promise.all([refused, stopping, second]);
  {
    await using guest = app;
    assert.equal((await guest.trigger(answer, undefined, { wait: true })).result, 42);
  }
  await assert.rejects(app.trigger(answer), hasCode('no-daemon'));
  // As the runtime shows one that nobody catches.
  assert.equal(ColibriError.name, 'ColibriError');
  assert.deepEqual(await Promise.all([app.idle(), app.stop()]), [undefined, undefined]);
  // Defined while it stands; refused once it does not.
  app.task({ name: 'another' }, () => {});
});

test('who waits for a run that a stop cuts is told so', async (t) => {
  const app = new App({ ...IN_MEMORY, shutdown: { graceSeconds: 0.1 } });
  t.after(() => app.stop());
  const begun = Promise.withResolvers<void>();
  const endless = app.task({ name: 'endless' }, () => {
    begun.resolve();
    return new Promise(() => {});
  });
  await app.start();
  const waiting = app.trigger(endless, undefined, { wait: true });
  const told = assert.rejects(waiting, {
    code: 'shutting-down',
    message: /the run of endless .* stop of the app/,
  });
  await begun.promise;
  await Promise.all([app.stop(), told]);
});

test('starts and stops at once, in any order: the last one counts, and every promise is settled', async (t) => {
  const app = new App(IN_MEMORY);
  t.after(() => app.stop());
  const answer = app.task({ name: 'answer' }, () => 42);
  for (const order of ['11', '01', '10', '101', '1010', '0110', '1101']) {
    const calls = [...order].map((one) => (one === '1' ? app.start() : app.stop()));
    for (const [index, settled] of (await Promise.allSettled(calls)).entries()) {
      const isOvertaken = order[index] === '1' && order.includes('0', index);
      assert.equal(settled.status, isOvertaken ? 'rejected' : 'fulfilled', `${order}, call ${index}`);
    }
    if (order.endsWith('1')) assert.equal((await app.trigger(answer, undefined, { wait: true })).result, 42);
    else {
      await assert.rejects(app.trigger(answer), hasCode('no-daemon'), order);
      // Taken only where nothing runs any more.
      app.task({ name: `after-${order}` }, () => {});
    }
    await app.stop();
  }
});

test('a start after a stop counts, however far the start before it had come', async (t) => {
  const app = new App(IN_MEMORY);
  t.after(() => app.stop());
  const answer = app.task({ name: 'answer' }, () => 42);
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
  };
  for (const count of [0, 2, 20]) {
    const first = app.start().then(
      () => 'started',
      ({ code }) => code,
    );
    await turns(count);
    const stopping = app.stop();
    const second = app.start();
    assert.match(await first, /^(?:started|shutting-down)$/, `after ${count} turns`);
    await Promise.all([stopping, second]);
    assert.equal((await app.trigger(answer, undefined, { wait: true })).result, 42);
    await app.stop();
  }
});

test('a `with` that refers back to itself is refused at once, however often it does', () => {
  const tree: Record<string, unknown> = {};
  for (const key of ['a', 'b', 'c']) tree[key] = tree;
  assert.throws(() => new App().task({ name: 'loop', with: tree }, (_: object) => {}), {
    name: 'ConfigInvalid',
    message: /with.* more than 64 levels/,
  });
});

test('a key that the library puts in itself is proposed, one that the program wrote is not', () => {
  const wrong = (options: object) => problemsOf(() => new App(options));
  assert.deepEqual(wrong({ logg: {} }), ['logg: unknown key "logg"; did you mean "log"?']);
  assert.deepEqual(wrong({ metric: {} }), ['metric: unknown key "metric"; did you mean "metrics"?']);
  assert.deepEqual(wrong({ log: { levl: 'info' } }), ['log.levl: unknown key "levl"; did you mean "level"?']);
  assert.deepEqual(wrong({ log: { level: 'info' }, logg: {} }), [
    'logg: unknown key "logg"; "log" is there beside it; remove one of the two',
  ]);
  const task = (spec: object) => problemsOf(() => new App(IN_MEMORY).task(spec as never, () => {}));
  assert.match(task({ name: 'a', handlr: 'hash' })[0]!, /unknown key "handlr"; did you mean "handler"\?$/);
});

test('what is no handle, list, object or function is told where it is written, with what it should be', () => {
  const app = new App(IN_MEMORY);
  const one = app.task({ name: 'one' }, () => 1);
  const flow = app.flow('flow', [one]);
  const elsewhere = new App(IN_MEMORY).task({ name: 'one' }, () => 1);
  const wrong = <T>(value: T) => value as never;
  const spec = (more: object) => () => app.task({ name: 'two', ...more } as never, () => 2);
  const steps = (given: unknown, options?: unknown) => () => app.flow('other', wrong(given), wrong(options));
  const calls: [() => unknown, RegExp][] = [
    [() => new App(wrong(null)), /^options: new App: expected options by their keys, got null$/],
    [() => new App(wrong('x')), /options by their keys, got "x"/],
    [() => new App({ directory: wrong(new URL('file:///x')) }), /directory: expected a path such as/],
    [() => app.task(wrong(undefined), () => 1), /task: expected what it is, such as .*, got nothing/],
    [() => app.task(wrong('two'), () => 1), /task: expected what it is, such as .*, got "two"/],
    [spec({ dependsOn: one }), /task two: dependsOn: expected a list of handles, got an object/],
    [spec({ dependsOn: ['one'] }), /expected the handle of a task of this app, .* got "one"/],
    [spec({ dependsOn: [elsewhere] }), /handle of a task of this app, .* got that of "one" of another one/],
    [spec({ dependsOn: [flow] }), /got that of the flow flow; name the tasks it is made of/],
    [spec({ each: { list: null } }), /handle of a task of this app, .* got null/],
    [steps(undefined), /flow other: steps: expected a list of the handles of tasks, got nothing/],
    [steps([]), /flow other: steps: expected at least one step/],
    [steps(['one']), /handle of a task of this app, .* got "one"/],
    [steps([null]), /got null/],
    [steps([flow]), /got that of the flow flow/],
    [steps([{ task: flow }]), /got that of the flow flow/],
    [steps([one], null), /flow other: expected options, got null/],
    [steps([one], { onFinished: 5 }), /flow other: onFinished: expected a function, got 5/],
    [steps([one], { onFailure: { task: flow } }), /got that of the flow flow/],
    [() => app.on('runEnded', wrong(undefined)), /on runEnded: expected a function, got nothing/],
    [() => app.on(wrong('ended'), () => {}), /on: expected runEnded or fault, got "ended"/],
  ];
  for (const [call, message] of calls) {
    const isTold = (error: unknown) => error instanceof ColibriError && message.test(error.message);
    assert.throws(call, isTold, String(message));
  }
  // Nothing of it is left behind.
  app.task({ name: 'two' }, () => 2);
  app.flow('other', [one]);
});

test('what is wrong with options and tasks is told at once, all of it, in their own spelling', () => {
  const wrong = (options: object) => problemsOf(() => new App(options));
  assert.deepEqual(wrong({ defaults: { maxRetry: -1 }, memory: { budgetMb: 'x' }, tasks: [] }).sort(), [
    'defaults.maxRetry: expected an integer from 0 to 1000, got -1',
    'memory.budgetMb: expected an integer from 16 to 1048576, got "x"',
    'tasks: expected app.task for each task, got a list in the options',
  ]);
  assert.deepEqual(wrong({ state_dir: './x' }), ['unknown key "state_dir"; did you mean "stateDir"?']);
  assert.deepEqual(wrong({ state_dir: './x', stateDir: './x' }), [
    'unknown key "state_dir"; "stateDir" is there beside it; remove one of the two',
  ]);
  const app = new App({ ...IN_MEMORY, groups: { the_api: { concurrency: 2 } } });
  const refused = (spec: object, run?: () => void) =>
    problemsOf(() => app.task(spec as { name: string; handler: string }, ...((run ? [run] : []) as [])));
  assert.deepEqual(
    refused({ name: 'a', maxRetry: 1.5, group: 'the_ap' }, () => {}),
    [
      'task a: maxRetry: expected an integer from 0 to 1000, got 1.5',
      'task a: group: expected a name listed under groups, got "the_ap"; did you mean "the_api"?',
    ],
  );
  assert.match(refused({ name: 'A b' }, () => {})[0]!, /^task A b: name: expected a name of a-z/);
  assert.match(refused({ name: 'a', maxRetries: 1 }, () => {})[0]!, /unknown key "maxRetries".*"maxRetry"/);
  assert.match(refused({ name: 'a', kind: 'cpu' }, () => {})[0]!, /expected a module for kind cpu/);
  assert.match(refused({ name: 'a' })[0]!, /expected one of a function, module and handler/);
  assert.match(refused({ name: 'a', handler: 'hash' }, () => {})[0]!, /expected one of/);
  assert.match(refused({ name: 'a', handler: 'hsah' })[0]!, /did you mean "hash"\?$/);
  assert.match(refused({ name: 'a', module: './digest.ts' })[0]!, /expected new URL/);
  assert.match(refused({ name: 'a', module: new URL('https://example.org/a.ts') })[0]!, /expected new URL/);
  assert.match(refused({ name: 'a', module: new URL('./none.ts', DIGEST) })[0]!, /a file that is there/);
  assert.match(refused({ name: 'a', schedule: '61 * * * *' }, () => {})[0]!, /^task a: schedule: expected/);
  app.task({ name: 'a', group: 'the_api', with: { some_key: 1 } }, () => {});
  assert.match(refused({ name: 'a' }, () => {})[0]!, /^task a: name: expected a name that no other task has/);
});
