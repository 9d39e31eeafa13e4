/** Answers to questions about what is not there. */
import { ColibriError, didYouMean } from '../kernel/index.ts';
import type { RouteContext } from './route.ts';

/**
 * For a question about a task that found nothing: rejects with `no-such-task` where the config has none of that name.
 * What is found is shown whatever its task: it may have left the config since.
 */
export async function expectTask(task: string | null, runs: RouteContext['runs']): Promise<void> {
  if (task === null) return;
  const names = (await runs.ask('view', null)).tasks.map(({ name }) => name);
  if (!names.includes(task)) throw unknownTask(task, names);
}

export function unknownRun(run: string): ColibriError {
  return new ColibriError(
    'no-such-run',
    `expected the id of a known run, got ${JSON.stringify(run)}; \`colibri runs\` lists the last ones`,
  );
}

function unknownTask(task: string, names: readonly string[]): ColibriError {
  const remedy = didYouMean(task, names) || '; `colibri tasks` lists them';
  return new ColibriError(
    'no-such-task',
    `expected the name of a task in the config, got ${JSON.stringify(task)}${remedy}`,
  );
}
