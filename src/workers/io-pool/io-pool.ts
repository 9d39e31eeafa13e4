/**
 * The main-thread side of an async pool: takes orders while it has free slots, sends them to the actor on
 * the pool's thread, and owns their deadlines.
 *
 * What always holds:
 * - every order that was taken gets exactly one outcome, whatever the thread does or fails to do
 * - `active` never exceeds the slots it was allowed when the order was taken
 * - a slot that is freed by force is free for real: the run was given up by the thread, or no order is sent
 *   until the thread was replaced
 *
 *   taken ─▶ unsent ─▶ running ──timeout──▶ aborting ──grace──▶ killing ──grace──▶ given up, thread stuck
 *                         └──── abort() ────▶
 */

import type { AbortReason, ExecuteOrder, Outcome, Pool, PoolName } from '../../actors/execution.ts';
import type { Clock } from '../../actors/kernel/clock.ts';
import { Delivery } from '../../actors/kernel/envelope.ts';
import type { ErrorData } from '../../actors/kernel/errors.ts';
import { BusyMeter } from '../busy-meter.ts';
import { blockedThread, bystander, interrupted, stopped } from '../outcomes.ts';
import { type HeldOrder, HeldOrders, HoldPhase } from './held-orders.ts';
import type { IoPoolOptions } from './io-pool-options.ts';
import { KillReceipts } from './kill-receipts.ts';

export type { IoPoolOptions } from './io-pool-options.ts';

/** Bounds of one message: orders, and code units of their inputs, unless a single one has more. */
export const LETTER_ORDERS = 128;
export const LETTER_TEXT = 64 * 1024;

/** How soon an order that was refused is offered again if nothing else happens. */
const RETRY_MS = 100;

export class IoPool implements Pool {
  readonly name: Exclude<PoolName, 'cpu' | 'inline' | 'flow'>;
  readonly #options: IoPoolOptions;
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #held: HeldOrders;
  readonly #busy: BusyMeter;
  /** Taken in this turn, or refused by the actor for want of room: one letter and one order at most. */
  #unsent: HeldOrder[] = [];
  /** The actor had no room for `#unsent`: nothing is taken until it has. */
  #refused = false;
  #wakePlanned = false;
  /** Whether some held order is owed an abort or kill that the actor had no room for. */
  #owing = false;
  #slots: number;
  #closed = false;
  /** From `onStuck` to `threadLost`, or to `threadReady` where there was no thread yet. */
  #stuck = false;
  /** Orders of that time that were given up, and that the thread may still be busy with. */
  #givenUp: ExecuteOrder[] = [];
  #drained: (() => void)[] = [];
  #destroyed: Promise<void> | null = null;
  readonly #receipts = new KillReceipts();
  #lateOutcomes = 0;

  constructor(options: IoPoolOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock;
    this.#graceMs = options.graceMs ?? 1000;
    this.#slots = toSlots(options.slots);
    this.#held = new HeldOrders(options.clock, (held, nowMono) => this.#onDue(held, nowMono));
    this.#busy = new BusyMeter(options.clock.monoMs());
  }

  get slots(): number {
    return this.#slots;
  }

  get active(): number {
    return this.#held.size;
  }

  /** Outcomes of runs that were given up before; each was counted and ignored. */
  get lateOutcomes(): number {
    return this.#lateOutcomes;
  }

  /** Share of slot time in use since the last look, 0 to 1. */
  get busyRatio(): number {
    const nowMono = this.#clock.monoMs();
    this.#busy.add(this.active, this.#slots, nowMono);
    return this.#busy.read(nowMono);
  }

  /** Mean wait and compute of a run as measured; null for a pool whose size is fixed. */
  get measured(): { readonly waitMs: number; readonly computeMs: number } | null {
    const meter = this.#options.sizing?.meter;
    return meter === undefined ? null : { waitMs: meter.waitMs, computeMs: meter.computeMs };
  }

