/** What all kinds of warnings share: the question, the answer, and words for local times and numbers. */
import type { ScheduleWarning, TaskSpec } from '../../config/index.ts';
import { DAY_MS } from '../cron-calendar.ts';
import type { TimeZones } from '../time-zones.ts';

export type { ScheduleWarning };

/** What is looked at of a task. */
export type WarnedTask = Pick<TaskSpec, 'name' | 'schedule' | 'splayMs'>;

export interface Schedules {
  readonly tasks: readonly WarnedTask[];
  readonly nowMs: number;
  readonly zones: TimeZones;
}

/** One kind of warning: at most one a task, in the order of the tasks. Lazy: what is not asked for is not computed. */
export type WarningKind = (schedules: Schedules) => Iterable<ScheduleWarning>;

const MINUTE_MS = 60_000;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** `Sun 2027-03-28`, of a local time counted as if it were UTC. */
export function dateText(localMs: number): string {
  const date = new Date(localMs);
  return `${WEEKDAYS[date.getUTCDay()]} ${date.toISOString().slice(0, 10)}`;
}

/** `02:30`, with seconds where there are any; of another day than `dayOf`, with its date before. */
export function timeText(localMs: number, dayOf: number): string {
  const sameDay = Math.floor(localMs / DAY_MS) === Math.floor(dayOf / DAY_MS);
  const time = new Date(localMs).toISOString().slice(11, localMs % MINUTE_MS === 0 ? 16 : 19);
  return sameDay ? time : `${dateText(localMs)} ${time}`;
}

/** `the clocks of Europe/Berlin`; null is the machine's zone. */
export function zoneText(timeZone: string | null): string {
  return timeZone ?? `this machine (${Temporal.Now.timeZoneId()})`;
}

/** `1 hour`, `5,760 times`. */
export function counted(count: number, word: string): string {
  return `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${word}${count === 1 ? '' : 's'}`;
}
