/** Preloaded into a daemon: ends its service thread, as a fault of the thread would, when the parent process says so. */
const { isMainThread } = require('node:worker_threads');

type Worker = import('node:worker_threads').Worker;

if (isMainThread) {
  const workers: Worker[] = [];
  process.on('worker', (worker: Worker) => void workers.push(worker));
  process.on('message', (message: unknown) => {
    if (message !== 'lose-service') return;
    void workers.findLast((worker) => worker.threadName === 'service')?.terminate();
  });
  // An ended daemon is not kept alive by whoever started it.
  (process as unknown as { channel?: { unref(): void } }).channel?.unref();
}
