/** Fields of a cron expression that is known to be right. */
import type { CronFields } from '../../src/main/config/config.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';

export function cronFields(expression: string): CronFields {
  const parsed = parseCron(expression);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.fields;
}
