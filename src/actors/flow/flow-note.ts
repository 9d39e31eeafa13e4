/**
 * What the run of a flow keeps of itself in the journal, beside what follows from the runs of its steps: written before anything
 * that follows from it is done. With its end comes how each step did, so that it can be shown and run again when the runs of
 * the steps are forgotten.
 */
import type { FlowStepView, ItemsView } from '../views/run-view.ts';
import type { FailureReason, StopReason } from './flow-events.ts';
import type { FlowGraph } from './flow-graph.ts';
import type { NotedItems } from './taken-items.ts';

export interface FlowNote {
  /** When it began, wall time. */
  sinceMs?: number;
  stop?: StopReason;
  /** Steps that were at work when its timeout came. */
  late?: readonly string[];
  /** How long the list of a step is, by its name. */
  lists?: Record<string, number>;
  /** Why a step failed, where that does not follow from its runs; null: its result was as expected. By its name. */
  verdicts?: Record<string, { readonly reason: FailureReason; readonly detail: string } | null>;
  /** What the next run of a step is compared with, by its name. */
  measures?: Record<string, number>;
  /** The run that it is one again of. */
  again?: string;
  /** Those that that one is one again of, the newest first: see `MOST_ORIGINS`. */
  before?: readonly string[];
  /** Steps that it takes over, and the runs that have their results: no step that has a run of its own. */
  took?: Record<string, string>;
  /** Items that it takes over of steps with a list, and the runs that have their results. By the name of the step. */
  items?: Record<string, { readonly size: number; readonly from: readonly NotedItems[] }>;
  /** How many results of a step were not kept any more when it was asked for, so that they are made anew. By the name of the step. */
  forgotten?: Record<string, number>;
  /** Steps that run again although they had succeeded, and the step before each whose result is made anew. */
  behind?: Record<string, string>;
  /** As a sentence, once it is over. */
  end?: string;
  steps?: readonly NotedStep[];
}

/** Written short: there is one for each step of each flow run that is kept. */
export interface NotedStep {
  readonly step: string;
  readonly state: string;
  readonly reason: string;
  readonly cause?: string;
  readonly detail?: string;
  readonly began?: number;
  readonly ended?: number;
  readonly items?: ItemsView;
  /** Which items of its list succeeded; left out: all, with runs of this run of the flow, if the step did. */
  readonly from?: readonly NotedItems[];
  readonly after?: readonly string[];
  readonly each?: number;
}

/** What nobody can read is as good as nothing: what follows from runs is found anew. */
export function parseNote(text: string | null): FlowNote {
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as FlowNote) : {};
  } catch {
    return {};
  }
}

export function noteText(note: FlowNote): string {
  return JSON.stringify(note);
}

export function viewOfNoted(noted: NotedStep, { forgotten, behind }: FlowNote): FlowStepView {
  return {
    step: noted.step,
    dependsOn: noted.after ?? [],
    each: noted.each ?? null,
    state: noted.state,
    reason: noted.reason,
    cause: noted.cause ?? null,
    detail: noted.detail ?? null,
    startedAtMs: noted.began ?? null,
    endedAtMs: noted.ended ?? null,
    items: noted.items ?? null,
    forgotten: forgotten?.[noted.step] ?? 0,
    againBehind: behind?.[noted.step] ?? null,
  };
}

/** The flow as the config has it, with nothing begun. */
export function viewOfGraph(graph: FlowGraph): FlowStepView[] {
  return graph.steps.map(({ task, dependsOn, each }) => ({
    step: task,
    dependsOn,
    each: each?.concurrency ?? null,
    state: 'pending',
    reason: null,
    cause: null,
    detail: null,
    startedAtMs: null,
    endedAtMs: null,
    items: null,
    forgotten: 0,
    againBehind: null,
  }));
}
