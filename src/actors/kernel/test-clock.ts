/**
 * A clock that stands still until a test moves it. `advance` moves both times and fires what is due, in
 * order; `stepWall` moves the wall alone, as a correction by NTP or a hand does; `suspend` moves it as a machine that
 * sleeps does; `stall` moves both times and fires nothing, as in a process that is stopped.
 */
import type { Clock, ClockTimer } from './clock.ts';

interface Pending {
  readonly dueMono: number;
  readonly order: number;
  readonly callback: () => void;
}

export class TestClock implements Clock {
  #wall: number;
  #mono = 0;
  #suspended = 0;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startAtMs = Date.UTC(2026, 0, 1)) {
    this.#wall = startAtMs;
  }

  wallMs(): number {
    return this.#wall;
  }

  monoMs(): number {
    return this.#mono;
  }

  suspendedMs(): number {
    return this.#suspended;
  }

  /** Timers that have not fired; a test of a closed part expects 0. */
  get timers(): number {
    return this.#pending.size;
  }

  setTimer(delayMs: number, callback: () => void): ClockTimer {
    const entry: Pending = {
      dueMono: this.#mono + Math.max(0, delayMs),
      order: this.#order++,
      callback,
    };
    this.#pending.add(entry);
    return { cancel: () => void this.#pending.delete(entry), unref: () => {} };
  }

  /** Moves both times by `ms`, firing timers on the way; microtasks run after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms;
    for (;;) {
      const next = this.#earliest();
      if (next === undefined || next.dueMono > end) break;
      this.#pending.delete(next);
      this.#moveTo(Math.max(this.#mono, next.dueMono));
      next.callback();
      await settle();
    }
    this.#moveTo(end);
    await settle();
  }

  /** Moves the wall time alone; no timer fires by it. */
  stepWall(ms: number): void {
    this.#wall += ms;
  }

  /** The machine sleeps: the wall goes on, monotonic time does not. */
  suspend(ms: number): void {
    this.#wall += ms;
    this.#suspended += ms;
  }

  /** The process gets no time: timers that come due are late, and fire with the next `advance`. */
  stall(ms: number): void {
    this.#moveTo(this.#mono + ms);
  }

  #moveTo(mono: number): void {
    this.#wall += mono - this.#mono;
    this.#mono = mono;
  }

  #earliest(): Pending | undefined {
    let best: Pending | undefined;
    for (const entry of this.#pending) {
      if (
        best === undefined ||
        entry.dueMono < best.dueMono ||
        (entry.dueMono === best.dueMono && entry.order < best.order)
      ) {
        best = entry;
      }
    }
    return best;
  }
}

/** Lets promise callbacks and one round of the event loop run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
