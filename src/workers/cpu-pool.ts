/**
 * The cpu pool: takes orders while it has free slots and runs them on threads of Piscina, long ones alone,
 * tiny ones in batches.
 *
 * What always holds:
 * - every order that was taken gets exactly one outcome, at the latest when its timeout, the grace and the
 *   end of its thread have passed, whatever its handler does
 * - at most `slots` batches are out, each on a thread of its own; a thread runs one order at a time
 * - no Piscina and no thread before the first order; none after `idleMs` without one
 * - one timer serves all deadlines; it is not touched by a run that ends in time
 */
import type { Clock } from '../actors/kernel/clock.ts';
import { assertNever, type ErrorData, toErrorData } from '../actors/kernel/errors.ts';
import type { LogRecord } from '../actors/protocol.ts';
import { BatchSizer } from './batch-size.ts';
import { BusyMeter } from './busy-meter.ts';
import { BatchSignal, CpuExecutor, type CpuExecutorOptions, type CpuResourceLimits } from './cpu-executor.ts';
import { type CpuWorkerData, parseAnswer, parseThreadMessage, sharedClockOffsetMs } from './cpu-protocol.ts';
import { type CpuRegion, RegionStock } from './cpu-region.ts';
import { CpuSlot, SlotNeed } from './cpu-slot.ts';
import { DeadlineTimer } from './deadline-timer.ts';
import {
  type AbortReason,
  type ExecuteOrder,
  type Outcome,
  type Pool,
  PoolName,
  type WorkSource,
} from './handler.ts';

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
  /** A thread ended that was not idle, or by itself. */
  readonly onThreadLost: (cause: ErrorData) => void;
  /** Builds the executor; a parameter for tests. */
  readonly createPiscina?: CpuExecutorOptions['createPiscina'];
}

const DEFAULT_LIMITS: CpuResourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 };
/** Pause after threads that failed to start: doubled from the first to the second bound. */
const RESTART_BASE_MS = 100;
const RESTART_CAP_MS = 30_000;

/** Numbers of batches begin again after this; 0 is no batch. */
const LAST_BATCH = 0x7fff_ffff;

const BAD_ANSWER = lostBecause('expected rows of outcomes from the cpu thread, got something else');
const REFUSED = lostBecause('the cpu thread was ending when the batch arrived');
const FORCED = lostBecause(
  'the cpu thread was ended by force, because a run on it did not stop when told to',
);
const NOT_STARTED = lostBecause('the cpu thread ended while it started');
const POOL_ENDED = lostBecause('the cpu pool was ended');

export class CpuPool implements Pool {
  readonly name = PoolName.Cpu;
  readonly #options: CpuPoolOptions;
  readonly #clock: Clock;
  readonly #sizer = new BatchSizer();
  readonly #regions: RegionStock;
  readonly #executor: CpuExecutor;
  readonly #slots: CpuSlot[] = [];
  readonly #busyMeter: BusyMeter;
  readonly #timer: DeadlineTimer;
  readonly #clockOffsetMs = sharedClockOffsetMs();
  #limit: number;
  #busy = 0;
  #active = 0;
  #lastBatch = 0;
  #taking = true;
  #destroyed = false;
  #wakePending = false;
  #rescuePending = false;
  #failedStarts = 0;
  #restMono = 0;
  #drained: PromiseWithResolvers<void> | null = null;

