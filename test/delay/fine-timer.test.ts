/** The timer to a fraction of a millisecond, on the real clock: a busy machine makes it later, never earlier. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/actors/kernel/clock.ts';
import { FineTimer } from '../../src/actors/kernel/fine-timer.ts';

test('it fires once and never early', async () => {
  const delays = [0, 0.01, 0.3, 0.99, 1, 1.4, 2.9, 7.7];
  const fired = new Map<number, number>();
  await Promise.all(
    delays.map((delayMs) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const startMono = performance.now();
      new FineTimer(delayMs, () => {
        assert.ok(performance.now() - startMono >= delayMs, `${delayMs}: early`);
        fired.set(delayMs, (fired.get(delayMs) ?? 0) + 1);
        resolve();
      });
      return promise;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    [...fired.values()],
    delays.map(() => 1),
  );
});

test('what need not wait waits for a turn of the event loop all the same', async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  new FineTimer(-1, () => {
    order.push('timer');
    resolve();
  });
  order.push('now');
  await promise;
  assert.deepEqual(order, ['now', 'timer']);
});

test('cancelled, it does not fire, wherever its wait is', async () => {
  const wrong = () => assert.fail('it was cancelled');
  const sleeping = systemClock.setFineTimer!(50, wrong);
  const napping = systemClock.setFineTimer!(0.9, wrong);
  const soon = systemClock.setFineTimer!(0, wrong);
  for (const timer of [sleeping, napping, soon]) timer.cancel();
  for (const timer of [sleeping, napping, soon]) timer.cancel();
  await new Promise((resolve) => systemClock.setFineTimer!(60, () => resolve(null)));
});

test('it keeps a thread alive unless it is told not to', async () => {
  const url = new URL('../../src/actors/kernel/fine-timer.ts', import.meta.url).href;
  const program = (unref: boolean) => `
    import { FineTimer } from ${JSON.stringify(url)};
    const timer = new FineTimer(${unref ? 3_600_000 : 20}, () => console.log('fired'));
    if (${unref}) timer.unref();`;
  for (const unref of [true, false]) {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program(unref))}`), {
      stdout: true,
    });
    let text = '';
    worker.stdout.on('data', (chunk) => {
      text += String(chunk);
    });
    await once(worker, 'exit');
    assert.equal(text, unref ? '' : 'fired\n');
  }
});
