/**
 * A second way to the same instants, to compare with: it reads the clock of a zone minute by minute from
 * `Intl.DateTimeFormat`, and asks of each minute whether it fits. It shares nothing with the evaluator: the fields
 * are plain predicates, gaps and repeats are what is seen to be missing or to come again.
 */
import type { DstPolicy } from '../../src/main/config/config.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** An expression of five fields as its author means it. */
export interface Wanted {
  readonly expression: string;
  readonly everyHour: boolean;
  /** Its minutes are all, or every so many. */
  readonly interval: boolean;
  /** Of a local time, as a `Date` whose UTC fields hold it. */
  readonly fits: (local: Date) => boolean;
}

/** The clock of a zone in the hours around one change. */
export interface ClockStrip {
  readonly zone: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Local time read as UTC, for each minute from `startMs` on. */
  readonly localMs: readonly number[];
  /** The first instant after the change. */
  readonly changeMs: number;
  /** By how much the clocks were set forward; negative: back. */
  readonly forwardMs: number;
}

/** What a clock on the wall shows: local time read as UTC, in ms. */
export function wallClock(zone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  // 03/29/2026, 01:59:00
  const number = (text: string, from: number, to: number) => Number(text.slice(from, to));
  return (atMs) => {
    const text = format.format(atMs);
    const day = Date.UTC(number(text, 6, 10), number(text, 0, 2) - 1, number(text, 3, 5));
    return (
      day + number(text, 12, 14) * HOUR_MS + number(text, 15, 17) * MINUTE_MS + number(text, 18, 20) * 1000
    );
  };
}

/** The strips around all changes of the clocks of a zone between two instants. */
export function stripsAroundChanges(zone: string, fromMs: number, toMs: number): ClockStrip[] {
  const read = wallClock(zone);
  const offset = (atMs: number) => read(atMs) - atMs;
  const strips: ClockStrip[] = [];
  // No clock is changed twice within three days.
  for (let dayMs = fromMs, before = offset(dayMs); dayMs < toMs; dayMs += 3 * DAY_MS) {
    const after = offset(dayMs + 3 * DAY_MS);
    if (before === after) continue;
    let [low, high] = [dayMs, dayMs + 3 * DAY_MS];
    while (high - low > MINUTE_MS) {
      const middle = low + Math.round((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    const [startMs, endMs] = [high - 1.5 * HOUR_MS, high + 1.5 * HOUR_MS];
    const localMs: number[] = [];
    for (let atMs = startMs; atMs < endMs; atMs += MINUTE_MS) localMs.push(read(atMs));
    strips.push({ zone, startMs, endMs, localMs, changeMs: high, forwardMs: after - before });
    before = after;
  }
  return strips;
}

/** The instants of a strip at which an expression is to run. */
export function instantsIn(strip: ClockStrip, wanted: Wanted, dst: DstPolicy): number[] {
  const { localMs, startMs } = strip;
  const at = (index: number) => startMs + index * MINUTE_MS;
  const fits = (local: number) => wanted.fits(new Date(local));
  const found = new Set<number>();
  const shown = new Map<number, number[]>();
  for (const [index, local] of localMs.entries()) {
    if (!fits(local)) continue;
    const times = shown.get(local) ?? [];
    times.push(at(index));
    shown.set(local, times);
  }
  for (const times of shown.values()) {
    const repeat = wanted.everyHour || wanted.interval ? 'both' : dst.repeat;
    if (repeat === 'both') for (const time of times) found.add(time);
    else found.add(repeat === 'first' ? times[0]! : times.at(-1)!);
  }
  if (dst.gap === 'shift' && !wanted.everyHour) {
    for (let index = 1; index < localMs.length; index++) {
      for (let local = localMs[index - 1]! + MINUTE_MS; local < localMs[index]!; local += MINUTE_MS) {
        if (fits(local)) found.add(at(index));
      }
    }
  }
  return [...found].sort((a, b) => a - b);
}
