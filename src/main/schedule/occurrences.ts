/** From what a user wrote to the instants it means. */
import { assertNever, fnv1a } from '../../actors/kernel/index.ts';
import type { ScheduleSpec } from '../config/config.ts';
import { boundedOccurrences } from './bounded-occurrences.ts';
import { CronOccurrences, type Occurrences } from './cron-occurrences.ts';
import { goesByClocks } from './shifts.ts';
import type { TimeZones } from './time-zones.ts';

/** All that counts: the one way from a schedule to its occurrences. */
export function occurrencesOf(spec: ScheduleSpec, zones: TimeZones): Occurrences {
  const all = allOccurrencesOf(spec, zones);
  if (spec.bounds === undefined) return all;
  const bounds = spec.kind === 'cron' ? { ...spec.bounds, exclude: [] } : spec.bounds;
  return boundedOccurrences(all, bounds, zones);
}

/** Whether a last occurrence is known of: after it there is none, and none is looked for. */
export function ends(spec: ScheduleSpec): boolean {
  return spec.kind === 'at' || (spec.bounds?.stopAtMs ?? null) !== null;
}

/** Whether it stands for a length of time rather than for times of the day. */
export function countsRealTime(spec: ScheduleSpec): boolean {
  return spec.kind !== 'at' && !goesByClocks(spec);
}

/**
 * Cron expressions leave out excluded dates by themselves: they are dates of local times, which instants do not show.
 * `every` keeps to a grid through 1970, so that it neither drifts nor depends on when the daemon started.
 */
function allOccurrencesOf(spec: ScheduleSpec, zones: TimeZones): Occurrences {
  switch (spec.kind) {
    case 'cron':
      return new CronOccurrences(spec.fields, zones.zone(spec.timeZone), {
        ...spec.dst,
        exclude: spec.bounds?.exclude,
      });
    case 'every':
      return {
        next: (afterMs) => (Math.floor(afterMs / spec.everyMs) + 1) * spec.everyMs,
        prev: (beforeMs) => (Math.ceil(beforeMs / spec.everyMs) - 1) * spec.everyMs,
      };
    case 'at':
      return {
        next: (afterMs) => (spec.atMs > afterMs ? spec.atMs : null),
        prev: (beforeMs) => (spec.atMs < beforeMs ? spec.atMs : null),
      };
    default:
      return assertNever(spec, 'kind of schedule');
  }
}

/**
 * As a person wrote it, and the name by which the store knows it again. Without its bounds: whoever adds an excluded date
 * does not begin a new schedule, and what came due meanwhile is still late.
 */
export function scheduleText(spec: ScheduleSpec | null): string | null {
  if (spec === null) return null;
  switch (spec.kind) {
    case 'cron':
      return spec.timeZone === null ? spec.expression : `${spec.expression} (${spec.timeZone})`;
    case 'every':
      return `every ${spec.everyMs % 1000 === 0 ? `${spec.everyMs / 1000}s` : `${spec.everyMs}ms`}`;
    case 'at':
      return `at ${new Date(spec.atMs).toISOString()}`;
    default:
      return assertNever(spec, 'kind of schedule');
  }
}

/** The hash of the name, spread over the splay: the same for a task at every start. */
export function splayOf(name: string, splayMs: number): number {
  return splayMs <= 0 ? 0 : (fnv1a(name) >>> 0) % Math.ceil(splayMs);
}
