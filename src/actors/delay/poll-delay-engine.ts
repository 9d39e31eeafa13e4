/**
 * A delay engine that looks through all entries every so often, as a loop with a sleep does: for comparison. It costs time
 * by the entry and the look, and items are late by up to a period.
 */
import type { ClockTimer } from '../kernel/clock.ts';
import { checkDue, type DelayEngine, type DelayOptions } from './delay-engine.ts';
import { EntrySlots, type TimerHandle } from './entry-slots.ts';
import { capacityFor, widen } from './widen.ts';

/** Between two looks. */
export const POLL_MS = 10;

export class PollDelayEngine<Item> implements DelayEngine<Item> {
  readonly #options: DelayOptions<Item>;
  readonly #pollMs: number;
  readonly #slots = new EntrySlots();
  /** By slot; Infinity: there is none. */
  #due = new Float64Array(64);
  readonly #items: (Item | undefined)[] = [];
  #timer: ClockTimer | null = null;
  #closed = false;

  constructor(options: DelayOptions<Item>) {
    this.#options = options;
    this.#pollMs = Math.max(POLL_MS, options.batchMs ?? 0);
  }

  get size(): number {
    return this.#slots.count;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    checkDue(dueMs);
    const slot = this.#slots.take();
    if (slot >= this.#due.length) this.#due = widen(this.#due, new Float64Array(capacityFor(slot + 1)));
    this.#due[slot] = dueMs;
    this.#items[slot] = item;
    this.#arm();
    return this.#slots.handleOf(slot);
  }

  cancel(handle: TimerHandle): boolean {
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#forget(slot);
    return true;
  }

  reschedule(handle: TimerHandle, dueMs: number): boolean {
    checkDue(dueMs);
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#slots.renew(slot);
    this.#due[slot] = dueMs;
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
    this.#items.length = 0;
    this.#slots.clear();
  }

  /** Runs only while there is something to look at. */
  #arm(): void {
    if (this.#timer !== null || this.#closed || this.size === 0) return;
    const { clock } = this.#options;
    const askedMono = clock.monoMs() + this.#pollMs;
    this.#timer = clock.setTimer(this.#pollMs, () => this.#wake(askedMono));
  }

  #wake(askedMono: number): void {
    this.#timer = null;
    const { clock, watch } = this.#options;
    try {
      watch?.look(Math.max(0, clock.monoMs() - askedMono));
      if (!this.#closed) this.#giveDue();
    } finally {
      this.#arm();
    }
  }

  #giveDue(): void {
    const { now, onDue } = this.#options;
    const nowMs = now();
    const due: number[] = [];
    for (let slot = 0; slot < this.#slots.used; slot++) if (this.#due[slot]! <= nowMs) due.push(slot);
    due.sort((a, b) => this.#due[a]! - this.#due[b]! || (this.#slots.isBefore(a, b) ? -1 : 1));
    const entries = due.map((slot) => ({ handle: this.#slots.handleOf(slot), dueMs: this.#due[slot]! }));
    for (const { handle, dueMs } of entries) {
      const slot = this.#slots.slotOf(handle);
      // What is called meanwhile may have cancelled it, put it off, or closed the engine.
      if (slot === -1 || this.#due[slot] !== dueMs) continue;
      const item = this.#items[slot] as Item;
      this.#forget(slot);
      onDue(item, dueMs);
    }
  }

  #forget(slot: number): void {
    this.#due[slot] = Number.POSITIVE_INFINITY;
    this.#items[slot] = undefined;
    this.#slots.release(slot);
  }
}
