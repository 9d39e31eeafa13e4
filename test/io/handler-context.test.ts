import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import { RunContext } from '../../src/workers/handler-context.ts';
import { testContext } from './io-fixtures.ts';

test('the signal aborts once, with the first reason, whether it was looked at before or after', () => {
  for (const early of [true, false]) {
    const { context } = testContext();
    let aborts = 0;
    if (early) context.signal.addEventListener('abort', () => aborts++);
    assert.equal(context.aborted, false);
    context.abort('timeout');
    context.abort('cancel');
    assert.equal(context.aborted, true);
    assert.equal(context.signal.aborted, true);
    assert.ok(context.signal.reason instanceof ColibriError);
    assert.equal(context.signal.reason.code, 'timeout');
    assert.equal(aborts, early ? 1 : 0);
  }
});

test('members work when taken apart', () => {
  const { context, lines, progress } = testContext('r1');
  const { log, progress: report, signal } = context;
  log.warn('careful', { path: '/a' });
  report(0.5, 'half');
  assert.equal(signal.aborted, false);
  assert.deepEqual(lines, [
    { level: 'warn', run: 'r1', task: 'task', attempt: 2, message: 'careful', fields: { path: '/a' } },
  ]);
  assert.deepEqual(progress, [[0.5, 'half']]);
});

test('progress is passed on four times a second, its end once whenever it comes', async () => {
  const clock = new TestClock();
  const { context, progress } = testContext('r1', clock);
  for (let ms = 0; ms < 1000; ms += 10) {
    context.progress(ms / 1000);
    await clock.advance(10);
  }
  assert.deepEqual(
    progress.map(([fraction]) => fraction),
    [0, 0.25, 0.5, 0.75],
  );
  context.progress(1);
  context.progress(1);
  context.progress(2);
  assert.deepEqual(progress.slice(4), [[1, null]]);
});

test('progress stays within 0 and 1, and what is no number is left out', async () => {
  const clock = new TestClock();
  const { context, progress } = testContext('r1', clock);
  for (const fraction of [Number.NaN, -3, Number.POSITIVE_INFINITY, '0.5' as unknown as number]) {
    context.progress(fraction);
    await clock.advance(300);
  }
  assert.deepEqual(progress, [[0, null]]);
});

test('a polled abort is seen by a plain look and then by the signal', () => {
  let told = false;
  const context = new RunContext(
    { run: 'r', task: 't', attempt: 1 },
    { monoMs: () => 0, log: () => {}, progress: () => {}, pollAbort: () => (told ? 'cancel' : null) },
  );
  assert.equal(context.aborted, false);
  told = true;
  assert.equal(context.aborted, true);
  assert.equal(context.signal.aborted, true);
});
