/**
 * Delay engines: hold items until they are due. One interface, so that engines can be compared and exchanged;
 * `HeapDelayEngine` is the default. All of them pass `test/delay/conformance.ts`.
 *
 * Two names are kept for engines to come, `redis-zset` and `etcd-lease`: their entries lie on a server, outlive the process
 * and are seen by others. What they share with these is `DelayOptions` and the handle, which stays a local number, so that
 * `schedule` answers at once. What they need beyond: items as text and back; a promise of `schedule`, `cancel` and
 * `reschedule` that the server has it; a bound on what is under way, and an answer for what could not be kept; `now` from
 * the server's clock; and a claim, taken before an item is given out and renewed until it is done, because two processes
 * see the same entry due. That is an interface beside this one, `RemoteDelayEngine`, with promises where this one has
 * values, and the conformance suite in a form that awaits.
 */
import type { Clock } from '../kernel/clock.ts';
import type { TimerHandle } from './entry-slots.ts';
import type { WallWatch } from './wall-watch.ts';

export interface DelayEngine<Item> {
  readonly size: number;
  /** Gives `item` to `onDue` once the engine's time has reached `dueMs`, never before. `dueMs` must be finite. */
  schedule(dueMs: number, item: Item): TimerHandle;
  /** False if the item has been given out or cancelled already. */
  cancel(handle: TimerHandle): boolean;
  /**
   * Gives the item another due time; the handle stays good, and among items of the same instant it counts as the last that
   * came. False if the item has been given out or cancelled already.
   */
  reschedule(handle: TimerHandle, dueMs: number): boolean;
  /** Forgets everything. Idempotent. */
  close(): void;
}

export interface DelayOptions<Item> {
  readonly clock: Clock;
  /** The time that due times are in: wall or monotonic, ms. */
  readonly now: () => number;
  readonly onDue: (item: Item, dueMs: number) => void;
  /** No timer sleeps longer. Default `TIMER_CAP_MS`. */
  readonly capMs?: number;
  /**
   * Items that are due within so much time are given out together, when the last of it has passed: each is late by up to as
   * much, none is early, and the process wakes less often. Default 0: each as soon as it is due.
   */
  readonly batchMs?: number;
  /**
   * For an engine of wall time: asked to look at each waking, before items are given out. Where a look of whomever finds
   * that the clock has moved, what is due by the new time is given out at once. Default: the engine sees it when it wakes.
   */
  readonly watch?: WallWatch;
}

/** No timer sleeps longer, so that a step of the wall clock that nobody else sees is noticed within this time. */
export const TIMER_CAP_MS = 15_000;

/** How long the timer for an instant sleeps, ms: rounded up, for one of a fraction of a millisecond would fire before its time. */
export function timerMs(dueMs: number, nowMs: number, capMs: number = TIMER_CAP_MS): number {
  return Math.min(capMs, Math.max(0, Math.ceil(dueMs - nowMs)));
}

/** Throws a `RangeError` where an instant is none. */
export function checkDue(dueMs: number): void {
  if (!Number.isFinite(dueMs)) throw new RangeError(`expected a finite due time, got ${dueMs}`);
}

/** Items given out in one turn before the event loop is let in between: a run is made of each, in 10 to 30 µs. */
export const DUE_PER_TURN = 256;

export const DelayEngineName = {
  Heap: 'heap',
  Wheel: 'wheel',
  Timers: 'timers',
  Poll: 'poll',
} as const;
export type DelayEngineName = (typeof DelayEngineName)[keyof typeof DelayEngineName];
