/** Flows of an app: tasks that wait for each other, with typed results. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppConfig } from '../../src/main/library/app-config.ts';
import { library } from './library.ts';

const { App, ColibriError, ConfigInvalid, RunFailed, TestClock } = library;

function newApp(t: { after(undo: () => Promise<void>): void }) {
  const app = new App({ store: { kind: 'memory' }, defaults: { maxRetry: 0 } });
  t.after(() => app.stop());
  return app;
}

test('results of the tasks before, the payload for all, and the end is told', async (t) => {
  const app = newApp(t);
  const pullOrder = app.task({ name: 'pull_order' }, async (date: string) => [
    { date, amount: 3 },
    { date, amount: 4 },
  ]);
  const sumAmount = app.task({ name: 'sum_amount', dependsOn: [pullOrder] }, async (date: string, ctx) => {
    const orders = ctx.resultOf(pullOrder);
    return { date, total: orders.reduce((sum, order) => sum + order.amount, 0) };
  });
  const seen: unknown[] = [];
  const tell = app.task(
    { name: 'tell', dependsOn: [sumAmount, pullOrder] },
    (_date: string, { resultOf, run }) => {
      seen.push(resultOf(sumAmount).total, resultOf(pullOrder).length, run.endsWith('/tell'));
    },
  );
  const ended: string[] = [];
  const report = app.flow('daily_report', [pullOrder, sumAmount, tell], {
    overlap: 'allow',
    onFinished: (run) => ended.push(`finished ${run.state}`),
    onFailed: () => ended.push('failed'),
  });
  await app.start();
  const run = await app.trigger(report, '2026-01-01', { wait: true });
  assert.equal(run.state, 'success');
  assert.deepEqual(seen, [7, 2, true]);
  const sum = await app.run(`${run.id}/sum_amount`);
  assert.deepEqual([sum?.result, sum?.flow, sum?.origin], [{ date: '2026-01-01', total: 7 }, run.id, 'flow']);
  await app.stop();
  assert.deepEqual(ended, ['finished success']);
});

test('a step that fails, a result that nobody waits for, and the flow once more', async (t) => {
  const app = newApp(t);
  const fails = app.task({ name: 'fails' }, async (): Promise<number> => {
    throw new Error('no');
  });
  const after = app.task({ name: 'after', maxRetry: 3, dependsOn: [fails] }, (_: unknown, { resultOf }) =>
    resultOf(fails),
  );
  const ended: string[] = [];
  const flow = app.flow('flow', [fails, after], {
    onFinished: (run) => ended.push(run.state),
    onFailed: (run) => ended.push(run.error?.code ?? ''),
  });
  const checkAgain = defineAgain(app);
  await app.start();
  await assert.rejects(app.trigger(flow, undefined, { wait: true }), /step fails failed/);
  // By itself it has nobody before it, however often it is tried.
  await assert.rejects(
    app.trigger(after, undefined, { wait: true }),
    (error) =>
      error instanceof RunFailed &&
      /no step of a flow; trigger/.test(error.message) &&
      error.run.attempt === 1,
  );
  await app.idle();
  await checkAgain();
  await app.stop();
  assert.deepEqual(ended, ['failed', 'flow-failed']);
});

test('idle: what was triggered counts, a rate does not, and each end was told, steps before their flow', async (t) => {
  const clock = new TestClock();
  const group = { rate: '1/10s', burst: 1 };
  const options = {
    store: { kind: 'memory' },
    clock,
    groups: { slow: group },
    defaults: { maxRetry: 0 },
  } as const;
  const app = new App(options);
  t.after(() => app.stop());
  const list = app.task({ name: 'list' }, async () => [1, 2]);
  const each = app.task({ name: 'each', each: { list } }, async (item) => item);
  const flow = app.flow('flow', [list, each]);
  const slow = app.task({ name: 'slow', group: 'slow', overlap: 'allow' }, async () => {});
  const ended: string[] = [];
  app.on('runEnded', ({ id }) => ended.push(id.replace(/@[^/]*/, '')));
  await app.start();
  const run = app.trigger(flow, undefined, { wait: true });
  await app.idle();
  assert.deepEqual(ended.splice(0), ['flow/list', 'flow/each[0]', 'flow/each[1]', 'flow']);
  await run;

  // Each has its turn by time alone.
  for (let one = 0; one < 3; one++) void app.trigger(slow);
  await app.idle();
  const began = ended.length;
  assert.ok(began < 3);
  assert.equal((await app.runs({ task: slow, state: 'ready' })).length, 3 - began);
  for (let one = began; one < 3; one++) {
    await clock.advance(10_000);
    await app.idle();
    assert.equal(ended.length, one + 1);
  }
});

