/**
 * The slots of the cpu pool and the threads under them: what is out, and what becomes of it.
 *
 * What always holds:
 * - at most one batch a slot is out, each on a thread of its own
 * - a slot is free again once its batch has all its outcomes, or at once when its thread is given up
 * - one timer serves all deadlines; it is not touched by a run that ends in time
 */

import type { AbortReason, ExecuteOrder } from '../../actors/execution.ts';
import type { Clock } from '../../actors/kernel/clock.ts';
import { assertNever, ColibriError, type ErrorData, toErrorData } from '../../actors/kernel/errors.ts';
import { placeText, type ThreadSight } from '../../actors/kernel/index.ts';
import type { LogRecord } from '../../actors/protocol.ts';
import type { BlockedFields } from '../blocked-thread.ts';
import { BatchSignal, CpuExecutor, type CpuExecutorOptions } from './cpu-executor.ts';
import { type CpuWorkerData, parseAnswer, parseThreadMessage, sharedClockOffsetMs } from './cpu-protocol.ts';
import { RegionStock } from './cpu-region.ts';
import { CpuSlot, type Settle, SlotNeed } from './cpu-slot.ts';
import { DeadlineTimer } from './deadline-timer.ts';

export interface CpuSlotsOptions
  extends Omit<CpuExecutorOptions, 'workerData' | 'onMessage' | 'onThreadGone' | 'onFault'> {
  readonly graceMs: number;
  readonly clock: Clock;
  readonly workerData: CpuWorkerData;
  readonly settle: Settle;
  /** A slot became free. */
  readonly onFree: () => void;
  /** The task has cost a thread. */
  readonly onSuspect: (task: string) => void;
  /** `fields`: the run that it was lost with, and where that stood, for the log. */
  readonly onThreadLost: (cause: ErrorData, fields: BlockedFields) => void;
  /** A thread is alive and answers. */
  readonly onStarted: () => void;
  readonly onFailedStart: (cause: ErrorData) => void;
  readonly onLog: (record: LogRecord) => void;
  readonly onProgress: (run: string, fraction: number, note: string | null) => void;
}

/** Numbers of batches begin again after this; 0 is no batch. */
const LAST_BATCH = 0x7fff_ffff;

const BAD_ANSWER = lostBecause('expected rows of outcomes from the cpu thread, got something else');
const REFUSED = lostBecause('the cpu thread was ending when the batch arrived');
const FORCED = 'the cpu thread was ended by force, because a run on it did not stop when told to';
const NOT_STARTED = lostBecause('the cpu thread ended while it started');
const NOT_RUNNING: BlockedFields = {};
const POOL_ENDED = lostBecause('the cpu pool was ended');

export class CpuSlots {
  readonly executor: CpuExecutor;
  readonly #options: CpuSlotsOptions;
  readonly #clock: Clock;
  readonly #regions: RegionStock;
  readonly #slots: CpuSlot[] = [];
  readonly #timer: DeadlineTimer;
  readonly #clockOffsetMs = sharedClockOffsetMs();
  #busy = 0;
  #lastBatch = 0;
  #destroyed = false;
  #rescuePending = false;

