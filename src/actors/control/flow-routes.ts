/** Routes about runs of flows: show with their steps, run again. What else is done with them is done as with any run. */
import type { RerunChoice } from '../protocol.ts';
import type { FlowStepView, FlowView, ItemsView } from '../views/run-view.ts';
import { audited } from './audit.ts';
import { isoOrNull, type RunDocument, runDocument } from './documents.ts';
import { withFlowHint } from './not-found.ts';
import { parseRerun } from './requests.ts';
import type { Route } from './route.ts';

export interface FlowStepDocument {
  readonly step: string;
  readonly depends_on: readonly string[];
  /** Items at a time; null: the step has no list. */
  readonly each: number | null;
  readonly state: string;
  /** Why it ended as it did; null: it is not over. */
  readonly reason: string | null;
  readonly cause: string | null;
  readonly detail: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** `taken_over`: of those that succeeded, in an earlier run of the flow. */
  readonly items: {
    readonly size: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly cancelled: number;
    readonly taken_over: number;
  } | null;
  /** Results that are made anew, as they were not kept any more when the flow was run again. */
  readonly forgotten: number;
  /** The step before it that is made anew, so that this one runs again though it had succeeded. */
  readonly again_behind: string | null;
}

export interface FlowDocument extends RunDocument {
  /** How it ended, as a sentence; null: it is not over. */
  readonly end: string | null;
  /** Null: not known. */
  readonly steps: readonly FlowStepDocument[] | null;
  /** The run of the task of `on_failure`; null: there is none, or it is not known any more. */
  readonly on_failure: RunDocument | null;
  /** The run of the flow that it is one again of; null: it is none. */
  readonly again_of: string | null;
}

export const FLOW_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/flows/:run',
    async answer({ run }, { runs }) {
      return flowDocument(await withFlowHint(run, runs, () => runs.ask('flow-show', { run })));
    },
  },
  {
    method: 'POST',
    path: '/flows/:run/rerun',
    answer(request, context) {
      const { run } = request;
      const choice = parseRerun(request.body);
      const deed = { action: 'flow rerun', target: run, fields: { run, of: wordOf(choice) } };
      const { runs } = context;
      const again = () => runs.ask('flow-rerun', { run, choice }, { timeoutMs: null });
      const ask = async () => {
        const { againBehind, ...answer } = await withFlowHint(run, runs, again);
        return { ...answer, again_behind: againBehind };
      };
      return audited({ request, context, deed }, ask, (answer) => ({ made: [answer.run] }));
    },
  },
];

function flowDocument({ run, end, steps, onFailure, againOf }: FlowView): FlowDocument {
  return {
    ...runDocument(run),
    end,
    steps: steps?.map(stepDocument) ?? null,
    on_failure: onFailure === null ? null : runDocument(onFailure),
    again_of: againOf,
  };
}

function stepDocument(view: FlowStepView): FlowStepDocument {
  const { dependsOn: depends_on, startedAtMs, endedAtMs, items, ...rest } = view;
  const { step, each, state, reason, cause, detail, forgotten, againBehind } = rest;
  const times = { started_at: isoOrNull(startedAtMs), ended_at: isoOrNull(endedAtMs) };
  return {
    step,
    depends_on,
    each,
    state,
    reason,
    cause,
    detail,
    ...times,
    items: itemsDocument(items),
    forgotten,
    again_behind: againBehind,
  };
}

function itemsDocument(items: ItemsView | null): FlowStepDocument['items'] {
  if (items === null) return null;
  const { size, succeeded, failed, cancelled = 0, takenOver = 0 } = items;
  return { size, succeeded, failed, cancelled, taken_over: takenOver };
}

function wordOf(choice: RerunChoice): string {
  return choice.kind === 'step' ? choice.step : choice.kind;
}
