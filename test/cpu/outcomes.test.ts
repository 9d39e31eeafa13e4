import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../support/temp-dir.ts';
import { Harness } from './harness.ts';

test('a result comes back as JSON text, undefined as null', async (t) => {
  const harness = new Harness(t);
  const value = await harness.run('value', { value: { a: [1, 'ü'] } });
  assert.equal(value.status, 'success');
  assert.equal(value.result, '{"a":[1,"ü"]}');
  assert.ok(value.durationMs >= 0);
  const nothing = await harness.run('nothing');
  assert.deepEqual([nothing.status, nothing.result, nothing.error], ['success', 'null', null]);
  const attempt = await harness.run('attempt', { task: 'my-task' });
  assert.deepEqual(JSON.parse(attempt.result ?? ''), { run: attempt.run, task: 'my-task', attempt: 1 });
});

test('W6: what a handler throws is the failure of its run', async (t) => {
  const harness = new Harness(t);
  const expected = {
    throw: 'thrown on purpose',
    reject: 'rejected on purpose',
    'throw-text': 'just text',
  };
  for (const [act, message] of Object.entries(expected)) {
    const outcome = await harness.run(act);
    assert.equal(outcome.status, 'failed');
    assert.equal(outcome.error?.code, 'handler-failed');
    assert.match(outcome.error?.message ?? '', new RegExp(message));
    assert.equal(outcome.retryable, true);
  }
  const unclonable = await harness.run('unclonable');
  assert.equal(unclonable.error?.code, 'result-not-json');
  const unknown = await harness.run('nothing', { handler: 'nobody' });
  assert.equal(unknown.error?.code, 'no-such-handler');
  assert.equal(unknown.retryable, false);
  assert.deepEqual(harness.lost, []);
});

test('log lines and progress reach the pool, bounded', async (t) => {
  const harness = new Harness(t);
  const { run } = await harness.run('talk');
  await harness.until(() => harness.progress.length > 0 && harness.logs.length > 0);
  assert.deepEqual(harness.progress, [[run, 0.5, 'half']]);
  assert.equal(harness.logs[0]?.msg, 'half way');
  assert.deepEqual(harness.logs[0]?.fields, { step: 1, task: 'talk', run, attempt: 1 });
  await harness.run('chatter');
  await harness.run('nothing');
  assert.ok(harness.logs.length <= 450, `expected at most 450 lines, got ${harness.logs.length}`);
});

test('no thread before the first order, no more than slots, and word of each start', async (t) => {
  const harness = new Harness(t);
  assert.equal(harness.piscina, null);
  assert.equal(harness.pool.threadCount, 0);
  harness.pool.wake();
  await Promise.resolve();
  assert.equal(harness.piscina, null);
  assert.equal(harness.threadStarts, 0);
  const runs = Array.from({ length: 50 }, () => harness.add('wait'));
  harness.pool.wake();
  await Promise.all(runs.map((run) => harness.outcome(run)));
  assert.equal(harness.pool.threadCount, 2);
  assert.equal(harness.threadStarts, 2);
});

test('warm starts a thread ahead of the first order', async (t) => {
  const harness = new Harness(t);
  await harness.pool.warm();
  assert.equal(harness.pool.threadCount, 1);
  assert.equal(harness.pool.active, 0);
  assert.equal((await harness.run('nothing')).status, 'success');
});

test('each thread tells what its heap uses, but one inside a long native call', async (t) => {
  const harness = new Harness(t, { threads: 2 });
  assert.deepEqual(await harness.pool.heapBytes(1000), []);
  await harness.run('nothing');
  const [bytes] = await harness.pool.heapBytes(5000);
  assert.ok(bytes !== null && bytes !== undefined && bytes > 1_000_000 && bytes < 64_000_000, `${bytes}`);
  const pipe = join(tempDir(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const blocked = harness.run('native', { value: pipe });
  await harness.reached(1);
  // It says that it is there just before the call.
  while (!(await harness.pool.heapBytes(50)).includes(null));
  closeSync(openSync(pipe, 'w'));
  assert.equal((await blocked).status, 'success');
  assert.ok(!(await harness.pool.heapBytes(5000)).includes(null));
});