  constructor(options: CpuSlotsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#timer = new DeadlineTimer(options.clock, this.#tick);
    this.#regions = new RegionStock(2 * options.threads);
    for (let index = 0; index < options.threads; index++) {
      this.#slots.push(new CpuSlot(options.settle, options.graceMs));
    }
    this.executor = new CpuExecutor({
      ...options,
      workerData: { ...options.workerData, memory: this.#regions.memory },
      onMessage: (message) => this.#hear(message),
      onThreadGone: () => this.#rescueSoon(),
      onFault: (cause) => this.#threadLost(cause, NOT_RUNNING),
    });
  }

  /** Slots with a batch. */
  get busy(): number {
    return this.#busy;
  }

  /** False also where all shared memory is with threads that were given up and have not ended. */
  get canSend(): boolean {
    return !this.#destroyed && this.#busy < this.#slots.length && this.#regions.count > 0;
  }

  /** Sends a batch; only if `canSend`. Resolves when it was answered or lost. */
  send(orders: readonly ExecuteOrder[]): Promise<void> {
    const slot = this.#slots.find((one) => !one.busy);
    const region = slot === undefined ? undefined : this.#regions.take();
    if (slot === undefined || region === undefined) {
      throw new ColibriError('internal', 'expected a free cpu slot to send a batch, got none');
    }
    // Read before the slot's own time: where this thread stands still in between, deadlines are late, never early.
    const sentMs = performance.now() + this.#clockOffsetMs;
    const nowMono = this.#clock.monoMs();
    this.#busy++;
    this.#lastBatch = (this.#lastBatch % LAST_BATCH) + 1;
    const batch = this.#lastBatch;
    slot.open(batch, orders, region, nowMono);
    const text = JSON.stringify({ region: region.index, batch, sentMs, orders });
    this.#timer.arm(slot.dueMono);
    return this.executor.run(text, slot.signal).then(
      (answer) => this.#answered(slot, batch, answer),
      (thrown: unknown) => this.#lost(slot, batch, thrown),
    );
  }

  /** Tells a run to stop; false if no slot holds it. */
  abort(run: string, reason: AbortReason): boolean {
    const nowMono = this.#clock.monoMs();
    for (const slot of this.#slots) {
      if (!slot.abort(run, reason, nowMono)) continue;
      this.#check(slot, nowMono);
      return true;
    }
    return false;
  }

  /** Gives up all that is out and ends all threads; see `CpuExecutor.destroy`. Idempotent. */
  destroy(): Promise<void> {
    this.#destroyed = true;
    this.#timer.cancel();
    const nowMono = this.#clock.monoMs();
    for (const slot of this.#slots) {
      slot.giveUp(POOL_ENDED, nowMono);
      slot.close();
    }
    this.#busy = 0;
    return this.executor.destroy();
  }

  #answered(slot: CpuSlot, batch: number, answer: unknown): void {
    if (slot.batch !== batch) return;
    this.#options.onStarted();
    const rows = parseAnswer(answer);
    if (rows === undefined) this.#endThread(slot, BAD_ANSWER, null);
    else if (slot.answered(rows, this.#clock.monoMs(), REFUSED)) this.#free(slot);
    else this.#timer.arm(slot.dueMono);
  }

  /** Piscina gave the batch up, because its thread is gone. */
  #lost(slot: CpuSlot, batch: number, thrown: unknown): void {
    if (slot.batch !== batch) return;
    const { begun, running } = slot;
    const cause = slot.lastWords ?? lostBecause(`the cpu thread ended: ${toErrorData(thrown).message}`);
    if (running !== undefined) this.#options.onSuspect(running.task);
    slot.lost(cause, this.#clock.monoMs());
    this.#threadLost(cause, runFields(running));
    if (!begun) this.#options.onFailedStart(cause);
    this.#free(slot);
  }

  /** Ends a thread by force and makes its slot free at once, however long the thread takes to end. */
  #endThread(slot: CpuSlot, cause: ErrorData, sight: ThreadSight | null): void {
    const { signal } = slot.signal;
    slot.signal = { signal: new BatchSignal() };
    const { begun, running } = slot;
    const threadId = slot.region?.threadId() ?? 0;
    if (running !== undefined) this.#options.onSuspect(running.task);
    slot.giveUp(cause, this.#clock.monoMs());
    const region = slot.close();
    // Before the abort, which takes the thread out of Piscina's list.
    this.executor.onceEnded(threadId, () => {
      region?.open(0);
      if (region !== null) this.#regions.put(region);
      this.#options.onFree();
    });
    signal.abort(cause.message);
    this.#threadLost(cause, { ...runFields(running), ...(sight?.stack ? { stack: sight.stack } : {}) });
    if (!begun) this.#options.onFailedStart(cause);
    this.#busy--;
    this.#options.onFree();
  }

  #free(slot: CpuSlot): void {
    const region = slot.close();
    if (region !== null) this.#regions.put(region);
    this.#busy--;
    this.#options.onFree();
  }

  readonly #tick = (nowMono: number): void => {
    for (const slot of this.#slots) {
      if (slot.dueMono <= nowMono) this.#check(slot, nowMono);
      else this.#timer.arm(slot.dueMono);
    }
  };

  #check(slot: CpuSlot, nowMono: number): void {
    if (slot.check(nowMono) !== SlotNeed.EndThread) this.#timer.arm(slot.dueMono);
    else if (!slot.looking) void this.#lookAndEnd(slot);
  }

  /** Looks at what keeps the thread from stopping, so that it can be told; ends it unless it has stopped meanwhile. */
  async #lookAndEnd(slot: CpuSlot): Promise<void> {
    const { batch } = slot;
    slot.looking = true;
    const sight = await this.executor.look(slot.region?.threadId() ?? 0);
    if (slot.batch !== batch) return;
    slot.looking = false;
    if (slot.check(this.#clock.monoMs()) === SlotNeed.EndThread) {
      this.#endThread(slot, lostBecause(FORCED + placeText(sight)), sight);
    } else {
      this.#timer.arm(slot.dueMono);
    }
  }

  #hear(message: unknown): void {
    const heard = parseThreadMessage(message);
    if (heard === undefined || this.#destroyed) return;
    switch (heard.kind) {
      case 'flush': {
        const slot = this.#slotOf(heard.batch);
        if (slot?.flushed(heard.rows, heard.upTo) === true) this.#free(slot);
        return;
      }
      case 'ending': {
        for (const task of heard.tasks) this.#options.onSuspect(task);
        const slot = this.#slotOf(heard.batch);
        if (slot === undefined) this.#threadLost(heard.cause, NOT_RUNNING);
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
        if (this.#busy <= this.executor.threads) return;
        if (slot.busy && !slot.begun) this.#endThread(slot, NOT_STARTED, null);
      }
    });
  }

  #threadLost(cause: ErrorData, fields: BlockedFields): void {
    if (!this.#destroyed) this.#options.onThreadLost(cause, fields);
  }
}

function runFields(order: ExecuteOrder | undefined): BlockedFields {
  return order === undefined ? {} : { task: order.task, run: order.run };
}

function lostBecause(message: string): ErrorData {
  return { code: 'thread-lost', message };
}
