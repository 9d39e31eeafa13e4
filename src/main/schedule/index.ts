/** What computes and gives out occurrences. The parser of cron expressions has a face of its own: `parse/`. */
export { CLOCK_JUMP_LINES, ClockWatch } from './clock-watch.ts';
export { CronOccurrences, type Occurrences } from './cron-occurrences.ts';
export { occurrencesOf, scheduleText, splayOf } from './occurrences.ts';
export { type Preview, type PreviewedOccurrence, previewOf } from './preview.ts';
export { type EndCause, endReason } from './schedule-end.ts';
export { type DueTask, type ScheduledTask, Scheduler, type SchedulerOptions } from './scheduler.ts';
export { type ShiftFields, Shifts } from './shifts.ts';
export { TimeZones } from './time-zones.ts';
