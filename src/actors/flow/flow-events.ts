/**
 * What a run of a flow is told, what it answers, and the reasons it gives. Plain data; steps are named by their index in the
 * graph, items of an `each:` step by their index in the list.
 */
import type { RunState } from '../runs/run-states.ts';
import type { StepEnd } from './step-states.ts';

/** Why a step ended as it did. */
export const StepReason = {
  /** Its run did what it should. */
  Done: 'done',
  /** Its result is that of an earlier run of the flow. */
  TakenOver: 'taken-over',
  /** Its run failed for good. */
  RunFailed: 'run-failed',
  /** Its result is not as `expect` says. */
  NotExpected: 'not-expected',
  /** What it is to be given could not be put together. */
  NoInput: 'no-input',
  /** Its task is gone from the config. */
  TaskRemoved: 'task-removed',
  /** Nothing is known of its run any more. */
  RunLost: 'run-lost',
  /** An item of its list did not succeed. */
  ItemFailed: 'item-failed',
  /** Its run was skipped: by overlap, by a full queue, after an interruption. */
  RunSkipped: 'run-skipped',
  /** Its run was cancelled by itself. */
  RunCancelled: 'run-cancelled',
  /** A step before it did not succeed. */
  Upstream: 'upstream',
  /** The flow was cancelled. */
  FlowCancelled: 'flow-cancelled',
  /** The flow took longer than its timeout. */
  FlowTimedOut: 'flow-timed-out',
} as const;
export type StepReason = (typeof StepReason)[keyof typeof StepReason];

/** In an order that stands for them as numbers. */
export const STEP_REASONS: readonly StepReason[] = Object.values(StepReason);

/** What a failed run may be blamed on; `item-failed`: of all runs of a step with a list, some of which were not made. */
export type FailureReason =
  | 'run-failed'
  | 'not-expected'
  | 'no-input'
  | 'task-removed'
  | 'run-lost'
  | 'item-failed';

/** Why a flow is ended before its steps are through. */
export type StopReason = 'flow-cancelled' | 'flow-timed-out';

/** Where a run belongs: to a step, or to one item of it. */
export interface FlowPlace {
  readonly step: number;
  /** Null: the step has one run. */
  readonly item: number | null;
}

export type FlowEvent =
  | ({ readonly kind: 'began' } & FlowPlace)
  /** `result`: where the result is, if that is not with the run of the step; of an item, not kept. */
  | ({ readonly kind: 'succeeded'; readonly result: string | null } & FlowPlace)
  | ({ readonly kind: 'failed'; readonly reason: FailureReason; readonly detail: string | null } & FlowPlace)
  | ({ readonly kind: 'skipped'; readonly detail: string | null } & FlowPlace)
  | ({ readonly kind: 'cancelled' } & FlowPlace)
  /** Its task is gone from the config: the run would wait for it. */
  | ({ readonly kind: 'orphaned' } & FlowPlace)
  /** The list of an `each:` step is known. That length is kept before the first of its items starts: see `SeenRuns.items`. */
  | { readonly kind: 'listed'; readonly step: number; readonly items: number }
  | { readonly kind: 'stop'; readonly reason: StopReason };

export type FlowEffect =
  /** Make the run of this place. Its id follows from flow run, step and item, so that a second one is the same. */
  | ({ readonly kind: 'start' } & FlowPlace)
  /** Find out how long the list of this step is, keep it, and say `listed`; or `failed`, with `no-input`. */
  | { readonly kind: 'list'; readonly step: number }
  /** Cancel the run of this place; its end is told as any other. Comes again while a sweep finds it alive. */
  | ({ readonly kind: 'cancel' } & FlowPlace)
  | {
      readonly kind: 'step-ended';
      readonly step: number;
      readonly state: StepEnd;
      readonly reason: StepReason;
    }
  | { readonly kind: 'over'; readonly end: FlowEnd };

/** How a flow ended. It follows from its steps alone. */
export interface FlowEnd {
  readonly state: 'success' | 'failed' | 'cancelled';
  readonly reason: FlowEndReason;
  /** The step that decided it; null: all of them. */
  readonly step: number | null;
}

export const FlowEndReason = {
  Done: 'done',
  TimedOut: 'timed-out',
  StepFailed: 'step-failed',
  Cancelled: 'cancelled',
  StepCancelled: 'step-cancelled',
  /** Nothing failed, yet a step did not run. */
  StepSkipped: 'step-skipped',
} as const;
export type FlowEndReason = (typeof FlowEndReason)[keyof typeof FlowEndReason];

/** A run as its owner or the store knows it. */
export interface SeenRun {
  readonly state: RunState;
  readonly result: string | null;
  /** What a failed one is blamed on, where that is not the run itself. */
  readonly reason: FailureReason | null;
  readonly detail: string | null;
}

/** The runs of one flow run, as they stand now: asked during a sweep. */
export interface SeenRuns {
  /** Null: there is no such run. A step with a list, and no item, has a `reason` where its end does not follow from its items. */
  run(step: number, item: number | null): SeenRun | null;
  /** How long the list of the step is; null: that was not kept, so no item has a run. */
  items(step: number): number | null;
}

/** As a new flow run sees it. */
export const NOTHING_SEEN: SeenRuns = { run: () => null, items: () => null };

/** What the sight of a run says; null: that it is not over, and nothing more. */
export function eventOfSeen(
  seen: SeenRun,
  { step, item }: FlowPlace,
): Exclude<FlowEvent, { kind: 'stop' | 'listed' }> | null {
  const { state, result, reason, detail } = seen;
  switch (state) {
    case 'running':
    case 'retrying':
    case 'interrupted':
      return { kind: 'began', step, item };
    case 'success':
      return { kind: 'succeeded', step, item, result };
    case 'failed':
      return { kind: 'failed', step, item, reason: reason ?? 'run-failed', detail };
    case 'skipped':
      return { kind: 'skipped', step, item, detail };
    case 'cancelled':
      return { kind: 'cancelled', step, item };
    case 'orphaned':
      return { kind: 'orphaned', step, item };
    case 'pending':
    case 'ready':
      return null;
  }
}
