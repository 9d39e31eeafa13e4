/** The default delay engine: a typed-array heap and one timer for its head. */
import { Alarm } from './alarm.ts';
import { checkDue, type DelayEngine, type DelayOptions, DUE_PER_TURN } from './delay-engine.ts';
import { EntrySlots, type TimerHandle } from './entry-slots.ts';
import { TimerHeap } from './timer-heap.ts';

export class HeapDelayEngine<Item> implements DelayEngine<Item> {
  readonly #slots = new EntrySlots();
  readonly #heap = new TimerHeap(this.#slots);
  /** By slot. */
  readonly #items: (Item | undefined)[] = [];
  readonly #now: () => number;
  readonly #onDue: (item: Item, dueMs: number) => void;
  readonly #alarm: Alarm;
  #closed = false;

  constructor(options: DelayOptions<Item>) {
    this.#now = options.now;
    this.#onDue = options.onDue;
    this.#alarm = new Alarm({
      ...options,
      fine: true,
      next: () => this.#heap.peekDue(),
      give: () => this.#giveDue(),
    });
  }

  get size(): number {
    return this.#slots.count;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    checkDue(dueMs);
    const slot = this.#slots.take();
    this.#heap.insert(slot, dueMs);
    this.#items[slot] = item;
    this.#alarm.include(dueMs);
    return this.#slots.handleOf(slot);
  }

  cancel(handle: TimerHandle): boolean {
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#heap.remove(slot);
    this.#forget(slot);
    return true;
  }

  reschedule(handle: TimerHandle, dueMs: number): boolean {
    checkDue(dueMs);
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#heap.move(slot, dueMs);
    this.#alarm.include(dueMs);
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#alarm.close();
    this.#heap.clear();
    this.#items.length = 0;
    this.#slots.clear();
  }

  /** True: more is due than a turn may take. */
  #giveDue(): boolean {
    const now = this.#now();
    for (let count = 0; count < DUE_PER_TURN && !this.#closed; count++) {
      const dueMs = this.#heap.peekDue();
      if (dueMs > now) return false;
      const slot = this.#heap.pop();
      const item = this.#items[slot] as Item;
      this.#forget(slot);
      this.#onDue(item, dueMs);
    }
    return true;
  }

  #forget(slot: number): void {
    this.#items[slot] = undefined;
    this.#slots.release(slot);
  }
}
