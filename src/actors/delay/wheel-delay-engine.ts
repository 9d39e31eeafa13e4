/**
 * A delay engine over a hierarchical timing wheel: insertion and removal at a cost that does not grow with the number of
 * entries, and one timer. Where entries lie far apart it wakes now and then only to move them to a lower wheel.
 *
 * A tick is a millisecond, rounded up, so that nothing is early. What has come stands in a small heap: items leave by due
 * time, then by insertion, however many come at once.
 */
import type { ClockTimer } from '../kernel/clock.ts';
import { type DelayEngine, type DelayOptions, DUE_PER_TURN, timerMs } from './delay-engine.ts';
import { EntrySlots } from './entry-slots.ts';
import { type TimerHandle, TimerHeap } from './timer-heap.ts';
import { TimingWheel } from './timing-wheel.ts';

interface Entry<Item> {
  readonly item: Item;
  readonly dueMs: number;
  readonly sequence: number;
  readonly slot: number;
  /** Its place among those that have come; null: it stands in the wheel. */
  come: TimerHandle | null;
}

export class WheelDelayEngine<Item> implements DelayEngine<Item> {
  readonly #options: DelayOptions<Item>;
  readonly #wheel: TimingWheel;
  readonly #slots = new EntrySlots();
  readonly #entries: (Entry<Item> | undefined)[] = [];
  readonly #come = new TimerHeap();
  /** By slot of `#come`. */
  readonly #comeEntries: (Entry<Item> | undefined)[] = [];
  #nextSequence = 0;
  #timer: ClockTimer | null = null;
  #armedFor = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(options: DelayOptions<Item>) {
    this.#options = options;
    this.#wheel = new TimingWheel(Math.floor(options.now()));
  }

  get size(): number {
    return this.#slots.count;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    if (!Number.isFinite(dueMs)) throw new RangeError(`expected a finite due time, got ${dueMs}`);
    const slot = this.#slots.take();
    this.#entries[slot] = { item, dueMs, sequence: this.#nextSequence++, slot, come: null };
    this.#wheel.insert(slot, Math.ceil(dueMs));
    if (dueMs < this.#armedFor) this.#arm();
    return this.#slots.handleOf(slot);
  }

  cancel(handle: TimerHandle): boolean {
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    const entry = this.#entries[slot]!;
    if (entry.come === null) this.#wheel.remove(slot);
    else {
      this.#come.remove(entry.come);
      this.#comeEntries[TimerHeap.slotOf(entry.come)] = undefined;
    }
    this.#forget(slot);
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
    for (const entry of this.#entries) if (entry?.come === null) this.#wheel.remove(entry.slot);
    while (this.#come.pop() !== -1);
    this.#comeEntries.length = 0;
    this.#entries.length = 0;
    this.#slots.clear();
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#armedFor = Math.min(this.#come.peekDue(), this.#wheel.nextTick);
    if (this.#closed || this.#armedFor === Number.POSITIVE_INFINITY) return;
    const { clock, now, capMs } = this.#options;
    this.#timer = clock.setTimer(timerMs(this.#armedFor, now(), capMs), () => this.#wake());
  }

  #wake(): void {
    this.#timer = null;
    // While items are given out, schedule() must not arm: it would cancel and set a timer for each.
    this.#armedFor = Number.NEGATIVE_INFINITY;
    try {
      this.#options.onWake?.();
      this.#giveDue();
    } finally {
      this.#arm();
    }
  }

  #giveDue(): void {
    const now = this.#options.now();
    const nowTick = Math.floor(now);
    if (nowTick < this.#wheel.current) this.#wheel.reset(nowTick);
    else this.#wheel.advance(nowTick);
    this.#collectCome();
    for (let count = 0; count < DUE_PER_TURN && !this.#closed; count++) {
      if (this.#come.peekDue() > now) return;
      const at = this.#come.pop();
      const entry = this.#comeEntries[at]!;
      this.#comeEntries[at] = undefined;
      this.#forget(entry.slot);
      this.#options.onDue(entry.item, entry.dueMs);
    }
  }

  /** Those of one tick may have stood on several wheels: their order is made here. */
  #collectCome(): void {
    const batch: Entry<Item>[] = [];
    for (const slot of this.#wheel.come()) batch.push(this.#entries[slot]!);
    batch.sort((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence);
    for (const entry of batch) {
      this.#wheel.remove(entry.slot);
      entry.come = this.#come.insert(entry.dueMs);
      this.#comeEntries[TimerHeap.slotOf(entry.come)] = entry;
    }
  }

  #forget(slot: number): void {
    this.#entries[slot] = undefined;
    this.#slots.release(slot);
  }
}
