/**
 * The default delay engine: a typed-array heap and one timer for its head.
 *
 * The timer is capped and the time is looked at again on waking: a timer that fires early, a wall clock that
 * was moved, and an instant beyond the reach of timers (2^31 ms) all come down to arming it once more.
 */
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { type DelayEngine, type DelayOptions, DUE_PER_TURN, TIMER_CAP_MS, timerMs } from './delay-engine.ts';
import { type TimerHandle, TimerHeap } from './timer-heap.ts';

export class HeapDelayEngine<Item> implements DelayEngine<Item> {
  readonly #heap = new TimerHeap();
  readonly #items: (Item | undefined)[] = [];
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #onDue: (item: Item, dueMs: number) => void;
  readonly #capMs: number;
  readonly #onWake: (() => void) | undefined;
  #timer: ClockTimer | null = null;
  #armedFor = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(options: DelayOptions<Item>) {
    this.#clock = options.clock;
    this.#now = options.now;
    this.#onDue = options.onDue;
    this.#capMs = options.capMs ?? TIMER_CAP_MS;
    this.#onWake = options.onWake;
  }

  get size(): number {
    return this.#heap.size;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    const handle = this.#heap.insert(dueMs);
    this.#items[TimerHeap.slotOf(handle)] = item;
    if (dueMs < this.#armedFor) this.#arm();
    return handle;
  }

  cancel(handle: TimerHandle): boolean {
    if (!this.#heap.remove(handle)) return false;
    this.#items[TimerHeap.slotOf(handle)] = undefined;
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
    while (this.#heap.pop() !== -1);
    this.#items.length = 0;
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#armedFor = this.#heap.peekDue();
    if (this.#closed || this.#armedFor === Number.POSITIVE_INFINITY) return;
    const waitMs = timerMs(this.#armedFor, this.#now(), this.#capMs);
    this.#timer = this.#clock.setTimer(waitMs, () => this.#wake());
  }

  #wake(): void {
    this.#timer = null;
    // While items are given out, schedule() must not arm: it would cancel and set a timer for each.
    this.#armedFor = Number.NEGATIVE_INFINITY;
    try {
      this.#onWake?.();
      this.#giveDue();
    } finally {
      // Also when a receiver throws: the others must not wait for ever.
      this.#arm();
    }
  }

  #giveDue(): void {
    const now = this.#now();
    for (let count = 0; count < DUE_PER_TURN && !this.#closed; count++) {
      const dueMs = this.#heap.peekDue();
      if (dueMs > now) return;
      const slot = this.#heap.pop();
      const item = this.#items[slot] as Item;
      this.#items[slot] = undefined;
      this.#onDue(item, dueMs);
    }
  }
}
