/**
 * One slot of the cpu pool: at most one batch on at most one thread, and what is owed for it.
 *
 *   free ─open─▶ sent ─begun on the thread─▶ running ─answer, all outcomes in─▶ free
 *                  └──────────── lost or given up ──────────────────────────────▶ free
 *
 * What always holds: each order of the batch gets exactly one outcome, from whichever comes first of its
 * row (flushed or in the answer), its word in shared memory, a stop before it began, the loss of the thread.
 */

import { AbortReason, type ExecuteOrder, type Outcome } from '../../actors/execution.ts';
import { ColibriError, type ErrorData, fromErrorData } from '../../actors/kernel/errors.ts';
import { bystander, failed, interrupted, stopped, succeeded } from '../outcomes.ts';
import { BatchSignal } from './cpu-executor.ts';
import type { OutcomeRow } from './cpu-protocol.ts';
import { BATCH_LIMIT, type CpuRegion } from './cpu-region.ts';

/** `measured`: the duration is the task's own, not cut short from outside. */
export type Settle = (order: ExecuteOrder, outcome: Outcome, measured: boolean) => void;

/** What `check` asks of the pool. */
export const SlotNeed = { Nothing: 'nothing', EndThread: 'end-thread' } as const;
export type SlotNeed = (typeof SlotNeed)[keyof typeof SlotNeed];

/** A batch of several is looked at once after so long: what is done in it need not wait for a slow one. */
const PEEK_MS = 20;
/** A thread that has not begun a batch after this will not. */
const START_LIMIT_MS = 60_000;
/** Outcomes that were flushed arrive with the answer; this is only so that nothing waits forever. */
const FLUSH_LIMIT_MS = 1_000;

const NO_ORDERS: readonly ExecuteOrder[] = [];

export class CpuSlot {
  /** Reused until the thread it ends is ended. */
  signal = { signal: new BatchSignal() };
  /** Somebody looks at what the thread does, in order to end it. */
  looking = false;
  /** Why the thread of this batch ends, in its own words. */
  lastWords: ErrorData | null = null;
  /** When `check` wants to be called next. */
  dueMono = Number.POSITIVE_INFINITY;
  readonly #settle: Settle;
  readonly #graceMs: number;
  readonly #settled = new Uint8Array(BATCH_LIMIT);
  #orders = NO_ORDERS;
  #region: CpuRegion | null = null;
  #batch = 0;
  #open = 0;
  #sentMono = 0;
  #shortestMs = 0;
  #startedMs = 0;
  #peeked = true;
  #answeredMono = Number.POSITIVE_INFINITY;
  /** The order that was told to stop, and when patience ends. */
  #stopping = -1;
  #stopEndMono = 0;

  constructor(settle: Settle, graceMs: number) {
    this.#settle = settle;
    this.#graceMs = graceMs;
  }

  get busy(): boolean {
    return this.#region !== null;
  }

  get batch(): number {
    return this.#batch;
  }

  get region(): CpuRegion | null {
    return this.#region;
  }

  /** False while the batch waits for a thread. */
  get begun(): boolean {
    return this.#region !== null && this.#region.threadId() !== 0;
  }

  /** The order that runs now and has no outcome yet. */
  get running(): ExecuteOrder | undefined {
    return this.#openOrder(this.#region?.running() ?? -1);
  }

