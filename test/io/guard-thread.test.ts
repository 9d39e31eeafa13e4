import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Outcome } from '../../src/actors/execution.ts';
import type { LogRecord } from '../../src/actors/protocol.ts';
import { order } from './io-fixtures.ts';

type FromWorker = { readonly outcome?: Outcome; readonly log?: LogRecord };

/** handler → how its run ends. */
const ENDS: readonly [handler: string, code: string, message: RegExp][] = [
  ['timer', 'handler-failed', /in a timer or callback.*: in a timer/],
  ['null', 'handler-failed', /not an Error.*null/],
  ['immediate', 'handler-failed', /not an Error.*"text"/],
  ['microtask', 'handler-failed', /not an Error.*undefined/],
  ['tick', 'handler-failed', /Symbol\(tick\)/],
  ['floating', 'handler-failed', /rejected promise.*: floating/],
  ['floating-later', 'handler-failed', /rejected promise.*: deep/],
  ['exit', 'worker-lost', /process\.exit\(3\)/],
  ['exit-caught', 'worker-lost', /process\.exit\(4\)/],
  ['exit-timer', 'worker-lost', /process\.exit\(5\)/],
  ['exit-named', 'worker-lost', /process\.exit\(6\)/],
];

test('W6: what a handler throws where nobody waits fails its own run, and the thread goes on', async (t) => {
  const worker = new Worker(new URL('./guard-worker.ts', import.meta.url));
  t.after(() => worker.terminate());
  const waiting = new Map<string, (outcome: Outcome) => void>();
  const counts = new Map<string, number>();
  const logs: LogRecord[] = [];
  const logged = Promise.withResolvers<void>();
  let exits = 0;
  worker.on('exit', () => exits++);
  worker.on('message', ({ outcome, log }: FromWorker) => {
    if (log !== undefined) logs.push(log);
    const texts = logs.map(({ msg }) => msg).join('\n');
    if (texts.includes('nobody') && texts.includes('after the end')) logged.resolve();
    if (outcome === undefined) return;
    counts.set(outcome.run, (counts.get(outcome.run) ?? 0) + 1);
    waiting.get(outcome.run)?.(outcome);
  });
  const execute = (run: string, handler: string) => {
    const ended = new Promise<Outcome>((resolve) => waiting.set(run, resolve));
    worker.postMessage(order(run, { handler }));
    return ended;
  };
  await once(worker, 'online');

  const bystanders = [execute('by-1', 'fine'), execute('after', 'after-end')];
  const ended = await Promise.all(ENDS.map(([handler]) => execute(`run-${handler}`, handler)));
  for (const [at, [handler, code, message]] of ENDS.entries()) {
    assert.equal(ended[at]?.status, 'failed', handler);
    assert.equal(ended[at]?.error?.code, code, handler);
    assert.match(ended[at]?.error?.message ?? '', message);
  }
  for (const outcome of await Promise.all(bystanders)) assert.equal(outcome.status, 'success');
  await logged.promise;
  assert.equal((await execute('last', 'fine')).result, '"fine"');
  assert.equal(exits, 0);
  for (const [run, count] of counts) assert.equal(count, 1, run);
  const unowned = logs.find(({ msg }) => msg.includes('nobody'));
  assert.equal(unowned?.level, 'error');
  assert.equal(logs.find(({ msg }) => msg.includes('after the end'))?.fields?.run, 'after');
});
