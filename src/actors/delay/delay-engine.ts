/**
 * Delay engines: hold items until they are due. One interface, so that engines can be compared and exchanged;
 * `HeapDelayEngine` is the default. All of them pass `test/delay/conformance.ts`.
 *
 * Names that are kept for engines to come: `redis-zset`, `etcd-lease`.
 */
import type { Clock } from '../kernel/clock.ts';
import type { TimerHandle } from './timer-heap.ts';

export interface DelayEngine<Item> {
  readonly size: number;
  /** Gives `item` to `onDue` once the engine's time has reached `dueMs`, never before. `dueMs` must be finite. */
  schedule(dueMs: number, item: Item): TimerHandle;
  /** False if the item has been given out already. */
  cancel(handle: TimerHandle): boolean;
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
  /** Before items are given out, at each waking: the place to look whether the clock was moved. */
  readonly onWake?: () => void;
}

/** No timer sleeps longer, so that a step of the wall clock is noticed within this time. */
export const TIMER_CAP_MS = 15_000;

/** How long the timer for an instant sleeps, ms: rounded up, for one of a fraction of a millisecond would fire before its time. */
export function timerMs(dueMs: number, nowMs: number, capMs: number = TIMER_CAP_MS): number {
  return Math.min(capMs, Math.max(0, Math.ceil(dueMs - nowMs)));
}

/** Items given out in one turn before the event loop is let in between. */
export const DUE_PER_TURN = 1024;

export const DelayEngineName = {
  Heap: 'heap',
  Wheel: 'wheel',
  Timers: 'timers',
  Poll: 'poll',
} as const;
export type DelayEngineName = (typeof DelayEngineName)[keyof typeof DelayEngineName];