test('what is wrong with a flow is said where it is defined', (t) => {
  const app = newApp(t);
  const a = app.task({ name: 'a' }, () => 1);
  const b = app.task({ name: 'b', dependsOn: [a] }, () => 2);
  const refused = (work: () => unknown, message: RegExp) =>
    assert.throws(work, (error) => error instanceof ConfigInvalid && message.test(error.message));
  refused(() => app.flow('f', [b]), /flow f: step b: dependsOn\[0\]: expected a step of this flow, got "a"/);
  refused(() => app.flow('a', [a]), /expected a name that no other flow or task has/);
  refused(() => app.flow('f', [a], { schedule: 'often' }), /flow f: schedule: /);
  refused(() => app.flow('f', []), /expected at least one step/);
  refused(() => app.flow('f', [{ task: a, priority: 0.5 }]), /step a: priority: expected an integer/);
  assert.throws(() => app.task({ name: 'c', dependsOn: [{ name: 'x' }] }, () => 1), ColibriError);
  // What only a step says, at its task.
  const slip = { list: a, onItemFail: 'stop' };
  refused(
    () => app.task({ name: 'c', each: slip as never }, () => 1),
    /task c: each.onItemFail: unknown key/,
  );
  const twice = { name: 'c', dependsOn: [a, a], onUpstreamFailure: 'stop' as 'skip' };
  refused(() => app.task(twice, () => 1), /task c: onUpstreamFailure: .*\n.*task c: dependsOn\[1\]: /);
  // And in the list of its flow.
  const bad = { task: a, maxRetry: -1, expect: { minRows: 2, maxRows: 1 } };
  refused(() => app.flow('f', [bad]), /step a: maxRetry: .*\n.*step a: expect.maxRows: .* minRows \(2\)/);
  const ahead = { task: a, with: { x: '{{ steps.b.result }}' } };
  refused(() => app.flow('f', [ahead]), /step a: with.x: expected a step of this flow, got "b"/);
  const files = app.task({ name: 'files', each: { files: './none/*' } }, () => 1);
  refused(() => app.flow('f', [files]), /step files: task: expected a task with one run/);
  const failure = { task: a, with: { x: '{{ steps.a.result }}' } };
  refused(() => app.flow('f', [a], { onFailure: failure }), /flow f: onFailure.with.x: /);
});

test('what is said of a task is not said again for each flow that it is in', () => {
  const config = new AppConfig({ shutdown: { graceSeconds: 5 } }, Date.now);
  const name = config.add({ name: 'slow', timeoutSeconds: 60 }, () => 1);
  const told = () => [...config.warnings].map(({ message }) => message);
  const before = told();
  assert.equal(before.length, 1);
  const steps = [{ task: name, settings: {}, with: undefined }];
  config.addFlow('one', { steps, failure: null, options: {} });
  config.addFlow('two', { steps, failure: null, options: {} });
  assert.deepEqual(told(), before);
});

test('lists, guards, limits of a step, what it is given in place of the payload, and of what failed', async (t) => {
  const app = newApp(t);
  const orders = app.task({ name: 'orders' }, () => [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]);
  const rate = app.task({ name: 'rate' }, (_: string) => 10);
  let running = 0;
  let most = 0;
  const bill = app.task(
    { name: 'bill', each: { list: orders, concurrency: 2, onItemFailure: 'continue' }, dependsOn: [rate] },
    async ({ id }, { resultOf, flow: of }) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      if (id === 3) throw new Error('no such order');
      return [id * resultOf(rate), of?.payload];
    },
  );
  const clean = app.task({ name: 'clean', dependsOn: [bill], onUpstreamFailure: 'run' }, () => 'clean');
  const billing = app.flow<string>('billing', [orders, rate, bill, clean]);
  const checkGuards = defineGuards(app);
  await app.start();
  await assert.rejects(app.trigger(billing, 'monday', { wait: true }), /step bill failed/);
  const [{ id } = { id: '' }] = await app.runs({ task: billing });
  assert.equal(most, 2);
  const bills = [];
  for (let item = 0; item < 4; item++) bills.push(await app.run(`${id}/bill[${item}]`));
  assert.deepEqual(
    bills.map((run) => run?.result ?? run?.state),
    [[10, 'monday'], [20, 'monday'], 'failed', [40, 'monday']],
  );
  // What the function got, and nothing of what it may ask for.
  assert.deepEqual(bills[1]?.input, { id: 2 });
  const steps = await app.steps(id);
  assert.deepEqual(
    steps?.map(({ step, state }) => `${step} ${state}`),
    ['orders success', 'rate success', 'bill failed', 'clean success'],
  );
  await checkGuards();
});

