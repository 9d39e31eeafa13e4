/** From what a user wrote to the instants it means. */
import { assertNever } from '../../actors/kernel/index.ts';
import type { ScheduleSpec } from '../config/config.ts';
import { CronOccurrences, type Occurrences } from './cron-occurrences.ts';
import type { TimeZones } from './time-zones.ts';

/** `every` keeps to a grid through 1970, so that it neither drifts nor depends on when the daemon started. */
export function occurrencesOf(spec: ScheduleSpec, zones: TimeZones): Occurrences {
  switch (spec.kind) {
    case 'cron':
      return new CronOccurrences(spec.fields, zones.zone(spec.timeZone), spec.dst);
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

/** As a person wrote it. */
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

/** FNV-1a of the name, spread over the splay: the same for a task at every start (Noll, 1991). */
export function splayOf(name: string, splayMs: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  }
  return splayMs <= 0 ? 0 : hash % Math.ceil(splayMs);
}
