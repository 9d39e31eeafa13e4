/** Routes about runs of flows: show with their steps, run again. What else is done with them is done as with any run. */
import type { RerunChoice } from '../protocol.ts';
import type { FlowStepView, FlowView } from '../views/run-view.ts';
import { audited } from './audit.ts';
import { isoOrNull, type RunDocument, runDocument } from './documents.ts';
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
  readonly items: { readonly size: number; readonly succeeded: number; readonly failed: number } | null;
}

export interface FlowDocument extends RunDocument {
  /** How it ended, as a sentence; null: it is not over. */
  readonly end: string | null;
  /** Null: not known. */
  readonly steps: readonly FlowStepDocument[] | null;
}

export const FLOW_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/flows/:run',
    answer: async ({ run }, { runs }) => flowDocument(await runs.ask('flow-show', { run })),
  },
  {
    method: 'POST',
    path: '/flows/:run/rerun',
    answer(request, context) {
      const { run } = request;
      const choice = parseRerun(request.body);
      const deed = { action: 'flow rerun', target: run, fields: { run, of: wordOf(choice) } };
      const ask = () => context.runs.ask('flow-rerun', { run, choice }, { timeoutMs: null });
      return audited(
        { request, context, deed },
        async () => ({ run: (await ask()).run }),
        (answer) => ({ made: [answer.run] }),
      );
    },
  },
];

function flowDocument({ run, end, steps }: FlowView): FlowDocument {
  return { ...runDocument(run), end, steps: steps?.map(stepDocument) ?? null };
}

function stepDocument(view: FlowStepView): FlowStepDocument {
  const { step, dependsOn, each, state, reason, cause, detail, startedAtMs, endedAtMs, items } = view;
  const started_at = isoOrNull(startedAtMs);
  const ended_at = isoOrNull(endedAtMs);
  return { step, depends_on: dependsOn, each, state, reason, cause, detail, started_at, ended_at, items };
}

function wordOf(choice: RerunChoice): string {
  return choice.kind === 'step' ? choice.step : choice.kind;
}
