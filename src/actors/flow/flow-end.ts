/** How a flow ends, from how its steps did: the first rule that holds. Pure. */
import type { FlowEnd, StepReason, StopReason } from './flow-events.ts';
import type { FlowGraph } from './flow-graph.ts';
import type { StepState } from './step-states.ts';

export interface StepOutcomes {
  stateOf(step: number): StepState;
  /** Null: it is not over. */
  reasonOf(step: number): StepReason | null;
  /** Why the flow was ended before its steps were through; null: it was not. */
  readonly stopping: StopReason | null;
}

/**
 * `run` makes a step go on after a failure, it does not unmake the failure: a flow with a failed step has failed, whatever ran
 * after it. A timeout comes only while a step is not over, so the flow has missed it however that step ends. A flow of which a step was left out, with nothing that failed, has not done its work either.
 */
export function endOfFlow(graph: FlowGraph, steps: StepOutcomes): FlowEnd {
  const first = (fits: (state: StepState, reason: StepReason | null) => boolean): number => {
    for (let at = 0; at < graph.order.length; at++) {
      const step = graph.order[at]!;
      if (fits(steps.stateOf(step), steps.reasonOf(step))) return step;
    }
    return -1;
  };
  if (steps.stopping === 'flow-timed-out') {
    const late = first((_, reason) => reason === 'flow-timed-out');
    const step = late >= 0 ? late : first((state) => state !== 'success');
    return { state: 'failed', reason: 'timed-out', step: step < 0 ? null : step };
  }
  const failed = first((state) => state === 'failed');
  if (failed >= 0) return { state: 'failed', reason: 'step-failed', step: failed };
  const stopped = first((_, reason) => reason === 'flow-cancelled');
  if (stopped >= 0) return { state: 'cancelled', reason: 'cancelled', step: null };
  const cancelled = first((state) => state === 'cancelled');
  if (cancelled >= 0) return { state: 'cancelled', reason: 'step-cancelled', step: cancelled };
  const skipped = first((state) => state === 'skipped');
  if (skipped >= 0) return { state: 'failed', reason: 'step-skipped', step: skipped };
  return { state: 'success', reason: 'done', step: null };
}
