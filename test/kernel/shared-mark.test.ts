import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { SharedMark } from '../../src/actors/kernel/index.ts';

test('what is at or before the mark has passed, also where positions run over', () => {
  const mark = new SharedMark();
  assert.deepEqual([mark.passed(0), mark.passed(1)], [true, false]);
  for (const at of [5, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 7, 2 ** 40]) {
    mark.advance(at);
    assert.deepEqual(
      [mark.passed(at - 1), mark.passed(at), mark.passed(at + 1)],
      [true, true, false],
      `${at}`,
    );
  }
});

test('an open mark lets everything pass, a closed one does not any more', () => {
  const mark = new SharedMark();
  mark.setOpen(true);
  assert.equal(mark.passed(1e9), true);
  mark.setOpen(false);
  assert.equal(mark.passed(1e9), false);
});

test('who waits without blocking goes on when the mark moves, or opens', async () => {
  const mark = new SharedMark();
  const order: string[] = [];
  const waits = [2, 1].map((at) => mark.wait(at).then(() => order.push(`${at}`)));
  mark.advance(1);
  await waits[1];
  assert.deepEqual(order, ['1']);
  mark.setOpen(true);
  await waits[0];
  assert.deepEqual(order, ['1', '2']);
});

test('a thread that blocks goes on when another thread moves the mark', async () => {
  const mark = new SharedMark();
  const file = new URL('../../src/actors/kernel/shared-mark.ts', import.meta.url).href;
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(${JSON.stringify(file)}).then(({ SharedMark }) => {
      const mark = new SharedMark(workerData);
      parentPort.postMessage('waits');
      mark.waitSync(3);
      parentPort.postMessage(mark.passed(3) ? 'passed' : 'gave up');
    });`;
  const worker = new Worker(code, { eval: true, workerData: mark.memory });
  // Asked for now: a thread that ends gives its last messages and its end in one turn.
  const ended = once(worker, 'exit');
  assert.deepEqual(await once(worker, 'message'), ['waits']);
  mark.advance(2);
  mark.advance(3);
  assert.deepEqual(await once(worker, 'message'), ['passed']);
  await ended;
});
