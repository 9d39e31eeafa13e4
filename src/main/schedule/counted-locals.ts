/**
 * The local times of a cron expression that count: those that its fields name, on dates that are not excluded. A local
 * time keeps its date, whatever becomes of it where the clocks change: a run that a gap moves over midnight is one of the
 * day on which its time is missing. Bounded: beside the search in `cron-calendar.ts` a step for each range of dates.
 */
import type { CronFields, DateRange } from '../config/config.ts';
import { DAY_MS, firstLocal, lastLocal, SECOND_MS } from './cron-calendar.ts';
import { matchesFields } from './cron-match.ts';

/** `ranges`: in order, apart from each other. The first one that ends with this day or later. */
export function rangeFrom(ranges: readonly DateRange[], day: number): DateRange | undefined {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.lastDay < day) low = middle + 1;
    else high = middle;
  }
  return ranges[low];
}

/** The first one at or after `fromMs` (whole seconds); null: there is none. */
export function firstCounted(
  fields: CronFields,
  exclude: readonly DateRange[],
  fromMs: number,
): number | null {
  let localMs = firstLocal(fields, fromMs);
  while (localMs !== null) {
    const range = excludedAt(exclude, localMs);
    if (range === undefined) return localMs;
    localMs = firstLocal(fields, (range.lastDay + 1) * DAY_MS);
  }
  return null;
}

/** The last one at or before `toMs` (whole seconds); null: there is none. */
export function lastCounted(fields: CronFields, exclude: readonly DateRange[], toMs: number): number | null {
  let localMs = lastLocal(fields, toMs);
  while (localMs !== null) {
    const range = excludedAt(exclude, localMs);
    if (range === undefined) return localMs;
    localMs = lastLocal(fields, range.firstDay * DAY_MS - SECOND_MS);
  }
  return null;
}

/** Whether a local time is one of them, by other means than the search. */
export function isCounted(fields: CronFields, exclude: readonly DateRange[], localMs: number): boolean {
  return matchesFields(fields, localMs) && excludedAt(exclude, localMs) === undefined;
}

function excludedAt(exclude: readonly DateRange[], localMs: number): DateRange | undefined {
  if (exclude.length === 0) return undefined;
  const day = Math.floor(localMs / DAY_MS);
  const range = rangeFrom(exclude, day);
  return range !== undefined && range.firstDay <= day ? range : undefined;
}
