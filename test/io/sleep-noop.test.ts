import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Handler } from '../../src/workers/handler.ts';
import { noop } from '../../src/workers/handlers/noop.ts';
import { sleep } from '../../src/workers/handlers/sleep.ts';
import { testContext } from './io-fixtures.ts';

const handle = sleep.handle as Handler;

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test('sleep waits at least so long', async () => {
  const start = performance.now();
  assert.deepEqual(await handle({ ms: 20 }, testContext().context), { slept_ms: 20 });
  assert.ok(performance.now() - start >= 18);
});

test('sleep ends at once when told to stop, and leaves no timer', async () => {
  const { context } = testContext();
  const before = timers();
  const slept = handle({ ms: 1e12 }, context) as Promise<unknown>;
  assert.equal(timers(), before + 1);
  context.abort('cancel');
  await assert.rejects(slept, { code: 'cancelled' });
  assert.equal(timers(), before);
});

test('sleep does not start when it was told to stop before', async () => {
  const { context } = testContext();
  context.abort('shutdown');
  const before = timers();
  await assert.rejects(handle({ ms: 1000 }, context) as Promise<unknown>, { code: 'cancelled' });
  assert.equal(timers(), before);
});

test('sleep leaves no listener on the signal', async () => {
  const { context } = testContext();
  let listeners = 0;
  const { signal } = context;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  await handle({ ms: 0 }, context);
  assert.equal(listeners, 0);
});

test('sleep refuses what is no time', () => {
  for (const ms of [undefined, null, -1, Number.NaN, '5', {}]) {
    assert.throws(() => handle({ ms }, testContext().context), { code: 'input-invalid' });
  }
  assert.throws(() => handle(null, testContext().context), { code: 'input-invalid' });
});

test('noop does nothing, on either kind', async () => {
  assert.equal(await (noop.handle as Handler)({}, testContext().context), null);
  assert.deepEqual(noop.kinds, ['io', 'cpu']);
  assert.deepEqual(sleep.kinds, ['io', 'cpu']);
});
