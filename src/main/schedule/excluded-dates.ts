/**
 * Local dates on which a schedule of instants (`every`, `at`) has no occurrences, as stretches of time. An instant counts
 * by its own local date: where the clocks go back over midnight, the hour that a date has left and comes to again belongs
 * to it both times. Of cron expressions the local times themselves are left out: see `counted-locals.ts`.
 */
import type { DateRange } from '../config/config.ts';
import { rangeFrom } from './counted-locals.ts';
import { DAY_MS, SECOND_MS } from './cron-calendar.ts';
import type { Stretch, Stretches } from './stretches.ts';
import type { TimeZone } from './time-zones.ts';

/** No zone is so far from UTC: within a range and so far from its ends, every instant has a date of the range. */
const MARGIN_MS = 2 * DAY_MS;

export class ExcludedDates implements Stretches {
  readonly #ranges: readonly DateRange[];
  readonly #zone: TimeZone;

  /** `ranges`: in order, apart from each other. */
  constructor(ranges: readonly DateRange[], zone: TimeZone) {
    this.#ranges = ranges;
    this.#zone = zone;
  }

  /** As far as one offset of the zone reaches, or farther where it does not matter. */
  at(atMs: number): Stretch | null {
    const near = rangeFrom(this.#ranges, Math.floor((atMs - MARGIN_MS) / DAY_MS));
    if (near === undefined || near.firstDay * DAY_MS - MARGIN_MS > atMs) return null;
    const span = this.#zone.spanAt(Math.floor(atMs / SECOND_MS) * SECOND_MS);
    const day = Math.floor((atMs + span.offsetMs) / DAY_MS);
    const range = rangeFrom(this.#ranges, day);
    if (range === undefined || range.firstDay > day) return null;
    const firstMs = range.firstDay * DAY_MS;
    const endMs = (range.lastDay + 1) * DAY_MS;
    const stretch = {
      fromMs: Math.max(firstMs - span.offsetMs, span.startMs) - 1,
      toMs: Math.min(endMs - span.offsetMs, span.endMs) - 1,
    };
    const inner = { fromMs: firstMs + MARGIN_MS - 1, toMs: endMs - MARGIN_MS - 1 };
    const joins = inner.fromMs < inner.toMs && inner.fromMs <= stretch.toMs && stretch.fromMs <= inner.toMs;
    if (!joins) return stretch;
    return {
      fromMs: Math.min(stretch.fromMs, inner.fromMs),
      toMs: Math.max(stretch.toMs, inner.toMs),
    };
  }
}