  constructor(options: CpuPoolOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#limit = options.threads;
    this.#busyMeter = new BusyMeter(options.clock.monoMs());
    this.#timer = new DeadlineTimer(options.clock, this.#tick);
    this.#regions = new RegionStock(2 * options.threads);
    for (let index = 0; index < options.threads; index++) {
      this.#slots.push(new CpuSlot(this.#settle, options.graceMs ?? 1000));
    }
    this.#executor = new CpuExecutor({
      workerFile: options.workerFile,
      threads: options.threads,
      idleMs: options.idleMs,
      resourceLimits: options.resourceLimits ?? DEFAULT_LIMITS,
      workerData: { ...options.workerData, memory: this.#regions.memory },
      clock: options.clock,
      ...(options.createPiscina === undefined ? {} : { createPiscina: options.createPiscina }),
      onMessage: (message) => this.#hear(message),
      onThreadGone: () => this.#rescueSoon(),
      onFault: (cause) => this.#threadLost(cause),
    });
  }

  get slots(): number {
    return this.#limit;
  }

  get active(): number {
    return this.#active;
  }

  get threadCount(): number {
    return this.#executor.threads;
  }

  /** Threads that had not ended when `destroy` resolved: they sit in a native call. */
  get stuckThreads(): number {
    return this.#executor.stuck;
  }

  /** Share of slot time in use since the last look, 0 to 1. */
  get busyRatio(): number {
    const nowMono = this.#clock.monoMs();
    this.#busyMeter.add(this.#busy, this.#limit, nowMono);
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
    this.#busyMeter.add(this.#busy, this.#limit, this.#clock.monoMs());
    this.#limit = Math.min(this.#slots.length, Math.max(1, Math.trunc(threads)));
    this.wake();
  }

  /** Loads the executor and starts a thread, so that the first order does not wait for it. */
  async warm(): Promise<void> {
    await this.#executor.load();
    const slot = this.#freeSlot();
    const region = this.#taking && this.#busy === 0 && slot !== undefined ? this.#regions.take() : undefined;
    if (slot !== undefined && region !== undefined) await this.#send(slot, region, []);
  }

  abort(run: string, reason: AbortReason): boolean {
    const nowMono = this.#clock.monoMs();
    for (const slot of this.#slots) {
      if (!slot.abort(run, reason, nowMono)) continue;
      this.#check(slot, nowMono);
      return true;
    }
    return false;
  }

  drain(): Promise<void> {
    this.#taking = false;
    this.#drained ??= Promise.withResolvers<void>();
    if (this.#active === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  async destroy(): Promise<void> {
    this.#taking = false;
    this.#destroyed = true;
    this.#timer.cancel();
    const nowMono = this.#clock.monoMs();
    for (const slot of this.#slots) {
      slot.giveUp(POOL_ENDED, nowMono);
      slot.close();
    }
    this.#busy = 0;
    this.#drained?.resolve();
    await this.#executor.destroy();
  }

  readonly #fill = (): void => {
    this.#wakePending = false;
    if (!this.#taking || this.#busy >= this.#limit) return;
    const { source } = this.#options;
    if (source.peekTask() === undefined) return;
    if (!this.#executor.ready) {
      this.#load();
      return;
    }
    const restMs = this.#failedStarts === 0 ? 0 : this.#restMono - this.#clock.monoMs();
    if (restMs > 0) {
      this.#timer.arm(this.#restMono);
      return;
    }
    while (this.#busy < this.#limit) {
      const slot = this.#freeSlot();
      const region = slot === undefined ? undefined : this.#regions.take();
      if (slot === undefined || region === undefined) return;
      const orders = this.#sizer.take(source);
      if (orders.length === 0) {
        this.#regions.put(region);
        return;
      }
      this.#send(slot, region, orders);
    }
  };

  #load(): void {
    this.#executor.load().then(
      () => this.wake(),
      (thrown: unknown) => this.#failedStart(toErrorData(thrown, 'internal')),
    );
  }

  #freeSlot(): CpuSlot | undefined {
    for (const slot of this.#slots) if (!slot.busy) return slot;
    return undefined;
  }

  /** Sends a batch; resolves when it was answered or lost. */
  #send(slot: CpuSlot, region: CpuRegion, orders: readonly ExecuteOrder[]): Promise<void> {
    const nowMono = this.#clock.monoMs();
    this.#busyMeter.add(this.#busy, this.#limit, nowMono);
    this.#busy++;
    this.#active += orders.length;
    this.#lastBatch = (this.#lastBatch % LAST_BATCH) + 1;
    const batch = this.#lastBatch;
    slot.open(batch, orders, region, nowMono);
    const sentMs = performance.now() + this.#clockOffsetMs;
    const text = JSON.stringify({ region: region.index, batch, sentMs, orders });
    this.#timer.arm(slot.dueMono);
    return this.#executor.run(text, slot.signal).then(
      (answer) => this.#answered(slot, batch, answer),
      (thrown: unknown) => this.#lost(slot, batch, thrown),
    );
  }

  #answered(slot: CpuSlot, batch: number, answer: unknown): void {
    if (slot.batch !== batch) return;
    this.#failedStarts = 0;
    const rows = parseAnswer(answer);
    if (rows === undefined) this.#endThread(slot, BAD_ANSWER);
    else if (slot.answered(rows, this.#clock.monoMs(), REFUSED)) this.#free(slot);
    else this.#timer.arm(slot.dueMono);
    this.#fill();
  }

  /** Piscina gave the batch up, because its thread is gone. */
  #lost(slot: CpuSlot, batch: number, thrown: unknown): void {
    if (slot.batch !== batch) return;
    const { begun, runningTask } = slot;
    const cause = slot.lastWords ?? threadLostBy(thrown);
    if (runningTask !== undefined) this.#sizer.distrust(runningTask);
    slot.lost(cause, this.#clock.monoMs());
    this.#free(slot);
    this.#threadLost(cause);
    if (!begun) this.#failedStart(cause);
    this.wake();
  }

  /** Ends a thread by force and makes its slot free at once, however long the thread takes to end. */
  #endThread(slot: CpuSlot, cause: ErrorData): void {
    const { signal } = slot.signal;
    slot.signal = { signal: new BatchSignal() };
    const { begun, runningTask } = slot;
    const threadId = slot.region?.threadId() ?? 0;
    if (runningTask !== undefined) this.#sizer.distrust(runningTask);
    slot.giveUp(cause, this.#clock.monoMs());
    const region = this.#close(slot);
    // Before the abort, which takes the thread out of Piscina's list.
    this.#executor.onceEnded(threadId, () => {
      region?.open(0);
      if (region !== null) this.#regions.put(region);
      this.wake();
    });
    signal.abort(cause.message);
    this.#threadLost(cause);
    if (!begun) this.#failedStart(cause);
    this.wake();
  }

  #free(slot: CpuSlot): void {
    const region = this.#close(slot);
    if (region !== null) this.#regions.put(region);
  }

  #close(slot: CpuSlot): CpuRegion | null {
    this.#busyMeter.add(this.#busy, this.#limit, this.#clock.monoMs());
    this.#busy--;
    return slot.close();
  }

  readonly #settle = (order: ExecuteOrder, outcome: Outcome, measured: boolean): void => {
    this.#active--;
    if (measured) this.#sizer.record(order.task, outcome.durationMs);
    this.#options.onOutcome(outcome);
    if (this.#active === 0) this.#drained?.resolve();
  };

  readonly #tick = (nowMono: number): void => {
    for (const slot of this.#slots) {
      if (slot.dueMono <= nowMono) this.#check(slot, nowMono);
      else this.#timer.arm(slot.dueMono);
    }
    if (this.#failedStarts > 0) this.wake();
  };

  #check(slot: CpuSlot, nowMono: number): void {
    if (slot.check(nowMono) === SlotNeed.EndThread) this.#endThread(slot, FORCED);
    else this.#timer.arm(slot.dueMono);
  }

  #hear(message: unknown): void {
    const heard = parseThreadMessage(message);
    if (heard === undefined || this.#destroyed) return;
    switch (heard.kind) {
      case 'flush': {
        const slot = this.#slotOf(heard.batch);
        if (slot?.flushed(heard.rows, heard.upTo) === true) {
          this.#free(slot);
          this.wake();
        }
        return;
      }
      case 'ending': {
        for (const task of heard.tasks) this.#sizer.distrust(task);
        const slot = this.#slotOf(heard.batch);
        if (slot === undefined) this.#threadLost(heard.cause);
        else slot.lastWords = heard.cause;
        return;
      }
      case 'log':
        this.#options.onLog(heard.record);
        return;
      case 'progress':
        this.#options.onProgress(heard.run, heard.fraction, heard.note);
        return;
      default:
        assertNever(heard, 'kind of thread message');
    }
  }

  #slotOf(batch: number): CpuSlot | undefined {
    return this.#slots.find((slot) => slot.busy && slot.batch === batch);
  }

  /** Piscina forgets a task whose thread dies while it starts: such a batch is given up here. */
  #rescueSoon(): void {
    if (this.#rescuePending || this.#busy === 0) return;
    this.#rescuePending = true;
    // After this turn, in which Piscina settles all tasks that it does not forget.
    setImmediate(() => {
      this.#rescuePending = false;
      for (const slot of this.#slots) {
        if (this.#busy <= this.#executor.threads) return;
        if (slot.busy && !slot.begun) this.#endThread(slot, NOT_STARTED);
      }
    });
  }

  #failedStart(cause: ErrorData): void {
    this.#failedStarts++;
    const pauseMs = Math.min(RESTART_CAP_MS, RESTART_BASE_MS * 2 ** Math.min(16, this.#failedStarts - 1));
    this.#restMono = this.#clock.monoMs() + pauseMs;
    this.#timer.arm(this.#restMono);
    this.#log(`expected a cpu thread to start, it did not; next try in ${pauseMs} ms`, cause);
  }

  #threadLost(cause: ErrorData): void {
    if (this.#destroyed) return;
    this.#log('a cpu thread ended and is replaced when there is work', cause);
    this.#options.onThreadLost(cause);
  }

  #log(msg: string, error: ErrorData): void {
    this.#options.onLog({ level: 'warn', atMs: this.#clock.wallMs(), msg, fields: { error } });
  }
}

function lostBecause(message: string): ErrorData {
  return { code: 'thread-lost', message };
}

function threadLostBy(thrown: unknown): ErrorData {
  return lostBecause(`the cpu thread ended: ${toErrorData(thrown).message}`);
}
