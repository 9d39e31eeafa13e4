/** Answers to questions about what is not there. */
import { ColibriError, didYouMean } from '../kernel/index.ts';
import type { RuntimeView } from '../views/runtime-view.ts';
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

/** A step with a list has no run of its own, though a template may give its id: its items have. */
export async function unknownRun(run: string, runs: RouteContext['runs']): Promise<ColibriError> {
  const remedy = (await itemsHint(run, runs)) ?? '; `colibri runs` lists the last ones';
  return new ColibriError(
    'no-such-run',
    `expected the id of a known run, got ${JSON.stringify(run)}${remedy}`,
  );
}

async function itemsHint(run: string, runs: RouteContext['runs']): Promise<string | null> {
  const { flow, step } = partsOf(run);
  if (step === null) return null;
  // One that is not known either is no fault beside this one.
  const view = await runs.ask('flow-show', { run: flow }).catch(() => null);
  const found = view?.steps?.find((one) => one.step === step && one.each !== null);
  if (found === undefined) return null;
  const size = found.items?.size ?? 0;
  const last = size > 1 ? ` to \`${run}[${size - 1}]\`` : '';
  const items = size === 0 ? `\`colibri flow show ${flow}\` shows it` : `its runs are \`${run}[0]\`${last}`;
  return `, which is a step with a list; ${items}`;
}

/**
 * Says what to do with an id that is not that of the run of a flow: `asked` rejects with `no-such-run` then, as this does.
 */
export async function withFlowHint<T>(
  run: string,
  runs: RouteContext['runs'],
  asked: () => Promise<T>,
): Promise<T> {
  try {
    return await asked();
  } catch (error) {
    if (!(error instanceof ColibriError) || error.code !== 'no-such-run') throw error;
    const { tasks } = await runs.ask('view', null);
    throw new ColibriError(error.code, `${error.message}; ${flowHint(run, tasks)}`);
  }
}

function flowHint(run: string, tasks: RuntimeView['tasks']): string {
  const { flow } = partsOf(run);
  const [name = ''] = run.split('@', 1);
  const kind = tasks.find((one) => one.name === name)?.kind;
  if (kind === 'flow') {
    return flow === run
      ? `\`colibri runs --task ${name}\` lists them`
      : `\`colibri show ${run}\` shows the run of a step, \`colibri flow show ${flow}\` its flow`;
  }
  if (kind === undefined) return '`colibri tasks` lists the flows, `colibri runs --task FLOW` their runs';
  return name === run
    ? `\`colibri runs --task ${name}\` lists those of this task`
    : `\`colibri show ${run}\` shows it`;
}

/** `FLOW@INSTANT/STEP` or `FLOW@INSTANT/STEP[ITEM]`; `flow` is the whole of another id. */
function partsOf(run: string): { readonly flow: string; readonly step: string | null } {
  const slash = run.indexOf('/');
  if (slash === -1) return { flow: run, step: null };
  return { flow: run.slice(0, slash), step: run.slice(slash + 1) };
}

function unknownTask(task: string, names: readonly string[]): ColibriError {
  const remedy = didYouMean(task, names) || '; `colibri tasks` lists them';
  return new ColibriError(
    'no-such-task',
    `expected the name of a task in the config, got ${JSON.stringify(task)}${remedy}`,
  );
}
