/**
 * Time as a parameter. Wall time answers "when is it", monotonic time "how long did it take"; the two are
 * never mixed. Everything that waits or measures takes a `Clock`, so that tests step it.
 */
import { uptime } from 'node:os';
import { FineTimer } from './fine-timer.ts';

export interface Clock {
  /** Wall time, ms since 1970. May step in either direction. */
  wallMs(): number;
  /** Monotonic time, ms since an arbitrary start. Never goes back; stands still while the machine is suspended. */
  monoMs(): number;
  /**
   * How long the machine was suspended, ms, counted from an arbitrary start. A clock that does not know leaves it out:
   * then a suspend looks like a step of the wall clock.
   */
  suspendedMs?(): number;
  /** Calls back once after `delayMs` of monotonic time; keeps the process alive unless `unref` was called. */
  setTimer(delayMs: number, callback: () => void): ClockTimer;
  /** The same to a fraction of a millisecond, never early; a clock that cannot do that lacks it. */
  setFineTimer?(delayMs: number, callback: () => void): ClockTimer;
}

export interface ClockTimer {
  cancel(): void;
  unref(): void;
  /** Starts it anew with the same delay, without another timer; a clock that cannot do that lacks it. */
  refresh?(): void;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => performance.now(),
  // On Linux the uptime counts suspends (CLOCK_BOOTTIME, proc_uptime(5), in steps of 10 ms), the other one does not.
  suspendedMs: () => uptime() * 1000 - performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return {
      cancel: () => clearTimeout(timer),
      unref: () => timer.unref(),
      refresh: () => timer.refresh(),
    };
  },
  setFineTimer: (delayMs, callback) => new FineTimer(delayMs, callback),
};
