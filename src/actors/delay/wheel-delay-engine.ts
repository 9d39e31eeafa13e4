/**
 * A delay engine over a hierarchical timing wheel: insertion and removal at a cost that does not grow with the number of
 * entries, and one timer. Where entries lie far apart it wakes now and then only to move them to a lower wheel.
 *
 * It tells time to the millisecond. What has come stands in a small heap: items leave by due time, then by the order in
 * which they came, however many come at once.
 */
import { Alarm } from './alarm.ts';
import { checkDue, type DelayEngine, type DelayOptions, DUE_PER_TURN } from './delay-engine.ts';
import { EntrySlots, type TimerHandle } from './entry-slots.ts';
import { TimerHeap } from './timer-heap.ts';
import { TimingWheel } from './timing-wheel.ts';

export class WheelDelayEngine<Item> implements DelayEngine<Item> {
  readonly #slots = new EntrySlots();
  /** An entry stands in one of the two. */
  readonly #wheel: TimingWheel;
  readonly #come = new TimerHeap(this.#slots);
  /** By slot. */
  readonly #items: (Item | undefined)[] = [];
  readonly #now: () => number;
  readonly #onDue: (item: Item, dueMs: number) => void;
  readonly #alarm: Alarm;
  #closed = false;

  constructor(options: DelayOptions<Item>) {
    this.#now = options.now;
    this.#onDue = options.onDue;
    this.#wheel = new TimingWheel(Math.floor(options.now()));
    this.#alarm = new Alarm({
      ...options,
      fine: false,
      next: () => Math.min(this.#come.peekDue(), this.#wheel.nextTick),
      give: () => this.#giveDue(),
    });
  }

  get size(): number {
    return this.#slots.count;
  }

  schedule(dueMs: number, item: Item): TimerHandle {
    checkDue(dueMs);
    const slot = this.#slots.take();
    this.#items[slot] = item;
    this.#wheel.insert(slot, dueMs);
    this.#alarm.include(dueMs);
    return this.#slots.handleOf(slot);
  }

  cancel(handle: TimerHandle): boolean {
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#takeOut(slot);
    this.#forget(slot);
    return true;
  }

  reschedule(handle: TimerHandle, dueMs: number): boolean {
    checkDue(dueMs);
    const slot = this.#slots.slotOf(handle);
    if (slot === -1) return false;
    this.#takeOut(slot);
    this.#slots.renew(slot);
    this.#wheel.insert(slot, dueMs);
    this.#alarm.include(dueMs);
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#alarm.close();
    this.#wheel.clear();
    this.#come.clear();
    this.#items.length = 0;
    this.#slots.clear();
  }

  #takeOut(slot: number): void {
    if (this.#wheel.has(slot)) this.#wheel.remove(slot);
    else this.#come.remove(slot);
  }

  /** True: more is due than a turn may take. */
  #giveDue(): boolean {
    const now = this.#now();
    const nowTick = Math.floor(now);
    if (nowTick < this.#wheel.current) this.#wheel.reset(nowTick);
    else this.#wheel.advance(nowTick);
    this.#collectCome();
    for (let count = 0; count < DUE_PER_TURN && !this.#closed; count++) {
      const dueMs = this.#come.peekDue();
      if (dueMs > now) return false;
      const slot = this.#come.pop();
      const item = this.#items[slot] as Item;
      this.#forget(slot);
      this.#onDue(item, dueMs);
    }
    return true;
  }

  #collectCome(): void {
    for (let slot = this.#wheel.firstCome; slot !== -1; slot = this.#wheel.firstCome) {
      this.#wheel.remove(slot);
      this.#come.insert(slot, this.#wheel.dueOf(slot));
    }
  }

  #forget(slot: number): void {
    this.#items[slot] = undefined;
    this.#slots.release(slot);
  }
}
