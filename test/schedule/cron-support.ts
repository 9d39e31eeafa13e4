/** What tests of cron schedules share: occurrences from text, walks in both directions, time of the processor. */
import assert from 'node:assert/strict';
import type { DstPolicy } from '../../src/main/config/config.ts';
import { CronOccurrences, type Occurrences, TimeZones } from '../../src/main/schedule/index.ts';
import { cronFields } from '../support/cron-fields.ts';

export const DAY_MS = 86_400_000;
export const DEFAULT_POLICY: DstPolicy = { gap: 'shift', repeat: 'first' };
export const POLICIES: readonly DstPolicy[] = (['shift', 'skip'] as const).flatMap((gap) =>
  (['first', 'last', 'both'] as const).map((repeat) => ({ gap, repeat })),
);

const zones = new TimeZones();

export function occurrences(
  expression: string,
  zone: string | null,
  policy: DstPolicy = DEFAULT_POLICY,
): CronOccurrences {
  return new CronOccurrences(cronFields(expression), zones.zone(zone), policy);
}

export function take(cron: Occurrences, afterMs: number, count: number): number[] {
  const found: number[] = [];
  for (let at = cron.next(afterMs); at !== null && found.length < count; at = cron.next(at)) found.push(at);
  return found;
}

/** All from `fromMs` on and before `toMs`. */
export function between(cron: Occurrences, fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let at = cron.next(fromMs - 1); at !== null && at < toMs; at = cron.next(at)) found.push(at);
  return found;
}

/** The same instants, found from the end. */
export function betweenBackwards(cron: Occurrences, fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let at = cron.prev(toMs); at !== null && at >= fromMs; at = cron.prev(at)) found.push(at);
  return found.reverse();
}

/** Compares instants; texts are made of them only where they differ. */
export function sameInstants(
  found: readonly number[],
  expected: readonly number[],
  place: () => string,
): void {
  if (found.length === expected.length && found.every((at, index) => at === expected[index])) return;
  assert.deepEqual(iso(found), iso(expected), place());
}

/**
 * What a call costs this thread in time of the processor, so that neither a busy machine nor the collector's and the
 * compiler's threads count. The best of some: the first may pay for compiling.
 */
export function cpuMs(call: () => void, tries = 3): number {
  const times = Array.from({ length: tries }, () => {
    const before = process.threadCpuUsage();
    call();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

export const iso = (instants: readonly number[]) => instants.map((at) => new Date(at).toISOString());
export const utc = (text: string) => Date.parse(text);
