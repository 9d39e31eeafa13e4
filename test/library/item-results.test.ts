/** What functions of a program read of lists: the results of their items, and of others once for all items. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepTexts } from '../../src/actors/flow/step-texts.ts';
import { tempDir } from '../support/temp-dir.ts';
import { library } from './library.ts';

const { App } = library;

test('a function reads the results of all items, in their order, also those that lie in files', async (t) => {
  const app = new App({ directory: tempDir(t), defaults: { maxRetry: 0 }, logLevel: 'silent' });
  t.after(() => app.stop());
  const list = app.task({ name: 'list' }, (_: string) => [3, 1, 2]);
  const one = app.task({ name: 'one', each: { list, concurrency: 3 } }, async (n) => {
    // The last one ends first.
    for (let turn = 0; turn < n * 3; turn++) await new Promise(setImmediate);
    return { n, text: n === 1 ? 'x'.repeat(300_000) : '' };
  });
  const seen: unknown[] = [];
  const sum = app.task({ name: 'sum', dependsOn: [one] }, (_: string, { resultOf }) => {
    const all = resultOf(one);
    seen.push(all.map(({ n, text }) => [n, text.length]));
    return all.reduce((total, { n }) => total + n, 0);
  });
  const two = app.task({ name: 'two', each: { list: one }, dependsOn: [one] }, ({ n }, { resultOf }) => {
    seen.push(n + resultOf(one).length);
  });
  const flow = app.flow<string>('flow', [list, one, sum, { task: two, priority: -1 }]);
  await app.start();
  const { id } = await app.trigger(flow, 'x', { wait: true });
  const numbers = seen.filter((one) => typeof one === 'number');
  assert.deepEqual(numbers.toSorted(), [4, 5, 6]);
  assert.deepEqual(
    seen.filter((one) => typeof one !== 'number'),
    [
      [
        [3, 0],
        [1, 300_000],
        [2, 0],
      ],
    ],
  );
  assert.equal((await app.run(`${id}/sum`))?.result, 6);
});

test('to one that runs all the same, what did not succeed is null; a flow again has those of both', async (t) => {
  const app = new App({ store: { kind: 'memory' }, defaults: { maxRetry: 0 }, logLevel: 'silent' });
  t.after(() => app.stop());
  let isBroken = true;
  const calls: number[] = [];
  const list = app.task({ name: 'list' }, () => [0, 1, 2]);
  const one = app.task({ name: 'one', each: { list, onItemFailure: 'continue' } }, (n) => {
    calls.push(n);
    if (isBroken && n === 1) throw new Error('no luck');
    return n * 10;
  });
  const fails = app.task({ name: 'fails', dependsOn: [list] }, (): number[] => {
    throw new Error('no list');
  });
  const never = app.task({ name: 'never', each: { list: fails } }, (n) => n);
  const seen: unknown[] = [];
  const clean = app.task(
    { name: 'clean', dependsOn: [one, never], onUpstreamFailure: 'run' },
    (_: unknown, { resultOf }) => {
      seen.push(resultOf(one), resultOf(never));
    },
  );
  const flow = app.flow('flow', [list, one, fails, never, clean]);
  await app.start();
  await assert.rejects(app.trigger(flow, undefined, { wait: true }), /step one failed|step fails failed/);
  assert.deepEqual(seen.splice(0), [[0, null, 20], null]);
  const [{ id } = { id: '' }] = await app.runs({ task: flow });
  isBroken = false;
  calls.length = 0;
  const again = await app.rerun(id, { failed: true });
  assert.deepEqual(again.forgotten, []);
  await app.idle();
  assert.deepEqual(calls, [1]);
  assert.deepEqual(seen, [[0, 10, 20], null]);
});

test('more of them than an input may have fails the step, with what to do', async (t) => {
  const app = new App({ store: { kind: 'memory' }, defaults: { maxRetry: 0 }, logLevel: 'silent' });
  t.after(() => app.stop());
  const list = app.task({ name: 'list' }, () => Array.from({ length: 30 }, (_, n) => n));
  const one = app.task({ name: 'one', each: { list, concurrency: 30 } }, () => 'x'.repeat(10_000));
  const sum = app.task({ name: 'sum', dependsOn: [one] }, (_: unknown, { resultOf }) => resultOf(one).length);
  const flow = app.flow('flow', [list, one, sum]);
  await app.start();
  await assert.rejects(
    app.trigger(flow, undefined, { wait: true }),
    /step sum failed: expected at most 262144 characters of data in an input, got more; pass a path/,
  );
});

test('what a step shares is asked for once, however many ask, and let go when it is over', async () => {
  let changes = 0;
  const texts = new StepTexts(() => changes++);
  let asked = 0;
  let answer: (text: string | null) => void = () => {};
  const ask = () => {
    asked++;
    return new Promise<string | null>((resolve) => {
      answer = resolve;
    });
  };
  const all = Array.from({ length: 100 }, () => texts.read(0, 'a', ask));
  answer('"x"');
  assert.deepEqual(new Set(await Promise.all(all)), new Set(['"x"']));
  await texts.read(0, 'a', ask);
  assert.deepEqual([asked, [...texts.held()], changes], [1, ['"x"'], 1]);
  const other = texts.read(1, 'a', ask);
  answer(null);
  assert.equal(await other, null);
  void texts.read(1, 'a', ask);
  assert.equal(asked, 3, 'what was not there is asked for again');
  texts.end(0);
  texts.end(1);
  answer('"late"');
  await new Promise(setImmediate);
  assert.deepEqual([[...texts.held()], changes], [[], 3]);
  const failing = () => texts.read(2, 'a', () => Promise.reject(new Error('no')));
  await assert.rejects(failing());
  assert.equal(await texts.read(2, 'a', async () => '1'), '1', 'and so is what could not be read');
});
