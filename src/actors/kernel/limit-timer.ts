/**
 * A limit on how long somebody else is waited for. Where the machine stood still, or this thread did, the timer comes late,
 * and before what has arrived meanwhile: then it is armed once more, so that what arrived is read, and whoever stood
 * still as well has the time that was meant for it.
 */
import type { Clock, ClockTimer } from './clock.ts';

/** A busy machine is later than this only where a thread had no core for so long. */
const LATE_MS = 100;
/** What arrived is read in less; a limit of many seconds does not become twice as long for a short stall. */
const MOST_MORE_MS = 500;

/** Calls back after `limitMs`; where that was late by more than 0.1 s, after as long once more, 0.5 s at most. */
export function setLimit(clock: Clock, limitMs: number, callback: () => void): ClockTimer {
  const dueMono = clock.monoMs() + limitMs;
  let timer = clock.setTimer(limitMs, () => {
    if (clock.monoMs() - dueMono <= LATE_MS) return callback();
    timer = clock.setTimer(Math.min(limitMs, MOST_MORE_MS), callback);
  });
  return { cancel: () => timer.cancel(), unref: () => timer.unref() };
}
