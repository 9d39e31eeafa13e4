/**
 * Ties a batch runner to the thread it is on: its port, its escaped errors, its end.
 */
import type { MessagePort } from 'node:worker_threads';
import { SharedMark } from '../../actors/kernel/shared-mark.ts';
import type { Tidier } from '../../actors/kernel/tidier.ts';
import { ResultFolder } from '../../actors/results/result-folder.ts';
import { captureOutput } from '../capture-output.ts';
import type { CpuThreadData } from '../cpu-pool/cpu-protocol.ts';
import { CpuBatchRunner, type CpuBatchRunnerOptions } from './cpu-batch.ts';
import { ThreadVoice } from './thread-voice.ts';

export interface CpuThreadOptions {
  readonly data: CpuThreadData;
  readonly port: MessagePort | null;
  readonly resolve: CpuBatchRunnerOptions['resolve'];
  readonly tidier?: Tidier;
}

/** Gives the function that takes the text of a batch. Called once a thread. */
export function startCpuThread(options: CpuThreadOptions): (text: string) => Promise<string> {
  const voice = new ThreadVoice((text) => options.port?.postMessage(text));
  let ended = false;
  const runner = new CpuBatchRunner({
    resolve: options.resolve,
    memory: options.data.memory,
    ...(options.data.mark === undefined ? {} : { mark: new SharedMark(options.data.mark) }),
    voice,
    results: options.data.results == null ? null : new ResultFolder(options.data.results),
    exit: () => {
      ended = true;
      process.exit(1);
    },
    ...(options.tidier === undefined ? {} : { tidier: options.tidier }),
  });
  captureOutput((level, line) => voice.printed(level, line));
  process.on('uncaughtException', (thrown) => runner.escaped(thrown));
  process.on('unhandledRejection', (thrown) => runner.escaped(thrown));
  process.on('exit', (code) => {
    // While an order runs, main sees which one it was; this is for a call from a timer between two batches.
    if (ended || runner.busy) return;
    const message = `expected the thread to live on, got process.exit(${code}) outside of a run`;
    voice.say({ kind: 'ending', batch: 0, cause: { code: 'thread-lost', message }, tasks: [] });
  });
  return (text) => runner.run(text);
}
