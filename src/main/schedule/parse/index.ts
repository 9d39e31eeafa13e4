/** The parser of cron expressions: for loading a config. What runs the schedule needs the fields only. */
export { parseCron } from './parse-cron.ts';
