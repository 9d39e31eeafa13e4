/** What computes and gives out occurrences. The parser of cron expressions has a face of its own: `parse/`. */
export { CronOccurrences, type Occurrences } from './cron-occurrences.ts';
export { occurrencesOf, scheduleText, splayOf } from './occurrences.ts';
export { type Preview, previewOf } from './preview.ts';
export { type ScheduledTask, Scheduler, type SchedulerOptions } from './scheduler.ts';
export { TimeZones } from './time-zones.ts';
