/**
 * A clock that stands still until a test moves it. `advance` moves both times and fires what is due, in
 * order; `stepWall` moves the wall alone, as a correction by NTP or a hand does; `suspend` moves it as a machine that
 * sleeps does; `stall` moves both times and fires nothing, as in a process that is stopped.
 */
import type { Clock, ClockTimer } from './clock.ts';
import { describeValue } from './describe-schema.ts';
import { ColibriError } from './errors.ts';

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

  /** Throws `usage` for what is no instant; as do the others for what is no time, or one that goes back. */
  constructor(startAtMs = Date.UTC(2026, 0, 1)) {
    this.#wall = expectMs('new TestClock', startAtMs, Number.NEGATIVE_INFINITY);
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
    const end = this.#mono + expectMs('advance', ms);
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
    this.#wall += expectMs('stepWall', ms, Number.NEGATIVE_INFINITY);
  }

  /** The machine sleeps: the wall goes on, monotonic time does not. */
  suspend(ms: number): void {
    this.#wall += expectMs('suspend', ms);
    this.#suspended += ms;
  }

  /** The process gets no time: timers that come due are late, and fire with the next `advance`. */
  stall(ms: number): void {
    this.#moveTo(this.#mono + expectMs('stall', ms));
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

/** A schedule fires without end in an endless time, and in one that is none. */
function expectMs(call: string, ms: number, least = 0): number {
  if (Number.isFinite(ms) && ms >= least) return ms;
  const from = least === 0 ? ' from 0 on' : '';
  throw new ColibriError(
    'usage',
    `${call}: expected a number of milliseconds${from}, got ${describeValue(ms)}`,
  );
}

/** Lets promise callbacks and one round of the event loop run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
