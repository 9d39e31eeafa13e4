/**
 * Runs a built-in file handler over a list of files on bare worker threads: what the handlers can do with
 * nothing above them. The benchmarks take any function of this form, the daemon's own way too.
 */
import { Worker } from 'node:worker_threads';
import type { CorpusFile } from './corpus.ts';

/** Resolves when the handler has run for each file; rejects if it failed for one. */
export type RunFiles = (
  files: readonly CorpusFile[],
  handler: 'hash' | 'compress' | 'decompress',
  withOptions: Readonly<Record<string, unknown>>,
) => Promise<void>;

export interface FileRunner {
  readonly run: RunFiles;
  close(): Promise<void>;
}

export interface ThreadJob {
  readonly files: readonly CorpusFile[];
  readonly handler: string;
  readonly withOptions: Readonly<Record<string, unknown>>;
  /** One cell: index of the next file that no thread has taken. */
  readonly next: Int32Array;
}

/** Threads that are up before the first run. */
export async function openFileRunner(threads: number): Promise<FileRunner> {
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('./file-runner-thread.ts', import.meta.url)),
  );
  await Promise.all(workers.map((worker) => answerOf(worker)));
  return {
    async run(files, handler, withOptions) {
      const next = new Int32Array(new SharedArrayBuffer(4));
      const job: ThreadJob = { files, handler, withOptions, next };
      const answers = workers.map((worker) => answerOf(worker));
      for (const worker of workers) worker.postMessage(job);
      await Promise.all(answers);
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

function answerOf(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (failure: string | null) => {
      worker.off('error', reject);
      if (failure === null) resolve();
      else reject(new Error(failure));
    });
  });
}
