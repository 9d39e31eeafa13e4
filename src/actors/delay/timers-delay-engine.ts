/**
 * A delay engine of one timer an entry: the simplest there is, for comparison. Each entry costs a timer of the runtime, which
 * is used again where the wait is longer than the cap; items whose due times lie within a millisecond may leave in another
 * order.
 */
import type { ClockTimer } from '../kernel/clock.ts';
import { checkDue, type DelayEngine, type DelayOptions, timerMs } from './delay-engine.ts';
import { EntrySlots, type TimerHandle } from './entry-slots.ts';

interface Entry<Item> {
  readonly item: Item;
  dueMs: number;
  timer: ClockTimer;
  waitMs: number;
  /** When the timer is to fire, monotonic. */
  askedMono: number;
}

export class TimersDelayEngine<Item> implements DelayEngine<Item> {
  readonly #options: DelayOptions<Item>;
  readonly #slots = new EntrySlots();
  readonly #entries: (Entry<Item> | undefined)[] = [];
  #closed = false;

  constructor(options: DelayOptions<Item>) {
    this.#options = options;
    options.watch?.onLook(({ moved }) => {
      if (moved) this.#waitAnew();
    });
  }

  get size(): number {
    return this.#slots.count;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    checkDue(dueMs);
    const slot = this.#slots.take();
    this.#entries[slot] = { item, dueMs, ...this.#timerFor(slot, dueMs) };
    return this.#slots.handleOf(slot);
  }

  cancel(handle: TimerHandle): boolean {
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#remove(slot).timer.cancel();
    return true;
  }

  reschedule(handle: TimerHandle, dueMs: number): boolean {
    checkDue(dueMs);
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    const entry = this.#entries[slot]!;
    entry.timer.cancel();
    Object.assign(entry, { dueMs }, this.#timerFor(slot, dueMs));
    return true;
  }

  close(): void {
    this.#closed = true;
    for (const entry of this.#entries) entry?.timer.cancel();
    this.#entries.length = 0;
    this.#slots.clear();
  }

  #timerFor(slot: number, dueMs: number): Pick<Entry<Item>, 'timer' | 'waitMs' | 'askedMono'> {
    const { clock } = this.#options;
    const waitMs = this.#waitMs(dueMs);
    const timer = clock.setTimer(waitMs, () => this.#wake(slot));
    return { timer, waitMs, askedMono: clock.monoMs() + waitMs };
  }

  #waitMs(dueMs: number): number {
    const { now, capMs, batchMs = 0 } = this.#options;
    // Entries of one batch wake together.
    const wakeMs = batchMs > 0 ? Math.ceil(dueMs / batchMs) * batchMs : dueMs;
    return timerMs(wakeMs, now(), capMs);
  }

  #wake(slot: number): void {
    const entry = this.#entries[slot];
    if (this.#closed || entry === undefined) return;
    const { clock, now, onDue, watch } = this.#options;
    const { timer } = entry;
    watch?.look(Math.max(0, clock.monoMs() - entry.askedMono));
    // Looked at again: what is called meanwhile may have cancelled it or put it off.
    if (this.#closed || this.#entries[slot] !== entry || entry.timer !== timer) return;
    if (entry.dueMs > now()) {
      this.#waitOn(slot, entry);
      return;
    }
    this.#remove(slot);
    onDue(entry.item, entry.dueMs);
  }

  #waitAnew(): void {
    for (const [slot, entry] of this.#entries.entries()) {
      if (entry === undefined) continue;
      entry.timer.cancel();
      Object.assign(entry, this.#timerFor(slot, entry.dueMs));
    }
  }

  #waitOn(slot: number, entry: Entry<Item>): void {
    const { timer } = entry;
    if (timer.refresh === undefined || this.#waitMs(entry.dueMs) !== entry.waitMs) {
      Object.assign(entry, this.#timerFor(slot, entry.dueMs));
      return;
    }
    timer.refresh();
    entry.askedMono = this.#options.clock.monoMs() + entry.waitMs;
  }

  #remove(slot: number): Entry<Item> {
    const entry = this.#entries[slot]!;
    this.#entries[slot] = undefined;
    this.#slots.release(slot);
    return entry;
  }
}