function defineGuards(app: InstanceType<typeof App>): () => Promise<void> {
  let tries = 0;
  const pull = app.task({ name: 'pull', with: { limit: 5 } }, (input: { day?: string; limit?: number }) => {
    tries++;
    if (tries < 3) throw new Error('not yet');
    return { rows: [input] };
  });
  const use = app.task({ name: 'use', dependsOn: [pull] }, (input: { first?: unknown }) => input);
  const backoff = { baseSeconds: 0, capSeconds: 0 };
  const good = app.flow<{ day: string }>('good', [
    { task: pull, maxRetry: 2, backoff, expect: { rows: 'rows', minRows: 1 } },
    { task: use, with: { first: '{{ steps.pull.result.rows[0] }}', due: '{{ flow.due }}' } },
  ]);
  const bad = app.flow<{ day: string }>('bad', [{ task: pull, expect: { rows: 'rows', minRows: 2 } }]);
  const { seen, flow } = defineAfterFailures(app);
  return async () => {
    const run = await app.trigger(good, { day: 'monday' }, { wait: true });
    const used = (await app.run(`${run.id}/use`))?.result as { first: unknown; due: string };
    // The payload is laid over `with` of the task, as for a run by itself.
    assert.deepEqual(used.first, { limit: 5, day: 'monday' });
    assert.equal(Number.isNaN(Date.parse(used.due)), false);
    await assert.rejects(app.trigger(bad, { day: 'monday' }, { wait: true }), /step pull failed/);
    const [{ id } = { id: '' }] = await app.runs({ task: bad });
    const [step] = (await app.steps(id)) ?? [];
    assert.deepEqual(
      [step?.reason, step?.detail],
      ['not-expected', 'result.rows: expected at least 2 rows, got 1'],
    );

    // One that runs after a failure has no result of it, nor one that was not as expected.
    await assert.rejects(app.trigger(flow, {}, { wait: true }));
    assert.deepEqual(seen, [undefined, null, 7]);
  };
}

function defineAfterFailures(app: InstanceType<typeof App>) {
  const fails = app.task({ name: 'fails' }, (): { total: number } => {
    throw new Error('no');
  });
  const empty = app.task({ name: 'empty' }, () => [] as number[]);
  const works = app.task({ name: 'works' }, () => 7);
  const seen: unknown[] = [];
  const clean = app.task(
    { name: 'clean-up', dependsOn: [fails, empty, works], onUpstreamFailure: 'run' },
    (_: unknown, { resultOf }) => {
      seen.push(resultOf(fails)?.total, resultOf(empty), resultOf(works));
    },
  );
  const flow = app.flow<unknown>('flow', [fails, { task: empty, expect: { minRows: 1 } }, works, clean]);
  return { seen, flow };
}

function defineAgain(app: InstanceType<typeof App>): () => Promise<void> {
  const calls: string[] = [];
  let isBroken = true;
  const a = app.task({ name: 'a' }, () => calls.push('a'));
  const b = app.task({ name: 'b', dependsOn: [a] }, () => {
    calls.push('b');
    if (isBroken) throw new Error('no', { cause: new Error('root') });
  });
  const told: unknown[] = [];
  const alarm = app.task({ name: 'alarm' }, (input: unknown, { flow: of }) => {
    told.push(input, of?.run, of?.payload, of?.failedStep, of?.error);
  });
  const flow = app.flow<string>('again', [a, b], { onFailure: { task: alarm } });
  return async () => {
    const failed = await app.trigger(flow, 'now', { wait: true }).catch((error: unknown) => error);
    assert.ok(failed instanceof RunFailed);
    await app.idle();
    const [{ id } = { id: '' }] = await app.runs({ task: flow });
    assert.equal(failed.message, `expected run ${id} to succeed, got failed: step b failed: no`);
    const cause = failed.cause as Error;
    assert.deepEqual([cause.message, (cause.cause as Error).message], ['no', 'root']);
    assert.deepEqual(told, ['now', id, 'now', 'b', 'step b failed: no']);
    isBroken = false;
    const again = await app.rerun(id, { failed: true });
    assert.deepEqual(again, { id: again.id, forgotten: [], againBehind: [] });
    await app.idle();
    assert.equal((await app.run(again.id))?.state, 'success');
    assert.deepEqual(calls, ['a', 'b', 'b']);
    await app.rerun(id, { from: a });
    await app.idle();
    assert.deepEqual(calls, ['a', 'b', 'b', 'a', 'b']);
    await assert.rejects(app.rerun(id, { from: a, failed: true }), /either from or failed/);
    await assert.rejects(app.steps('nothing'), /expected the id of a run of a flow/);
  };
}
