export { cronProblem, type Occurrences, parseCron } from './cron.ts';
export { occurrencesOf, scheduleText, splayOf } from './occurrences.ts';
export { type ScheduledTask, Scheduler, type SchedulerOptions } from './scheduler.ts';
