/** Routes about runs: list, show, cancel, trigger. Live runs are known to their owner, ended ones to the store. */
import { ColibriError } from '../kernel/index.ts';
import { listRuns } from '../runs/index.ts';
import type { FlowView, RunView } from '../views/run-view.ts';
import { audited, deedsOn } from './audit.ts';
import { isoOrNull, type RunDocument, runDocument, type ShownRunDocument } from './documents.ts';
import { expectTask, unknownRun } from './not-found.ts';
import { parseRunFilter, parseShow, parseTrigger } from './requests.ts';
import type { Route, RouteContext, RouteRequest } from './route.ts';

export const RUN_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/runs', answer: showRuns },
  { method: 'GET', path: '/runs/:run', answer: showRun },
  {
    method: 'POST',
    path: '/runs/:run/cancel',
    answer(request, context) {
      const { run } = request;
      const deed = { action: 'cancel', target: run, fields: { run } };
      return audited({ request, context, deed }, () => cancel(run, context));
    },
  },
  { method: 'POST', path: '/trigger', answer: trigger },
];

async function showRuns({ query }: RouteRequest, { runs, store }: RouteContext): Promise<unknown> {
  const filter = parseRunFilter(query);
  const found = await listRuns({ runs, store }, filter);
  if (found.length === 0) await expectTask(filter.task, runs);
  return { runs: found.map(runDocument) };
}

/** Who asks for one run after the other need not have the trail searched for each. */
async function showRun(
  { run, query }: RouteRequest,
  { runs, store }: RouteContext,
): Promise<RunDocument | ShownRunDocument> {
  const { commands, wait } = parseShow(query);
  const live = wait
    ? (await runs.ask('wait', { run }, { timeoutMs: null })).ended
    : await runs.ask('show-live', { run });
  // A run that ends between the two questions has left the first for the second.
  const view = live ?? (await store.ask('show', { run }));
  if (view === null) throw await unknownRun(run, runs);
  if (!commands) return runDocument(view);
  return { ...runDocument(view), ...(await ofFlow(view, runs)), commands: await deedsOn(run, store) };
}

/** What only the flow knows: of a step, how that took what its run gave. */
async function ofFlow(
  { run, flow, note }: RunView,
  runs: RouteContext['runs'],
): Promise<Pick<ShownRunDocument, 'again_of' | 'step'>> {
  const asked = flow ?? (note === null ? null : run);
  const view = asked === null ? null : await flowOrNull(asked, runs);
  const step = flow === null ? undefined : view?.steps?.find(({ step }) => run === `${flow}/${step}`);
  return {
    again_of: flow === null ? (view?.againOf ?? null) : null,
    step:
      step === undefined
        ? null
        : { name: step.step, state: step.state, reason: step.reason, detail: step.detail },
  };
}

/** Null: it is not known any more, or its flow is gone from the config. */
async function flowOrNull(run: string, runs: RouteContext['runs']): Promise<FlowView | null> {
  try {
    return await runs.ask('flow-show', { run });
  } catch (error) {
    if (error instanceof ColibriError && error.code === 'no-such-run') return null;
    throw error;
  }
}

async function cancel(run: string, { runs, store }: RouteContext): Promise<unknown> {
  try {
    return { run, state: (await runs.ask('cancel', { run })).state };
  } catch (error) {
    if (!(error instanceof ColibriError) || error.code !== 'no-such-run') throw error;
    const ended = await store.ask('show', { run });
    if (ended === null) throw await unknownRun(run, runs);
    const got = `${JSON.stringify(run)}, which is over (${ended.state})`;
    throw new ColibriError('no-such-run', `expected a run that is not over, got ${got}`);
  }
}

/** Who waits, waits as long as the run takes; and a full queue that blocks holds the answer back until it is accepted. */
async function trigger(request: RouteRequest, context: RouteContext): Promise<unknown> {
  const wanted = parseTrigger(request.body, context.wallMs());
  const { task, force, dueAtMs } = wanted;
  const dueAt = isoOrNull(dueAtMs);
  const fields = { task, force, ...(dueAt === null ? {} : { due_at: dueAt }) };
  const deed = { action: 'trigger', target: task, fields };
  return audited(
    { request, context, deed },
    async () => {
      try {
        const { run, ended } = await context.runs.ask('trigger', wanted, { timeoutMs: null });
        return { run, due_at: dueAt, ended: ended === null ? null : runDocument(ended) };
      } catch (error) {
        if (error instanceof ColibriError && error.code === 'no-such-task')
          await expectTask(task, context.runs);
        throw error;
      }
    },
    ({ run }) => ({ run }),
  );
}
