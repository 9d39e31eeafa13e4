/**
 * Says when the event loop of this thread was held while functions ran on it. Of one that held it from its call to its
 * return, the run is known. After an `await` nothing tells whose code runs: then all functions in flight are named, also
 * where the program's own code held the loop.
 *
 * Looks only while functions are in flight. By the thread's own clock, whatever clock the runs go by.
 */
import type { ExecuteOrder } from '../../actors/execution.ts';
import { type Clock, type ClockTimer, systemClock } from '../../actors/kernel/clock.ts';

/** The loop was held: nothing else had a turn for so long. */
export const HELD_MS = 200;
const LOOK_MS = 100;
/** Tasks named where it is not known which one it was. */
const NAMED = 5;

export type HeldFields = Readonly<Record<string, string | number>>;

export class LoopWatch {
  readonly #clock: Clock;
  readonly #onHeld: (msg: string, fields: HeldFields) => void;
  readonly #flying = new Set<ExecuteOrder>();
  #timer: ClockTimer | null = null;
  /** When the loop was last seen to go on. */
  #seenMono = 0;

  constructor(onHeld: (msg: string, fields: HeldFields) => void, clock: Clock = systemClock) {
    this.#onHeld = onHeld;
    this.#clock = clock;
  }

  /** Calls a function and gives what it gives; it is in flight from here until `ended`. */
  call<Result>(order: ExecuteOrder, start: () => Result): Result {
    if (this.#timer === null) this.#arm();
    else this.#look();
    this.#flying.add(order);
    const beganMono = this.#clock.monoMs();
    try {
      return start();
    } finally {
      const heldMs = this.#clock.monoMs() - beganMono;
      if (heldMs >= HELD_MS) {
        this.#seenMono = this.#clock.monoMs();
        const { task, run } = order;
        this.#onHeld(HELD_BY, { task, run, held_ms: Math.round(heldMs) });
      }
    }
  }

  ended(order: ExecuteOrder): void {
    if (!this.#flying.has(order)) return;
    this.#look();
    this.#flying.delete(order);
    if (this.#flying.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(): void {
    this.#seenMono = this.#clock.monoMs();
    this.#timer = this.#clock.setTimer(LOOK_MS, () => {
      this.#look();
      this.#arm();
    });
    this.#timer.unref();
  }

  #look(): void {
    const nowMono = this.#clock.monoMs();
    const heldMs = nowMono - this.#seenMono - LOOK_MS;
    if (heldMs < HELD_MS) return;
    this.#seenMono = nowMono;
    const tasks = [...new Set([...this.#flying].map(({ task }) => task))];
    const held_ms = Math.round(heldMs);
    if (tasks.length === 1) return this.#onHeld(HELD_WHILE, { task: tasks[0]!, held_ms });
    this.#onHeld(HELD_WHILE, { tasks: tasks.slice(0, NAMED).join(', '), of: tasks.length, held_ms });
  }
}

const HELD_BY = 'a function held the event loop; give it to a module of kind cpu';
const HELD_WHILE = 'the event loop was held while functions were running';
