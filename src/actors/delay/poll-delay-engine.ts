/**
 * A delay engine that looks through all entries every so often, as a loop with a sleep does: for comparison. It costs time
 * by the entry and the look, and items are late by up to a period.
 */
import type { ClockTimer } from '../kernel/clock.ts';
import type { DelayEngine, DelayOptions } from './delay-engine.ts';
import { EntrySlots } from './entry-slots.ts';
import type { TimerHandle } from './timer-heap.ts';

/** Between two looks. */
export const POLL_MS = 10;

interface Entry<Item> {
  readonly item: Item;
  readonly dueMs: number;
  readonly sequence: number;
  readonly slot: number;
}

export class PollDelayEngine<Item> implements DelayEngine<Item> {
  readonly #options: DelayOptions<Item>;
  readonly #pollMs: number;
  readonly #slots = new EntrySlots();
  readonly #entries: (Entry<Item> | undefined)[] = [];
  #nextSequence = 0;
  #timer: ClockTimer | null = null;
  #closed = false;

  constructor(options: DelayOptions<Item>, pollMs = POLL_MS) {
    this.#options = options;
    this.#pollMs = pollMs;
  }

  get size(): number {
    return this.#slots.count;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    if (!Number.isFinite(dueMs)) throw new RangeError(`expected a finite due time, got ${dueMs}`);
    const slot = this.#slots.take();
    this.#entries[slot] = { item, dueMs, sequence: this.#nextSequence++, slot };
    this.#arm();
    return this.#slots.handleOf(slot);
  }

  cancel(handle: TimerHandle): boolean {
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#remove(slot);
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
    this.#entries.length = 0;
    this.#slots.clear();
  }

  /** Runs only while there is something to look at. */
  #arm(): void {
    if (this.#timer !== null || this.#closed || this.size === 0) return;
    this.#timer = this.#options.clock.setTimer(this.#pollMs, () => this.#look());
  }

  #look(): void {
    this.#timer = null;
    const { now, onDue, onWake } = this.#options;
    try {
      onWake?.();
      const nowMs = now();
      const due = this.#entries.filter(
        (entry) => entry !== undefined && entry.dueMs <= nowMs,
      ) as Entry<Item>[];
      due.sort((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence);
      for (const entry of due) {
        if (this.#closed) return;
        if (this.#entries[entry.slot] !== entry) continue;
        this.#remove(entry.slot);
        onDue(entry.item, entry.dueMs);
      }
    } finally {
      this.#arm();
    }
  }

  #remove(slot: number): void {
    this.#entries[slot] = undefined;
    this.#slots.release(slot);
  }
}
