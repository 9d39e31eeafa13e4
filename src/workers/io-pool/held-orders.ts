/**
 * The orders a pool holds, each with the next instant at which something must happen to it, under one timer.
 *
 * There are at most as many as slots, so the timer's walk over all of them is cheap, and taking and giving
 * back an order touches nothing but a map: no timer is cancelled for a run that ends in time. The timer
 * only ever fires too early (its order has left); it then looks for the next one.
 */

import type { AbortReason, ExecuteOrder } from '../../actors/execution.ts';
import type { Clock, ClockTimer } from '../../actors/kernel/clock.ts';
import { LinkedHashMap } from '../../actors/kernel/index.ts';

/** No timer above this: the clock is looked at again on waking. */
export const TIMER_CAP_MS = 60_000;

/** Close deadlines share a wake-up. */
const TIMER_FLOOR_MS = 2;

/**
 *   unsent ─▶ running ─▶ aborting ─▶ killing
 * Each may also end by an outcome. `unsent`: the mailbox of the actor had no room yet.
 */
export const HoldPhase = {
  Unsent: 'unsent',
  Running: 'running',
  Aborting: 'aborting',
  Killing: 'killing',
} as const;
export type HoldPhase = (typeof HoldPhase)[keyof typeof HoldPhase];

export interface HeldOrder {
  readonly order: ExecuteOrder;
  phase: HoldPhase;
  /** When it was sent; before that, when it was taken. */
  startMono: number;
  /** When its phase ends by itself. */
  dueMono: number;
  /** Why it was told to stop, from `aborting` on. */
  reason: AbortReason | null;
  /** The last message about it, where the mailbox of the actor had no room for it. */
  owed: 'abort' | 'kill' | null;
}

export class HeldOrders {
  readonly #clock: Clock;
  readonly #onDue: (held: HeldOrder, nowMono: number) => void;
  readonly #byRun = new LinkedHashMap<string, HeldOrder>();
  #timer: ClockTimer | null = null;
  #armedMono = Number.POSITIVE_INFINITY;

  /** `onDue` must move the order on: to a later due time, or out. */
  constructor(clock: Clock, onDue: (held: HeldOrder, nowMono: number) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#byRun.size;
  }

  get(run: string): HeldOrder | undefined {
    return this.#byRun.get(run);
  }

  add(held: HeldOrder): void {
    this.#byRun.set(held.order.run, held);
  }

  /** True if it was held. */
  remove(held: HeldOrder): boolean {
    if (this.#byRun.get(held.order.run) !== held) return false;
    return this.#byRun.delete(held.order.run);
  }

  /** A copy, so that the caller may remove while it walks. */
  all(): HeldOrder[] {
    return this.#byRun.values();
  }

  /** Sets when the phase of an order ends. */
  schedule(held: HeldOrder, dueMono: number): void {
    held.dueMono = dueMono;
    if (dueMono < this.#armedMono) this.#arm(dueMono);
  }

  /** Cancels the timer; the orders stay. */
  stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#armedMono = Number.POSITIVE_INFINITY;
  }

  #arm(dueMono: number): void {
    this.#timer?.cancel();
    const nowMono = this.#clock.monoMs();
    const delayMs = Math.min(TIMER_CAP_MS, Math.max(TIMER_FLOOR_MS, dueMono - nowMono));
    this.#armedMono = nowMono + delayMs;
    this.#timer = this.#clock.setTimer(delayMs, () => this.#fire());
  }

  #fire(): void {
    this.#timer = null;
    this.#armedMono = Number.POSITIVE_INFINITY;
    const nowMono = this.#clock.monoMs();
    for (const held of this.all()) {
      if (held.dueMono <= nowMono && this.#byRun.get(held.order.run) === held) this.#onDue(held, nowMono);
    }
    let earliest = Number.POSITIVE_INFINITY;
    for (const held of this.#byRun.values()) earliest = Math.min(earliest, held.dueMono);
    if (earliest < this.#armedMono) this.#arm(earliest);
  }
}