  /** Takes a batch in; the caller sends it. */
  open(batch: number, orders: readonly ExecuteOrder[], region: CpuRegion, nowMono: number): void {
    region.open(batch);
    this.looking = false;
    this.lastWords = null;
    this.#batch = batch;
    this.#orders = orders;
    this.#region = region;
    this.#open = orders.length;
    this.#settled.fill(0);
    this.#sentMono = nowMono;
    this.#answeredMono = Number.POSITIVE_INFINITY;
    this.#stopping = -1;
    this.#shortestMs = START_LIMIT_MS;
    for (const { timeoutMs } of orders) {
      if (timeoutMs < this.#shortestMs) this.#shortestMs = timeoutMs;
    }
    this.#peeked = orders.length === 1;
    this.dueMono = nowMono + (this.#peeked ? this.#shortestMs : Math.min(PEEK_MS, this.#shortestMs));
  }

  /** Outcomes ahead of the answer, of all orders before `upTo`. True if the slot is done. */
  flushed(rows: readonly OutcomeRow[], upTo: number): boolean {
    this.#settleRows(rows);
    this.#settleEmpty(Math.min(upTo, this.#orders.length));
    return this.#isDone();
  }

  /** The answer is in. True if the slot is done; else outcomes that were flushed are still on their way. */
  answered(rows: readonly OutcomeRow[], nowMono: number, refused: ErrorData): boolean {
    this.#answeredMono = nowMono;
    this.#settleRows(rows);
    if (this.#open > 0) this.#settleEmpty(this.#orders.length);
    if (this.#open > 0) this.#interruptUnbegun(refused);
    this.dueMono = nowMono + FLUSH_LIMIT_MS;
    return this.#isDone();
  }

  /** The thread ended by the doing of what ran on it, if anything did. */
  lost(cause: ErrorData, nowMono: number): void {
    this.#settleEmpty(this.#orders.length);
    const region = this.#region;
    const running = region === null ? -1 : this.#look(region);
    const order = this.#openOrder(running);
    if (region !== null && order !== undefined) {
      const reason = region.stopReason(running);
      const durationMs = this.#runningMs(nowMono);
      if (reason !== null) this.#give(running, stopped(order, reason, durationMs), true);
      else this.#give(running, failed(order, workerLost(cause), durationMs), true);
    }
    this.interrupt(cause);
  }

  /** The thread is ended by force. The order that ran was told to stop, or is interrupted like the rest. */
  giveUp(cause: ErrorData, nowMono: number): void {
    this.#settleEmpty(this.#orders.length);
    const region = this.#region;
    const running = region === null ? -1 : this.#look(region);
    const order = this.#openOrder(running);
    const reason = order === undefined ? null : (region?.stopReason(running) ?? null);
    if (order !== undefined && reason !== null) {
      this.#give(running, stopped(order, reason, this.#runningMs(nowMono), cause), true);
    }
    this.interrupt(cause);
  }

  /** All that is open is given up as the thread's fault. */
  interrupt(cause: ErrorData): void {
    for (let index = 0; index < this.#orders.length && this.#open > 0; index++) {
      const order = this.#openOrder(index);
      if (order === undefined) continue;
      // What had not begun there cannot be what ended it.
      const stood = this.#region?.hasBegun(index) === false;
      this.#give(index, stood ? bystander(order, cause, 0) : interrupted(order, cause, 0), false);
    }
  }

  /** The slot is free; its region is the caller's again. */
  close(): CpuRegion | null {
    const region = this.#region;
    this.#orders = NO_ORDERS;
    this.#region = null;
    this.#batch = 0;
    this.#open = 0;
    this.dueMono = Number.POSITIVE_INFINITY;
    return region;
  }

  /** False if the slot does not hold the run. True if it was told to stop, or cancelled before it began. */
  abort(run: string, reason: AbortReason, nowMono: number): boolean {
    const region = this.#region;
    if (region === null) return false;
    const index = this.#orders.findIndex((order, at) => order.run === run && this.#settled[at] === 0);
    const order = this.#openOrder(index);
    if (order === undefined) return false;
    region.stop(index, reason);
    if (!region.hasBegun(index)) {
      this.#give(index, stopped(order, reason, 0), false);
      // The thread may be done with the others already.
      return true;
    }
    this.dueMono = nowMono;
    return true;
  }

  /** Looks at deadlines; sets `dueMono` anew. */
  check(nowMono: number): SlotNeed {
    const region = this.#region;
    if (region === null) return SlotNeed.Nothing;
    if (!this.#peeked) {
      this.#peeked = true;
      this.#settleEmpty(this.#orders.length);
    }
    this.dueMono = nowMono + this.#shortestMs;
    if (nowMono - this.#answeredMono >= FLUSH_LIMIT_MS) return SlotNeed.EndThread;
    const running = this.#look(region);
    if (running < 0) {
      if (!this.begun && nowMono - this.#sentMono >= START_LIMIT_MS) return SlotNeed.EndThread;
      return SlotNeed.Nothing;
    }
    if (region.stopReason(running) === null) {
      const order = this.#orders[running];
      const endMono = this.#sentMono + this.#startedMs + (order?.timeoutMs ?? 0);
      if (nowMono < endMono) {
        this.dueMono = Math.min(this.dueMono, endMono);
        return SlotNeed.Nothing;
      }
      region.stop(running, AbortReason.Timeout);
    }
    if (this.#stopping !== running) {
      this.#stopping = running;
      this.#stopEndMono = nowMono + this.#graceMs;
    }
    if (nowMono >= this.#stopEndMono) return SlotNeed.EndThread;
    this.dueMono = this.#stopEndMono;
    return SlotNeed.Nothing;
  }

  /** Index of the order that runs; `#startedMs` is when it began, for an order is never begun twice. */
  #look(region: CpuRegion): number {
    for (;;) {
      const running = region.running();
      this.#startedMs = region.startedMs();
      if (region.running() === running) return running;
    }
  }

  #runningMs(nowMono: number): number {
    return Math.max(0, nowMono - this.#sentMono - this.#startedMs);
  }

  #settleRows(rows: readonly OutcomeRow[]): void {
    for (const [index, status, result, error, durationMs, retryable] of rows) {
      const order = this.#openOrder(index);
      if (order === undefined) continue;
      const { run, attempt } = order;
      const measured = status === 'success' || status === 'failed';
      this.#give(index, { run, attempt, status, result, error, durationMs, retryable }, measured);
    }
  }

  #settleEmpty(upTo: number): void {
    const region = this.#region;
    if (region === null) return;
    for (let index = 0; index < upTo && this.#open > 0; index++) {
      if (this.#settled[index] === 1) continue;
      const durationMs = region.emptySuccessMs(index);
      const order = this.#orders[index];
      if (durationMs < 0 || order === undefined) continue;
      this.#give(index, succeeded(order, 'null', durationMs), true);
    }
  }

  #interruptUnbegun(cause: ErrorData): void {
    for (let index = 0; index < this.#orders.length; index++) {
      const order = this.#openOrder(index);
      if (order === undefined || this.#region?.hasBegun(index) !== false) continue;
      this.#give(index, bystander(order, cause, 0), false);
    }
  }

  #openOrder(index: number): ExecuteOrder | undefined {
    return index < 0 || this.#settled[index] !== 0 ? undefined : this.#orders[index];
  }

  #give(index: number, outcome: Outcome, measured: boolean): void {
    const order = this.#orders[index];
    if (order === undefined) return;
    this.#settled[index] = 1;
    this.#open--;
    this.#settle(order, outcome, measured);
  }

  #isDone(): boolean {
    return this.#open === 0 && this.#answeredMono !== Number.POSITIVE_INFINITY;
  }
}

function workerLost(cause: ErrorData): ColibriError {
  return new ColibriError(
    'worker-lost',
    `expected the handler to leave its thread alive, got: ${cause.message}`,
    { cause: fromErrorData(cause) },
  );
}
