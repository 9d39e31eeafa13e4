/**
 * What a schedule says and probably does not mean, and what is to come that people do not expect: said when a config is
 * loaded, beside its problems. Pure and bounded: a warning of a kind a task, a list of each kind, however many tasks.
 */
import { TimeZones } from '../time-zones.ts';
import { bursts } from './bursts.ts';
import { clockChanges } from './clock-changes.ts';
import { crowds } from './crowds.ts';
import { dayUnions } from './day-unions.ts';
import { loneSteps } from './lone-steps.ts';
import { neverRuns } from './never-runs.ts';
import type { ScheduleWarning, WarnedTask, WarningKind } from './warning.ts';

export type { ScheduleWarning, WarnedTask };

/** Read from the expressions, and of the few with bounds from what is left of them. */
const OF_WHAT_IS_WRITTEN: readonly WarningKind[] = [dayUnions, bursts, loneSteps, neverRuns];
/** What is to come has to be computed: some milliseconds for hundreds of tasks. */
const OF_WHAT_IS_TO_COME: readonly WarningKind[] = [clockChanges, crowds];

/** Of one kind; what comes after is not listed. */
export const MAX_OF_A_KIND = 20;

export interface WarningOptions {
  readonly nowMs: number;
  readonly lookAhead: boolean;
}

export function scheduleWarnings(
  tasks: readonly WarnedTask[],
  { nowMs, lookAhead }: WarningOptions,
): readonly ScheduleWarning[] {
  const schedules = { tasks, nowMs, zones: new TimeZones() };
  const kinds = lookAhead ? [...OF_WHAT_IS_WRITTEN, ...OF_WHAT_IS_TO_COME] : OF_WHAT_IS_WRITTEN;
  return kinds.flatMap((kind) => firstOf(kind(schedules)));
}

function firstOf(all: Iterable<ScheduleWarning>): readonly ScheduleWarning[] {
  const listed: ScheduleWarning[] = [];
  for (const warning of all) {
    if (listed.length === MAX_OF_A_KIND) {
      const more = `; further tasks have this warning, the first ${MAX_OF_A_KIND} are listed`;
      return [...listed.slice(0, -1), { ...listed.at(-1)!, message: listed.at(-1)!.message + more }];
    }
    listed.push(warning);
  }
  return listed;
}