  /** Fills the slots at the end of the turn, so that what becomes ready together travels together. */
  wake(): void {
    if (this.#wakePlanned) return;
    this.#wakePlanned = true;
    queueMicrotask(this.#fill);
  }

  readonly #fill = (): void => {
    this.#wakePlanned = false;
    this.#flushSignals();
    if (this.#refused) this.#send();
    const { source } = this.#options;
    let text = 0;
    while (!this.#closed && !this.#stuck && !this.#refused && this.active < this.#slots) {
      if (source.peekTask() === undefined) break;
      const order = source.take();
      if (order === undefined) break;
      text += order.input.length;
      if (this.#unsent.length === LETTER_ORDERS || text > LETTER_TEXT) {
        this.#send();
        text = order.input.length;
      }
      this.#take(order);
    }
    if (!this.#refused) this.#send();
  };

  /** Takes an outcome from the thread. False for a late or unknown one, which is counted and ignored. */
  settle(outcome: Outcome): boolean {
    const held = this.#held.get(outcome.run);
    if (held === undefined || held.order.attempt !== outcome.attempt) {
      if (!this.#receipts.confirm(outcome.run)) this.#lateOutcomes++;
      return false;
    }
    this.#options.sizing?.ended(outcome.durationMs);
    this.#give(held, outcome);
    this.wake();
    return true;
  }

  /** All that may be running on its thread. */
  get inFlight(): readonly ExecuteOrder[] {
    return [...this.#held.all().map(({ order }) => order), ...this.#givenUp];
  }

  /** True while it owes an outcome for this run. */
  holds(run: string): boolean {
    return this.#held.get(run) !== undefined;
  }

  abort(run: string, reason: AbortReason): boolean {
    const held = this.#held.get(run);
    if (held === undefined) return false;
    if (held.phase === HoldPhase.Running) {
      this.#startAbort(held, reason, this.#clock.monoMs());
    } else if (held.phase === HoldPhase.Unsent) {
      this.#give(held, stopped(held.order, reason, 0));
      this.wake();
    }
    return true;
  }

  /** Changes the number of slots; runs above a smaller number end in peace. */
  resize(slots: number): void {
    this.#busy.add(this.active, this.#slots, this.#clock.monoMs());
    this.#slots = toSlots(slots);
    this.wake();
  }

  /**
   * For a measured pool, every second or so: `activeMs` is the time the thread's event loop was active since
   * the last call. Resizes at most once in 5 s.
   */
  measure(activeMs: number): void {
    const slots = this.#options.sizing?.next(activeMs, this.#slots, this.#clock.monoMs());
    if (typeof slots === 'number') this.resize(slots);
  }

  /**
   * The thread ended. Every order still held becomes `interrupted`, but one that was told to stop has
   * stopped, and `blockedBy`, the run for which the thread was ended, has failed: then the others stood beside it, as did what
   * was not sent yet. To be called before orders go to its replacement, and after the last outcome of the old one.
   */
  threadLost(cause: ErrorData, blockedBy: string | null = null): void {
    this.#stuck = false;
    this.#endProcesses();
    this.#givenUp = [];
    this.#receipts.clear();
    const nowMono = this.#clock.monoMs();
    for (const held of this.#held.all()) {
      const ranMs = nowMono - held.startMono;
      const { order, reason } = held;
      if (reason !== null) this.#give(held, stopped(order, reason, ranMs, cause));
      else if (order.run === blockedBy) this.#give(held, blockedThread(order, cause, ranMs));
      else if (blockedBy !== null || held.phase === HoldPhase.Unsent) {
        this.#give(held, bystander(order, cause, ranMs));
      } else this.#give(held, interrupted(order, cause, ranMs));
    }
    this.wake();
  }

  /**
   * The thread is there again. Where it took longer to start than an order may take, the order was given up meanwhile;
   * it lies there with the word to stop behind it, and nothing is to be replaced for it.
   */
  threadReady(): void {
    this.#stuck = false;
    this.#givenUp = [];
    this.wake();
  }

  /** The thread was ended for good: what its runs have started and it did not end does not outlive it. */
  threadEnded(): void {
    this.#endProcesses();
  }

  drain(): Promise<void> {
    this.#closed = true;
    if (this.active === 0) {
      this.#held.stopTimer();
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /**
   * Kills what runs and gives the outcomes at once. Resolves when the thread has confirmed each kill, at the
   * latest after the grace: until then the thread, which belongs to whoever started it, must stay, or the
   * process trees of commands would outlive it.
   */
  destroy(): Promise<void> {
    this.#destroyed ??= this.#destroy();
    return this.#destroyed;
  }

  async #destroy(): Promise<void> {
    this.#closed = true;
    const nowMono = this.#clock.monoMs();
    for (const held of this.#held.all()) {
      const reason = held.reason ?? 'shutdown';
      if (held.phase !== HoldPhase.Unsent) {
        this.#receipts.expect(held.order.run);
        this.#signal('kill', held, reason);
      }
      this.#give(held, stopped(held.order, reason, nowMono - held.startMono));
    }
    this.#held.stopTimer();
    await this.#receipts.wait(this.#clock, this.#graceMs);
  }

  #endProcesses(): void {
    const runs = new Set(this.inFlight.map(({ run }) => run));
    for (const run of this.#receipts.open) runs.add(run);
    this.#options.endProcesses?.(runs);
  }

  #take(order: ExecuteOrder): void {
    const nowMono = this.#clock.monoMs();
    this.#busy.add(this.active, this.#slots, nowMono);
    const held: HeldOrder = {
      order,
      phase: HoldPhase.Unsent,
      startMono: nowMono,
      dueMono: Number.POSITIVE_INFINITY,
      reason: null,
      owed: null,
    };
    this.#held.add(held);
    this.#unsent.push(held);
    // The one that did not fit into a letter which was then refused.
    if (this.#refused) this.#offerAgain(held, nowMono);
  }

  /** Sends what was taken, letter by letter, until the actor has no room. */
  #send(): void {
    while (this.#unsent.length > 0 && !this.#stuck) {
      const nowMono = this.#clock.monoMs();
      const letter = this.#unsent.slice(0, letterLength(this.#unsent));
      const orders = letter.map((held) => held.order);
      this.#refused = this.#options.actor.tryTell('execute', { orders }) !== Delivery.Delivered;
      if (this.#refused) {
        for (const held of this.#unsent) this.#offerAgain(held, nowMono);
        return;
      }
      this.#unsent = this.#unsent.slice(letter.length);
      for (const held of letter) {
        held.phase = HoldPhase.Running;
        held.startMono = nowMono;
        this.#held.schedule(held, nowMono + held.order.timeoutMs);
      }
    }
  }

  /** However often it is refused, an order is looked at when its timeout is over. */
  #offerAgain(held: HeldOrder, nowMono: number): void {
    this.#held.schedule(held, Math.min(nowMono + RETRY_MS, held.startMono + held.order.timeoutMs));
  }

  #onDue(held: HeldOrder, nowMono: number): void {
    switch (held.phase) {
      case HoldPhase.Unsent:
        if (nowMono >= held.startMono + held.order.timeoutMs) {
          this.#giveUp(held, nowMono);
        } else {
          this.#offerAgain(held, nowMono);
          this.wake();
        }
        break;
      case HoldPhase.Running:
        this.#startAbort(held, 'timeout', nowMono);
        break;
      case HoldPhase.Aborting:
        held.phase = HoldPhase.Killing;
        this.#signal('kill', held, held.reason ?? 'timeout');
        this.#held.schedule(held, nowMono + this.#graceMs);
        break;
      case HoldPhase.Killing:
        this.#giveUp(held, nowMono);
        break;
    }
  }

  #startAbort(held: HeldOrder, reason: AbortReason, nowMono: number): void {
    held.phase = HoldPhase.Aborting;
    held.reason = reason;
    this.#signal('abort', held, reason);
    this.#held.schedule(held, nowMono + this.#graceMs);
  }

  /** Even the kill was not answered, or there was no room for too long: the thread's event loop is blocked. */
  #giveUp(held: HeldOrder, nowMono: number): void {
    const { order, reason } = held;
    const first = !this.#stuck;
    this.#stuck = true;
    if (held.phase !== HoldPhase.Unsent) this.#givenUp.push(order);
    const ranMs = nowMono - held.startMono;
    const missed =
      held.phase === HoldPhase.Unsent
        ? `have room for run ${order.run} of task ${order.task} within ${order.timeoutMs} ms, got none`
        : `answer for run ${order.run} of task ${order.task} within ${2 * this.#graceMs} ms, got nothing`;
    const cause: ErrorData = {
      code: 'thread-lost',
      message: `expected the ${this.name} thread to ${missed}; its event loop is blocked`,
    };
    this.#give(held, reason === null ? bystander(order, cause, 0) : stopped(order, reason, ranMs, cause));
    if (first) this.#options.onStuck(cause);
  }

  #give(held: HeldOrder, outcome: Outcome): void {
    this.#busy.add(this.active, this.#slots, this.#clock.monoMs());
    if (!this.#held.remove(held)) return;
    if (held.phase === HoldPhase.Unsent) this.#forgetUnsent(held);
    this.#options.onOutcome(outcome);
    if (!this.#closed || this.active > 0) return;
    this.#held.stopTimer();
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #forgetUnsent(held: HeldOrder): void {
    this.#unsent = this.#unsent.filter((other) => other !== held);
    if (this.#unsent.length === 0) this.#refused = false;
  }

  #signal(kind: 'abort' | 'kill', held: HeldOrder, reason: AbortReason): void {
    const delivery = this.#options.actor.tryTell(kind, { run: held.order.run, reason });
    held.owed = delivery === Delivery.Delivered ? null : kind;
    if (held.owed !== null) this.#owing = true;
  }

  #flushSignals(): void {
    if (!this.#owing) return;
    this.#owing = false;
    for (const held of this.#held.all()) {
      if (held.owed !== null && held.reason !== null) this.#signal(held.owed, held, held.reason);
    }
  }
}

/** Orders that fit into one letter, at least one. */
function letterLength(unsent: readonly HeldOrder[]): number {
  const limit = Math.min(unsent.length, LETTER_ORDERS);
  let text = 0;
  for (let at = 0; at < limit; at++) {
    text += unsent[at]!.order.input.length;
    if (text > LETTER_TEXT && at > 0) return at;
  }
  return limit;
}

function toSlots(slots: number): number {
  return Math.max(1, Math.floor(slots));
}
