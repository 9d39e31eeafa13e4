/**
 * The instants of a cron expression in a time zone, from its fields alone.
 *
 * Within a span of one offset, local time and real time run side by side: the next instant is the next local time
 * of the fields, or lies in a later span. What happens where two spans meet is the daylight-saving policy:
 *
 *     gap     the clocks go forward, local times are left out   shift: one run at the first instant after it
 *                                                               skip: none
 *     repeat  the clocks go back, local times come twice        first, last, both
 *
 * An expression that names every hour counts real time: it runs in both hours of a repeat, and nothing is made up
 * for a gap, whatever the policy says. So does in a repeat one whose minutes are an interval (`*` or `*`/n).
 *
 * Dates that are excluded are those of the local times themselves: one that a gap moves over midnight is left out with
 * the date on which it is missing, and not with the one on which it would run.
 *
 * The instants are a set, and no state is kept: `next` and `prev` walk the same one, strictly onward. The search
 * is bounded, and each answer is checked against its expression before it is given.
 */
import type { CronFields, DateRange, DstPolicy } from '../config/config.ts';
import { firstCounted, isCounted, lastCounted } from './counted-locals.ts';
import { namesEveryHour, SECOND_MS } from './cron-calendar.ts';
import { MAX_INSTANT_MS, type TimeZone, type ZoneSpan } from './time-zones.ts';

/** The instants of one schedule. */
export interface Occurrences {
  /** The first instant after `afterMs`; null: there is none. */
  next(afterMs: number): number | null;
  /** The last instant before `beforeMs`; null: there is none. */
  prev(beforeMs: number): number | null;
}

/**
 * Spans looked at for one instant. A few lie between an instant and the local time it is asked for; more are
 * needed only where each of its local times falls into a gap and is skipped.
 */
const MAX_SPANS = 64;
/**
 * No instant is farther from its local time read as UTC, a gap of a whole day before it included; and every span is
 * longer (the shortest in the database is a week), so that only neighbours share local times.
 */
const MARGIN_MS = 3 * 86_400_000;

/** How local times become instants. */
export interface LocalPolicy extends DstPolicy {
  /** Local dates that do not count; in order, apart from each other. Default none. */
  readonly exclude?: readonly DateRange[] | undefined;
}

const NO_DATES: readonly DateRange[] = [];

export class CronOccurrences implements Occurrences {
  readonly #fields: CronFields;
  readonly #exclude: readonly DateRange[];
  readonly #zone: TimeZone;
  readonly #shift: boolean;
  readonly #repeat: DstPolicy['repeat'];

  constructor(fields: CronFields, zone: TimeZone, dst: LocalPolicy) {
    const everyHour = namesEveryHour(fields);
    this.#fields = fields;
    this.#exclude = dst.exclude ?? NO_DATES;
    this.#zone = zone;
    this.#shift = dst.gap === 'shift' && !everyHour;
    this.#repeat = everyHour || fields.interval ? 'both' : dst.repeat;
  }

  next(afterMs: number): number | null {
    const at = this.#firstAfter(afterMs);
    return at !== null && at > afterMs && this.#isInstant(at) ? at : null;
  }

  prev(beforeMs: number): number | null {
    const at = this.#lastBefore(beforeMs);
    return at !== null && at < beforeMs && this.#isInstant(at) ? at : null;
  }

  #firstAfter(afterMs: number): number | null {
    let fromMs = Math.floor(afterMs / SECOND_MS) * SECOND_MS + SECOND_MS;
    for (let spans = 0; spans < MAX_SPANS && Math.abs(fromMs) <= MAX_INSTANT_MS; spans++) {
      const span = this.#zone.spanAt(fromMs);
      if (fromMs === span.startMs && this.#isShiftedTo(span)) return fromMs;
      const localMs = this.#firstLocal(Math.max(fromMs + span.offsetMs, this.#firstLocalOf(span)));
      if (localMs === null) return null;
      if (localMs < this.#endLocalOf(span)) return localMs - span.offsetMs;
      // Spans that lie wholly before that local time hold nothing, unless the next one repeats what was before.
      const repeats = span.afterMs < span.offsetMs;
      fromMs = repeats ? span.endMs : Math.max(span.endMs, localMs - MARGIN_MS);
    }
    return null;
  }

  #lastBefore(beforeMs: number): number | null {
    let toMs = Math.ceil(beforeMs / SECOND_MS) * SECOND_MS - SECOND_MS;
    for (let spans = 0; spans < MAX_SPANS && Math.abs(toMs) <= MAX_INSTANT_MS; spans++) {
      const span = this.#zone.spanAt(toMs);
      const localMs = this.#lastLocal(Math.min(toMs + span.offsetMs, this.#endLocalOf(span) - SECOND_MS));
      if (localMs !== null && localMs >= this.#firstLocalOf(span)) return localMs - span.offsetMs;
      if (this.#isShiftedTo(span)) return span.startMs;
      if (localMs === null) return null;
      const lastBeforeMs = span.startMs - SECOND_MS;
      const repeats = span.offsetMs < span.beforeMs;
      toMs = repeats ? lastBeforeMs : Math.min(lastBeforeMs, localMs + MARGIN_MS);
    }
    return null;
  }

  /** What no input makes fail: were it not so, a run would start that nobody asked for, or one after another. */
  #isInstant(atMs: number): boolean {
    if (Math.abs(atMs) > MAX_INSTANT_MS) return false;
    const span = this.#zone.spanAt(atMs);
    if (atMs < span.startMs || atMs >= span.endMs) return false;
    return (
      isCounted(this.#fields, this.#exclude, atMs + span.offsetMs) ||
      (atMs === span.startMs && this.#isShiftedTo(span))
    );
  }

  /** Whether the gap before the span swallows a local time, which then runs with the span's first instant. */
  #isShiftedTo(span: ZoneSpan): boolean {
    if (!this.#shift || span.offsetMs <= span.beforeMs) return false;
    const localMs = this.#firstLocal(span.startMs + span.beforeMs);
    return (
      localMs !== null &&
      localMs < span.startMs + span.offsetMs &&
      isCounted(this.#fields, this.#exclude, localMs)
    );
  }

  #firstLocal(fromMs: number): number | null {
    return firstCounted(this.#fields, this.#exclude, fromMs);
  }

  #lastLocal(toMs: number): number | null {
    return lastCounted(this.#fields, this.#exclude, toMs);
  }

  /** Where the span's own local times begin: after those that are repeated in it and ran before. */
  #firstLocalOf(span: ZoneSpan): number {
    const ran = this.#repeat === 'first' && span.beforeMs > span.offsetMs;
    return span.startMs + (ran ? span.beforeMs : span.offsetMs);
  }

  /** Where they end: before those that come again, and run then. */
  #endLocalOf(span: ZoneSpan): number {
    const willRun = this.#repeat === 'last' && span.afterMs < span.offsetMs;
    return span.endMs + (willRun ? span.afterMs : span.offsetMs);
  }
}
