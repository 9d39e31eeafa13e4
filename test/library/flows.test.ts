/** Flows of an app: tasks that wait for each other, with typed results. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { library } from './library.ts';

const { App, ColibriError, ConfigInvalid } = library;

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

test('a step that fails, and a result that nobody waits for', async (t) => {
  const app = newApp(t);
  const fails = app.task({ name: 'fails' }, async (): Promise<number> => {
    throw new Error('no');
  });
  const after = app.task({ name: 'after', dependsOn: [fails] }, (_: unknown, { resultOf }) =>
    resultOf(fails),
  );
  const ended: string[] = [];
  const flow = app.flow('flow', [fails, after], {
    onFinished: (run) => ended.push(run.state),
    onFailed: (run) => ended.push(run.error?.code ?? ''),
  });
  await app.start();
  await assert.rejects(app.trigger(flow, undefined, { wait: true }), /step fails failed/);
  // By itself it has nobody before it.
  await assert.rejects(app.trigger(after, undefined, { wait: true }), /no step of a flow/);
  await app.idle();
  await app.stop();
  assert.deepEqual(ended, ['failed', 'flow-failed']);
});

test('what is wrong with a flow is said where it is defined', (t) => {
  const app = newApp(t);
  const a = app.task({ name: 'a' }, () => 1);
  const b = app.task({ name: 'b', dependsOn: [a] }, () => 2);
  const refused = (work: () => unknown, message: RegExp) =>
    assert.throws(work, (error) => error instanceof ConfigInvalid && message.test(error.message));
  refused(() => app.flow('f', [b]), /flow f: step b: expected a step of this flow, got "a"/);
  refused(() => app.flow('a', [a]), /expected a name that no other flow or task has/);
  refused(() => app.flow('f', [a], { schedule: 'often' }), /task f: schedule: /);
  refused(() => app.flow('f', []), /expected at least one step/);
  assert.throws(() => app.task({ name: 'c', dependsOn: [{ name: 'x' }] }, () => 1), ColibriError);
});
