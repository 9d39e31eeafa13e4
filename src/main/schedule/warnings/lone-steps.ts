/**
 * A step that is longer than what it steps through: `*` over 90 minutes is the full hour and nothing else, for each hour
 * begins anew. Other daemons take it, so it is no problem; that an interval was meant is likely.
 */
import { loneStep } from '../parse/index.ts';
import type { Schedules, ScheduleWarning } from './warning.ts';

/** Fields whose steps are lengths of time that `every` can say. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ['seconds', 's'],
  ['minutes', 'm'],
  ['hours', 'h'],
]);

export function* loneSteps({ tasks }: Schedules): Iterable<ScheduleWarning> {
  for (const [task, { schedule }] of tasks.entries()) {
    const lone = schedule?.kind === 'cron' ? loneStep(schedule.expression) : null;
    if (lone === null) continue;
    const { item, field, round, value } = lone;
    const unit = /^[*?]/.test(item) ? UNITS.get(field) : undefined;
    const interval =
      unit === undefined ? '' : `, or every: ${item.slice(2)}${unit} if such an interval is meant`;
    const why = item.includes('-') ? 'its range ends before' : `the ${round} begin anew each time`;
    const message =
      `expected a step that comes more than once, got ${item} in the ${field}: ${why}, so it ` +
      `is ${value} only; write ${value} in its place${interval}`;
    yield { task, message };
  }
}
