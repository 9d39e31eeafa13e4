/** The parser of cron expressions: for loading a config. What runs the schedule needs the fields only. */
export { type LoneStep, loneStep } from './cron-form.ts';
export { parseCron } from './parse-cron.ts';
