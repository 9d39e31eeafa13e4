/** What is said to be held, against the heap of this process: nothing else is to grow in it meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GarbageCollector, textBytes } from '../../src/actors/kernel/index.ts';
import { RUN_BYTES, runsByteLimits } from '../../src/actors/runs/index.ts';
import { MemoryStore } from '../../src/actors/store/index.ts';
import { setup, taskSpec } from '../runs/runs-setup.ts';

test('a queued run costs what it is said to, and the default capacity fits into its share of 40 MB', async () => {
  const count = 10_000;
  const { runs, trigger, settle, events } = setup([taskSpec({ name: 'resize-image' })], {
    slots: 0,
    queues: { ready: { capacity: 1e6, whenFull: 'block' } },
    byteLimits: { ready: 1e9, retry: 1e9, delayed: 1e9, deadLetters: 1e9, journal: 1e9 },
  });
  const input = (n: number): string =>
    // As it comes from another thread: a text of its own.
    JSON.parse(JSON.stringify(JSON.stringify({ path: `/srv/inbox/${n}`, more: 'x'.repeat(115) })));
  const fill = async (from: number) => {
    for (let n = from; n < from + count; n++) {
      trigger('resize-image', { payload: input(n) });
      if (n % 500 === 499) await settle();
    }
    events.length = 0;
    await settle();
  };
  await fill(0);
  const heldBefore = heapBytes();
  const saidBefore = runs.figures.heldBytes().ready;
  await fill(count);
  const cost = (heapBytes() - heldBefore) / count;
  const said = (runs.figures.heldBytes().ready - saidBefore) / count;
  assert.ok(cost > 0.7 * said && cost < 1.1 * said, `costs ${cost}, said to cost ${said}`);
  const beside = cost - textBytes(input(count)) - textBytes('resize-image@2026-11-29T19:05:13.732Z.7sk');
  assert.ok(beside < 1.1 * RUN_BYTES, `${beside} beside id and input`);
  assert.ok(said * 15_000 <= runsByteLimits(40 * 2 ** 20).ready, `${said * 15_000}`);
});

test('the history stays within its bytes, which are those that it costs', async () => {
  const maxBytes = 2 * 2 ** 20;
  const store = new MemoryStore(
    { runs: 1e6, results: 1e6, resultTtlMs: 1e9, fileBytes: 1e12, maxBytes },
    () => 0,
  );
  const error = { code: 'handler-failed', message: 'm'.repeat(300), stack: 's'.repeat(3000) };
  const fill = (from: number) => {
    for (let n = from; n < from + 20_000; n++) {
      const bad = n % 4 === 0;
      const events = [
        {
          run: `resize@${n}`,
          task: 'resize',
          state: 'running',
          attempt: 1,
          atMs: n,
          origin: 'manual',
          createdAtMs: n,
        },
        {
          run: `resize@${n}`,
          task: 'resize',
          state: bad ? 'failed' : 'success',
          attempt: 1,
          atMs: n,
          durationMs: 1.5,
          ...(bad ? { error } : { result: JSON.stringify({ n, text: 'r'.repeat(n % 500) }) }),
        },
      ];
      // As they come from another thread.
      store.append({ first: 2 * n + 1, events: JSON.parse(JSON.stringify(events)), dropped: [] });
      assert.ok(store.usage().history <= maxBytes);
    }
  };
  const before = heapBytes();
  fill(0);
  fill(20_000);
  const held = heapBytes() - before;
  const { history, live, marks } = store.usage();
  assert.deepEqual([live, marks], [0, 0]);
  assert.ok(history > 0.9 * maxBytes);
  assert.ok(held < 1.2 * maxBytes && held > 0.6 * maxBytes, `${held} of ${maxBytes}`);
  assert.equal(store.show('resize@39996')?.error?.stack, undefined, 'stacks are for the log');
});

function heapBytes(): number {
  new GarbageCollector().collect();
  return process.memoryUsage().heapUsed;
}
