/** The output of threads, and what they leave on the streams of the process when they have ended. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { quietly } from '../../src/workers/threads/quiet-worker.ts';

test('W5: threads that have ended leave no listener on the streams of the process, printing or not', async () => {
  const listeners = () =>
    [process.stdout, process.stderr].map((stream) =>
      stream.eventNames().map((name) => `${String(name)}: ${stream.listenerCount(name)}`),
    );
  const run = async (code: string): Promise<void> => {
    const worker = quietly((options) => new Worker(code, options), { eval: true });
    await once(worker, 'exit');
  };
  const prints = 'process.stdout.write("\\n"); process.stderr.write("\\n")';
  await run(prints);
  const before = listeners();
  for (let count = 0; count < 4; count++) await Promise.all([run('0'), run(prints)]);
  assert.deepEqual(listeners(), before);
});
