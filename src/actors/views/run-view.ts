/** Runs as users see them: of a task, of a flow with its steps, and those that are dead letters. */
import type { ErrorData } from '../kernel/errors.ts';
import type { AttemptView, RunOrigin } from '../records.ts';
import type { RunState } from '../runs/run-states.ts';

/** A run as `runs` and `show` print it. Times are wall times in ms. */
export interface RunView {
  readonly run: string;
  readonly task: string;
  readonly state: RunState;
  readonly attempt: number;
  readonly origin: RunOrigin;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationMs: number | null;
  /** When it is, or was, meant to start, or its last retry; null: at its creation. */
  readonly dueAtMs: number | null;
  readonly input: string;
  readonly result: string | null;
  /** It had a result, which is not kept any more. */
  readonly forgotten?: true;
  readonly error: ErrorData | null;
  readonly progress: { readonly fraction: number; readonly note: string | null } | null;
  /** The last attempts, oldest first, at most `MAX_ATTEMPTS_KEPT`. */
  readonly attempts: readonly AttemptView[];
  /** The run of the flow that it is a step of; null: of none. */
  readonly flow: string | null;
  /** Of the run of a flow: what it keeps of itself, JSON text. */
  readonly note: string | null;
}

export interface DeadLetterView {
  readonly run: string;
  readonly task: string;
  readonly diedAtMs: number;
  readonly attempts: number;
  readonly input: string;
  readonly error: ErrorData | null;
}

/** A step as the run of its flow is shown. Times are wall times in ms. */
export interface FlowStepView {
  readonly step: string;
  readonly dependsOn: readonly string[];
  /** Items at a time, of a step with a list; null: it has none. */
  readonly each: number | null;
  readonly state: string;
  /** Null: it is not over. */
  readonly reason: string | null;
  /** The step before it that is to blame. */
  readonly cause: string | null;
  readonly detail: string | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** Null: it has no list, or that is not known yet. */
  readonly items: ItemsView | null;
  /** Results of it that were not kept any more when the flow was run again: they are made anew. */
  readonly forgotten: number;
  /** The step before it that is made anew, so that this one, or items of its list, run again though they had succeeded; null: none. */
  readonly againBehind: string | null;
}

export interface ItemsView {
  readonly size: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Their run was cancelled: by itself, with the flow, or as another one had failed. Left out: none. */
  readonly cancelled?: number;
  /** Of those that succeeded: in an earlier run of the flow. */
  readonly takenOver?: number;
}

/** What a flow that is run again does once more although it had succeeded: its result is not kept any more. */
export interface ForgottenResults {
  readonly step: string;
  /** Of a step with a list, how many of its items; else 1. */
  readonly results: number;
}

/** What a flow that is run again does once more although it had succeeded: what it was made of is made anew. */
export interface AgainBehind {
  readonly step: string;
  /** How many items of its list had succeeded; null: it has no list, or that is not known. */
  readonly items: number | null;
  /** The step before it, near or far, whose result is made anew. */
  readonly behind: string;
}

/** The run of a flow with its steps; null: what they were is not known. */
export interface FlowView {
  readonly run: RunView;
  /** Why it ended, as a sentence; null: it is not over. */
  readonly end: string | null;
  readonly steps: readonly FlowStepView[] | null;
  /** The run of the task of `on_failure`; null: there is none, or it is not known any more. */
  readonly onFailure: RunView | null;
  /** The run of the flow that it is one again of; null: it is none. */
  readonly againOf: string | null;
}
