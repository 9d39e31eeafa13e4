/** What is said to be held, against the heap. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RUN_BYTES, runsByteLimits } from '../../src/actors/runs/index.ts';
import { inFreshHeap } from '../support/fresh-heap.ts';
import type { HistoryCost, RunCost } from './held.ts';

const HELD = new URL('./held.ts', import.meta.url).href;

test('a queued run costs what it is said to, and the default capacity fits into its share of 40 MB', async () => {
  const { cost, said, texts } = await inFreshHeap<RunCost>(HELD, 'queuedRun');
  assert.ok(cost > 0.9 * said && cost < 1.1 * said, `costs ${cost}, said to cost ${said}`);
  assert.ok(cost - texts < 1.1 * RUN_BYTES, `${cost - texts} beside id and input`);
  assert.ok(said * 15_000 <= runsByteLimits(40 * 2 ** 20).ready, `${said * 15_000}`);
});

test('the history stays within its bytes, which are those that it costs', async () => {
  const { held, usage, maxBytes, stack } = await inFreshHeap<HistoryCost>(HELD, 'fullHistory');
  assert.deepEqual([usage.live, usage.marks], [0, 0]);
  assert.ok(usage.history > 0.9 * maxBytes);
  assert.ok(held < 1.2 * maxBytes && held > 0.6 * maxBytes, `${held} of ${maxBytes}`);
  assert.equal(stack, undefined, 'stacks are for the log');
});

test('200 cron tasks hold at most 300 bytes each beside their text', async () => {
  const bytes = await inFreshHeap<number>(HELD, 'cronTask');
  assert.ok(bytes <= 300, `${bytes} bytes`);
  assert.ok(bytes > 50, `${bytes} bytes: expected them to be still there`);
});
