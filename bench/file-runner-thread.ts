/** A thread of `file-runner.ts`: takes file after file until none is left, then says so. */
import { parentPort } from 'node:worker_threads';
import type { Handler, HandlerContext } from '../src/workers/handler.ts';
import { createFileHandlers } from '../src/workers/handlers/file-handlers.ts';
import type { ThreadJob } from './file-runner.ts';

const handlers = createFileHandlers();
const nothing = { debug() {}, info() {}, warn() {}, error() {} };
const { signal } = new AbortController();

parentPort?.on('message', (job: ThreadJob) => {
  try {
    runAll(job);
    parentPort?.postMessage(null);
  } catch (thrown) {
    parentPort?.postMessage(String(thrown));
  }
});
parentPort?.postMessage(null);

function runAll({ files, handler, withOptions, next }: ThreadJob): void {
  const handle = handlers.find(({ name }) => name === handler)?.handle as Handler | undefined;
  if (handle === undefined) throw new Error(`expected a file handler, got ${handler}`);
  for (let index = Atomics.add(next, 0, 1); index < files.length; index = Atomics.add(next, 0, 1)) {
    const file = files[index]!;
    const context: HandlerContext = {
      run: `bench/${file.relative}`,
      task: 'bench',
      attempt: 1,
      signal,
      aborted: false,
      log: nothing,
      progress() {},
    };
    handle({ ...withOptions, ...file }, context);
  }
}
