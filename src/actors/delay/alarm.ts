/**
 * The one timer of an engine: wakes it when its earliest item is due, and is set anew afterwards. The sleep is capped and
 * the engine looks at its own time on waking: a timer that fires early, a wall clock that was moved, and an instant beyond
 * the reach of timers (2^31 ms) all come down to setting it once more. So does a move of the wall clock that others have seen.
 */
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { type DelayOptions, TIMER_CAP_MS } from './delay-engine.ts';

/** Between two fine timers, so that what is due all the time does not wake the process more often than this. */
const SPACING_MS = 0.25;

export interface AlarmOptions extends Omit<DelayOptions<never>, 'onDue'> {
  /** Whether a fraction of a millisecond matters, where the clock can do it. */
  readonly fine: boolean;
  /** When to wake next, in the engine's time; Infinity: never. */
  readonly next: () => number;
  /** Gives out what is due, up to what a turn may take; true: there is more. */
  readonly give: () => boolean;
}

export class Alarm {
  readonly #options: AlarmOptions;
  readonly #clock: Clock;
  readonly #capMs: number;
  readonly #batchMs: number;
  readonly #wake = (): void => this.#awake();
  #timer: ClockTimer | null = null;
  #armedFor = Number.POSITIVE_INFINITY;
  /** When it is to fire, monotonic. */
  #askedMono = 0;
  #wokenMono = Number.NEGATIVE_INFINITY;
  /** The engine's time less monotonic time, as exactly as it is known. */
  #offsetMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: AlarmOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#capMs = options.capMs ?? TIMER_CAP_MS;
    this.#batchMs = options.batchMs ?? 0;
    options.watch?.onLook(({ moved, wallMs }) => {
      // Where it has woken by itself it is armed when all is given out.
      if (this.#armedFor === Number.NEGATIVE_INFINITY) return;
      if (moved || this.#oversleeps(wallMs)) this.#arm(options.next(), this.#batchMs);
    });
  }

  /** There is something to wake for at `dueMs` now. */
  include(dueMs: number): void {
    if (dueMs < this.#armedFor) this.#arm(dueMs, this.#batchMs);
  }

  /** Armed while the clock was set to another time, for a moment that no look has seen. */
  #oversleeps(wallMs: number): boolean {
    return wallMs >= this.#armedFor + this.#batchMs && this.#askedMono > this.#clock.monoMs();
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(dueMs: number, batchMs: number): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#armedFor = dueMs;
    if (this.#closed || dueMs === Number.POSITIVE_INFINITY) return;
    const nowMs = this.#options.now();
    // Read after it, so that what lies between the two reads never makes the difference too great.
    const nowMono = this.#clock.monoMs();
    const leftMs = Math.max(0, dueMs + batchMs - nowMs);
    const exactMs = this.#exactWaitMs(leftMs, nowMs, nowMono);
    // Rounded up, for a timer of a fraction of a millisecond would fire before its time.
    const waitMs = exactMs ?? Math.min(this.#capMs, Math.ceil(leftMs));
    this.#askedMono = nowMono + waitMs;
    this.#timer =
      exactMs === null
        ? this.#clock.setTimer(waitMs, this.#wake)
        : this.#clock.setFineTimer!(waitMs, this.#wake);
  }

  /** Null: a timer of whole milliseconds does. What is due already waits for a turn of the event loop and no longer. */
  #exactWaitMs(leftMs: number, nowMs: number, nowMono: number): number | null {
    const isFine = this.#options.fine && this.#batchMs === 0 && leftMs < this.#capMs;
    if (this.#clock.setFineTimer === undefined || !(isFine || leftMs === 0)) return null;
    if (leftMs === 0) return 0;
    return Math.max(leftMs - this.#lackMs(nowMs, nowMono), this.#wokenMono + SPACING_MS - nowMono);
  }

  /**
   * Wall time has whole milliseconds only. What it lacks is told by monotonic time: the greatest difference between the two
   * that was seen is the closest, as long as both agree to the millisecond.
   */
  #lackMs(nowMs: number, nowMono: number): number {
    const offsetMs = nowMs - nowMono;
    if (offsetMs > this.#offsetMs || offsetMs <= this.#offsetMs - 1) this.#offsetMs = offsetMs;
    return this.#offsetMs - offsetMs;
  }

  #awake(): void {
    this.#timer = null;
    this.#wokenMono = this.#clock.monoMs();
    // While items are given out, `include` must not arm: it would cancel and set a timer for each.
    this.#armedFor = Number.NEGATIVE_INFINITY;
    let isMore = true;
    try {
      this.#options.watch?.look(Math.max(0, this.#wokenMono - this.#askedMono));
      if (!this.#closed) isMore = this.#options.give();
    } finally {
      // Also when a receiver throws: the others must not wait for ever.
      this.#arm(this.#options.next(), isMore ? 0 : this.#batchMs);
    }
  }
}
