/**
 * Time as a parameter. Wall time answers "when is it", monotonic time "how long did it take"; the two are
 * never mixed. Everything that waits or measures takes a `Clock`, so that tests step it.
 */
export interface Clock {
  /** Wall time, ms since 1970. May step in either direction. */
  wallMs(): number;
  /** Monotonic time, ms since an arbitrary start. Never goes back. */
  monoMs(): number;
  /** Calls back once after `delayMs` of monotonic time; keeps the process alive unless `unref` was called. */
  setTimer(delayMs: number, callback: () => void): ClockTimer;
}

export interface ClockTimer {
  cancel(): void;
  unref(): void;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timer), unref: () => timer.unref() };
  },
};
