/**
 * A limit on how long somebody else is waited for. Where the machine stood still, or this thread did, the timer comes late,
 * and before what has arrived meanwhile: then it is armed once more, so that what arrived is read, and whoever stood
 * still as well has the time that was meant for it.
 */
import type { Clock, ClockTimer } from './clock.ts';

/** A busy machine is later than this only where a thread had no core for so long. */
const LATE_MS = 100;

/** Calls back after `limitMs`; after twice that and what it stood still where the first time was late by more than 0.1 s. */
export function setLimit(clock: Clock, limitMs: number, callback: () => void): ClockTimer {
  const dueMono = clock.monoMs() + limitMs;
  let timer = clock.setTimer(limitMs, () => {
    if (clock.monoMs() - dueMono <= LATE_MS) return callback();
    timer = clock.setTimer(limitMs, callback);
  });
  return { cancel: () => timer.cancel(), unref: () => timer.unref() };
}
