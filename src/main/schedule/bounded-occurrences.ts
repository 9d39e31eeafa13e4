/** The occurrences of a schedule that a user lets count: from `start_at` on, before `stop_at`, not on excluded dates. */
import type { ScheduleBounds } from '../config/config.ts';
import type { Occurrences } from './cron-occurrences.ts';
import { ExcludedDates } from './excluded-dates.ts';
import { OccurrencesOutside } from './stretches.ts';
import type { TimeZones } from './time-zones.ts';

export function boundedOccurrences(
  all: Occurrences,
  { startAtMs, stopAtMs, exclude, timeZone }: ScheduleBounds,
  zones: TimeZones,
): Occurrences {
  const counted =
    exclude.length === 0
      ? all
      : new OccurrencesOutside(all, new ExcludedDates(exclude, zones.zone(timeZone)));
  if (startAtMs === null && stopAtMs === null) return counted;
  return new OccurrencesBetween(counted, {
    startMs: startAtMs ?? Number.NEGATIVE_INFINITY,
    stopMs: stopAtMs ?? Number.POSITIVE_INFINITY,
  });
}

class OccurrencesBetween implements Occurrences {
  readonly #inner: Occurrences;
  readonly #startMs: number;
  readonly #stopMs: number;

  /** `startMs` belongs to it, `stopMs` does not. */
  constructor(
    inner: Occurrences,
    { startMs, stopMs }: { readonly startMs: number; readonly stopMs: number },
  ) {
    this.#inner = inner;
    this.#startMs = startMs;
    this.#stopMs = stopMs;
  }

  next(afterMs: number): number | null {
    if (afterMs >= this.#stopMs) return null;
    const at = this.#inner.next(Math.max(afterMs, this.#startMs - 1));
    return at !== null && at < this.#stopMs ? at : null;
  }

  prev(beforeMs: number): number | null {
    if (beforeMs <= this.#startMs) return null;
    const at = this.#inner.prev(Math.min(beforeMs, this.#stopMs));
    return at !== null && at >= this.#startMs ? at : null;
  }
}
