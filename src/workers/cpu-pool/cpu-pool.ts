/**
 * The cpu pool: takes orders while it has free slots and runs them on threads of Piscina, long ones alone,
 * tiny ones in batches.
 *
 * What always holds:
 * - every order that was taken gets exactly one outcome, at the latest when its timeout, the grace and the
 *   end of its thread have passed, whatever its handler does
 * - at most `slots` batches are out, each on a thread of its own; a thread runs one order at a time
 * - no Piscina and no thread before the first order; none after `idleMs` without one
 */

import {
  type AbortReason,
  type ExecuteOrder,
  type Outcome,
  type Pool,
  PoolName,
  type WorkSource,
} from '../../actors/execution.ts';
import type { Clock } from '../../actors/kernel/clock.ts';
import { type ErrorData, toErrorData } from '../../actors/kernel/errors.ts';
import type { LogRecord } from '../../actors/protocol.ts';
import type { BlockedFields } from '../blocked-thread.ts';
import { BusyMeter } from '../busy-meter.ts';
import { BatchSizer } from './batch-size.ts';
import type { CpuExecutorOptions, CpuResourceLimits } from './cpu-executor.ts';
import type { CpuWorkerData } from './cpu-protocol.ts';
import { CpuSlots } from './cpu-slots.ts';
import { DeadlineTimer } from './deadline-timer.ts';

export interface CpuPoolOptions {
  /** Absolute path of the file that cpu threads start from. */
  readonly workerFile: string;
  /** The most threads, and slots. */
  readonly threads: number;
  /** A thread without work for so long ends. */
  readonly idleMs: number;
  /** Between telling a run to stop and ending its thread. Default 1000. */
  readonly graceMs?: number;
  readonly source: WorkSource;
  readonly workerData: CpuWorkerData;
  /** Bounds of each thread's heap. Default 64 MB old, 2 MB young. */
  readonly resourceLimits?: CpuResourceLimits;
  readonly clock: Clock;
  readonly onOutcome: (outcome: Outcome) => void;
  readonly onLog: (record: LogRecord) => void;
  readonly onProgress: (run: string, fraction: number, note: string | null) => void;
  /** A thread begins to start, which takes it some 50 ms. */
  readonly onThreadStarts: () => void;
  /** A thread ended that was not idle, or by itself. `fields`: the run it was lost with, for the log. */
  readonly onThreadLost: (cause: ErrorData, fields: BlockedFields) => void;
  /** Builds the executor; a parameter for tests. */
  readonly createPiscina?: CpuExecutorOptions['createPiscina'];
  /** Decides what travels together; a parameter for tests. */
  readonly sizer?: BatchSizer;
}

export const DEFAULT_LIMITS: CpuResourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 };
/** Pause after threads that failed to start: doubled from the first to the second bound. */
const RESTART_BASE_MS = 100;
const RESTART_CAP_MS = 30_000;

export class CpuPool implements Pool {
  readonly name = PoolName.Cpu;
  readonly #options: CpuPoolOptions;
  readonly #clock: Clock;
  readonly #sizer: BatchSizer;
  readonly #slots: CpuSlots;
  readonly #busyMeter: BusyMeter;
  readonly #restTimer: DeadlineTimer;
  #limit: number;
  #active = 0;
  #taking = true;
  #loading = false;
  #wakePending = false;
  #failedStarts = 0;
  #restMono = 0;
  #drained: PromiseWithResolvers<void> | null = null;

