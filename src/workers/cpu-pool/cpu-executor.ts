/**
 * Piscina as this runtime uses it: loaded with the first work, one task a thread, ended without waiting for
 * what cannot be ended.
 *
 * Atomics mode `disabled`: with `sync` a thread sleeps in `Atomics.wait` between two tasks, so timers and
 * rejections that a handler left behind would only show during a later run and be blamed on it, and the
 * thread could not collect its garbage when idle. `disabled` was measured at some 25,000 messages/s against
 * 40,000 with `sync` (no-ops, 64 in flight, 2 threads); batches make up for that. `async` was no faster.
 *
 * What Piscina leaves to its user, and is done here or by the pool: it never settles a task whose thread
 * died while starting; its `destroy` waits for threads that sit in a native call; an idle thread cannot be
 * ended by hand.
 */
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Clock } from '../../actors/kernel/clock.ts';
import { type ErrorData, toErrorData } from '../../actors/kernel/errors.ts';
import { lookAtThread, type ThreadSight } from '../../actors/kernel/index.ts';
import type { CpuThreadData } from './cpu-protocol.ts';

export type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

/** Bounds of one thread's heap, MB. */
export interface CpuResourceLimits {
  readonly maxOldGenerationSizeMb: number;
  readonly maxYoungGenerationSizeMb: number;
}

export interface CpuExecutorOptions {
  readonly workerFile: string;
  readonly threads: number;
  readonly idleMs: number;
  readonly resourceLimits: CpuResourceLimits;
  readonly workerData: CpuThreadData;
  readonly clock: Clock;
  readonly createPiscina?: ((options: PiscinaOptions) => Piscina) | undefined;
  /** A string or whatever else a thread posted on its own port. */
  readonly onMessage: (message: unknown) => void;
  /** A thread begins to start, which takes it some 50 ms. */
  readonly onThreadStarts: () => void;
  /** A thread left the pool: idle, lost or ended by force. */
  readonly onThreadGone: () => void;
  /** A thread failed while nothing ran on it. */
  readonly onFault: (cause: ErrorData) => void;
}

/** `destroy` waits at most so long for threads to end. */
const DESTROY_WAIT_MS = 500;

export class CpuExecutor {
  readonly #options: CpuExecutorOptions;
  #piscina: Piscina | null = null;
  #loading: Promise<void> | null = null;
  #destroying: Promise<void> | null = null;
  /** Threads that were told to end and have not. */
  readonly #ending = new Set<Worker>();

  constructor(options: CpuExecutorOptions) {
    this.#options = options;
  }

  get ready(): boolean {
    return this.#piscina !== null;
  }

  /** Threads in the pool, starting ones included. */
  get threads(): number {
    return this.#piscina === null || this.#destroying !== null ? 0 : this.#piscina.threads.length;
  }

  /** Threads that were told to end and have not: for a moment, or for as long as a native call takes. */
  get ending(): number {
    return this.#ending.size;
  }

  /** Loads Piscina. No thread starts by it. */
  load(): Promise<void> {
    this.#loading ??= this.#create().catch((thrown: unknown) => {
      this.#loading = null;
      throw thrown;
    });
    return this.#loading;
  }

  /** Only after `load`. Aborting the signal ends the thread the text is on. */
  run(text: string, runOptions: { signal: BatchSignal }): Promise<unknown> {
    const piscina = this.#piscina;
    if (piscina === null) return Promise.reject(new Error('expected load() before run()'));
    const before = piscina.threads.length;
    const answer = piscina.run(text, runOptions);
    if (piscina.threads.length > before) this.#options.onThreadStarts();
    return answer;
  }

  /**
   * For a thread that is about to be ended: calls back when it has; at once if it is not (or no longer) in
   * the pool.
   */
  onceEnded(threadId: number, callback: () => void): void {
    const worker = this.#find(threadId);
    if (worker === undefined) callback();
    else this.#watchEnd(worker, callback);
  }

  /** What a thread of the pool does now; null if it is not (or no longer) in the pool. */
  async look(threadId: number): Promise<ThreadSight | null> {
    const worker = this.#find(threadId);
    return worker === undefined ? null : lookAtThread(worker);
  }

  /**
   * What the heap of each thread uses, bytes, in no order. Null for one that does not say so within `timeoutMs`: it is
   * inside a native call, or ending.
   */
  heapBytes(timeoutMs: number): Promise<(number | null)[]> {
    const threads = this.#destroying === null ? (this.#piscina?.threads ?? []) : [];
    return Promise.all(threads.map((thread) => this.#heapOf(thread, timeoutMs)));
  }

  /** Ends all threads; resolves when they are gone, or after 500 ms. Idempotent. */
  destroy(): Promise<void> {
    this.#destroying ??= this.#destroy();
    return this.#destroying;
  }

  #find(threadId: number): Worker | undefined {
    return this.#piscina?.threads.find((thread) => thread.threadId === threadId);
  }

  #heapOf(thread: Worker, timeoutMs: number): Promise<number | null> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimer(timeoutMs, () => resolve(null));
      const settle = (bytes: number | null): void => {
        timer.cancel();
        resolve(bytes);
      };
      thread.getHeapStatistics().then(
        (statistics) => settle(statistics.used_heap_size),
        () => settle(null),
      );
    });
  }

  async #create(): Promise<void> {
    const { createPiscina, workerFile, threads, idleMs, resourceLimits, workerData } = this.#options;
    const { onMessage, onThreadGone, onFault } = this.#options;
    const create = createPiscina ?? (await loadPiscina());
    if (this.#destroying !== null) return;
    const piscina = create({
      filename: workerFile,
      name: 'runBatch',
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: idleMs,
      atomics: 'disabled',
      recordTiming: false,
      workerHistogram: false,
      resourceLimits,
      workerData,
    });
    piscina.on('message', onMessage);
    piscina.on('workerDestroy', onThreadGone);
    piscina.on('error', (thrown: unknown) => onFault(toErrorData(thrown, 'thread-lost')));
    this.#piscina = piscina;
  }

  #watchEnd(worker: Worker, callback: () => void): void {
    this.#ending.add(worker);
    worker.once('exit', () => {
      this.#ending.delete(worker);
      callback();
    });
  }

  async #destroy(): Promise<void> {
    const piscina = this.#piscina;
    if (piscina === null) return;
    for (const worker of piscina.threads) this.#watchEnd(worker, () => {});
    const done = Promise.withResolvers<void>();
    const timer = this.#options.clock.setTimer(DESTROY_WAIT_MS, done.resolve);
    piscina.destroy().then(done.resolve, done.resolve);
    await done.promise;
    timer.cancel();
    piscina.removeAllListeners('message');
    piscina.removeAllListeners('workerDestroy');
  }
}

/**
 * As much of an abort signal as Piscina looks at. One serves all batches of a slot until it is aborted;
 * unlike `AbortSignal` it makes no events and keeps no list.
 */
export class BatchSignal {
  aborted = false;
  reason: unknown;
  #listener: (() => void) | null = null;

  addEventListener(_name: 'abort', listener: () => void): void {
    this.#listener = listener;
  }

  removeEventListener(_name: 'abort', listener: () => void): void {
    if (this.#listener === listener) this.#listener = null;
  }

  abort(reason: string): void {
    this.aborted = true;
    this.reason = reason;
    this.#listener?.();
  }
}

async function loadPiscina(): Promise<(options: PiscinaOptions) => Piscina> {
  const { Piscina } = await import('piscina');
  return (options) => new Piscina(options);
}
