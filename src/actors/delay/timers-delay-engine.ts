/**
 * A delay engine of one timer an entry: the simplest there is, for comparison. Each entry costs a timer of the runtime;
 * items whose due times lie within a millisecond may leave in another order.
 */
import type { ClockTimer } from '../kernel/clock.ts';
import { type DelayEngine, type DelayOptions, timerMs } from './delay-engine.ts';
import { EntrySlots } from './entry-slots.ts';
import type { TimerHandle } from './timer-heap.ts';

interface Entry<Item> {
  readonly item: Item;
  readonly dueMs: number;
  timer: ClockTimer;
}

export class TimersDelayEngine<Item> implements DelayEngine<Item> {
  readonly #options: DelayOptions<Item>;
  readonly #slots = new EntrySlots();
  readonly #entries: (Entry<Item> | undefined)[] = [];
  #closed = false;

  constructor(options: DelayOptions<Item>) {
    this.#options = options;
  }

  get size(): number {
    return this.#slots.count;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    if (!Number.isFinite(dueMs)) throw new RangeError(`expected a finite due time, got ${dueMs}`);
    const slot = this.#slots.take();
    this.#entries[slot] = { item, dueMs, timer: this.#timerFor(slot, dueMs) };
    return this.#slots.handleOf(slot);
  }

  cancel(handle: TimerHandle): boolean {
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#remove(slot).timer.cancel();
    return true;
  }

  close(): void {
    this.#closed = true;
    for (const entry of this.#entries) entry?.timer.cancel();
    this.#entries.length = 0;
    this.#slots.clear();
  }

  #timerFor(slot: number, dueMs: number): ClockTimer {
    const { clock, now, capMs } = this.#options;
    return clock.setTimer(timerMs(dueMs, now(), capMs), () => this.#wake(slot));
  }

  #wake(slot: number): void {
    const entry = this.#entries[slot];
    if (this.#closed || entry === undefined) return;
    const { now, onDue, onWake } = this.#options;
    onWake?.();
    // Looked at again: what is called meanwhile may have cancelled it.
    if (this.#closed || this.#entries[slot] !== entry) return;
    if (entry.dueMs > now()) {
      entry.timer = this.#timerFor(slot, entry.dueMs);
      return;
    }
    this.#remove(slot);
    onDue(entry.item, entry.dueMs);
  }

  #remove(slot: number): Entry<Item> {
    const entry = this.#entries[slot]!;
    this.#entries[slot] = undefined;
    this.#slots.release(slot);
    return entry;
  }
}