  constructor(options: CpuPoolOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#sizer = options.sizer ?? new BatchSizer();
    this.#limit = options.threads;
    this.#busyMeter = new BusyMeter(options.clock.monoMs());
    this.#restTimer = new DeadlineTimer(options.clock, () => this.wake());
    this.#slots = new CpuSlots({
      ...options,
      graceMs: options.graceMs ?? 1000,
      resourceLimits: options.resourceLimits ?? DEFAULT_LIMITS,
      settle: this.#settle,
      onFree: this.#freed,
      onSuspect: (task) => this.#sizer.distrust(task),
      onStarted: () => {
        this.#failedStarts = 0;
      },
      onFailedStart: (cause) => this.#failedStart(cause),
    });
  }

  get slots(): number {
    return this.#limit;
  }

  get active(): number {
    return this.#active;
  }

  get threadCount(): number {
    return this.#slots.executor.threads;
  }

  /**
   * Threads that were told to end and have not, because they sit in a native call. After `destroy` they also
   * hold up `process.exit`, which waits for every thread.
   */
  get stuckThreads(): number {
    return this.#slots.executor.ending;
  }

  /** See `CpuExecutor.heapBytes`. */
  heapBytes(timeoutMs: number): Promise<(number | null)[]> {
    return this.#slots.executor.heapBytes(timeoutMs);
  }

  /** Share of slot time in use since the last look, 0 to 1. */
  get busyRatio(): number {
    const nowMono = this.#clock.monoMs();
    this.#busyMeter.add(this.#slots.busy, this.#limit, nowMono);
    return this.#busyMeter.read(nowMono);
  }

  wake(): void {
    if (this.#wakePending || !this.#taking) return;
    this.#wakePending = true;
    // Once a turn, so that orders which become ready together can travel together.
    queueMicrotask(this.#fill);
  }

  /** Uses at most `threads` slots, within 1 and the number given at the start; running work is left alone. */
  resize(threads: number): void {
    this.#busyMeter.add(this.#slots.busy, this.#limit, this.#clock.monoMs());
    this.#limit = Math.min(this.#options.threads, Math.max(1, Math.trunc(threads)));
    this.wake();
  }

  /** True: orders go to threads one by one, so that none wait there. */
  setNarrow(narrow: boolean): void {
    this.#sizer.narrow = narrow;
  }

  /** Loads the executor and starts a thread, so that the first order does not wait for it. */
  async warm(): Promise<void> {
    await this.#slots.executor.load();
    if (this.#taking && this.#slots.busy === 0 && this.#slots.canSend) await this.#slots.send([]);
  }

  abort(run: string, reason: AbortReason): boolean {
    return this.#slots.abort(run, reason);
  }

  drain(): Promise<void> {
    this.#taking = false;
    this.#drained ??= Promise.withResolvers<void>();
    if (this.#active === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** Resolves when the threads are gone, or after 500 ms: see `stuckThreads`. */
  async destroy(): Promise<void> {
    this.#taking = false;
    this.#restTimer.cancel();
    await this.#slots.destroy();
  }

  readonly #fill = (): void => {
    this.#wakePending = false;
    const { source } = this.#options;
    if (!this.#taking || !this.#hasRoom() || source.peekTask() === undefined) return;
    const nowMono = this.#clock.monoMs();
    if (this.#failedStarts > 0 && nowMono < this.#restMono) {
      this.#restTimer.arm(this.#restMono);
      return;
    }
    if (!this.#slots.executor.ready) {
      this.#load();
      return;
    }
    this.#busyMeter.add(this.#slots.busy, this.#limit, nowMono);
    while (this.#hasRoom()) {
      const orders = this.#sizer.take(source);
      if (orders.length === 0) return;
      this.#active += orders.length;
      this.#slots.send(orders);
    }
  };

  #hasRoom(): boolean {
    return this.#slots.busy < this.#limit && this.#slots.canSend;
  }

  #load(): void {
    if (this.#loading) return;
    this.#loading = true;
    const loaded = (): void => {
      this.#loading = false;
      this.wake();
    };
    this.#slots.executor.load().then(loaded, (thrown: unknown) => {
      this.#failedStart(toErrorData(thrown, 'internal'));
      loaded();
    });
  }

  readonly #settle = (order: ExecuteOrder, outcome: Outcome, measured: boolean): void => {
    this.#active--;
    if (measured) this.#sizer.record(order.task, outcome.durationMs);
    this.#options.onOutcome(outcome);
    if (this.#active === 0) this.#drained?.resolve();
  };

  readonly #freed = (): void => {
    // The slot that became free was in use until now.
    this.#busyMeter.add(this.#slots.busy + 1, this.#limit, this.#clock.monoMs());
    this.wake();
  };

  #failedStart(cause: ErrorData): void {
    this.#failedStarts++;
    const pauseMs = Math.min(RESTART_CAP_MS, RESTART_BASE_MS * 2 ** Math.min(16, this.#failedStarts - 1));
    this.#restMono = this.#clock.monoMs() + pauseMs;
    const msg = `expected a cpu thread to start, it did not; next try in ${pauseMs} ms`;
    this.#options.onLog({ level: 'warn', atMs: this.#clock.wallMs(), msg, fields: { error: cause } });
  }
}
