/**
 * The states of a step of a flow, the table of legal transitions, and the one function that makes them. The words are those
 * of a run where they mean the same; what a run does in between (retrying, interrupted) is `running` for its step.
 *
 *   pending ─ every upstream is over ─▶ ready ─ its run began ─▶ running ─▶ success | failed | skipped | cancelled
 *      └───────────────────────────────────┴──▶ failed | skipped | cancelled, without a run
 *
 * `pending ─▶ success` is a step whose result is taken over from an earlier run of the flow.
 */
import { ColibriError } from '../kernel/errors.ts';
import type { RunState } from '../runs/run-states.ts';

export const StepState = {
  Pending: 'pending',
  Ready: 'ready',
  Running: 'running',
  Success: 'success',
  Failed: 'failed',
  Skipped: 'skipped',
  Cancelled: 'cancelled',
} as const satisfies Readonly<Record<string, RunState>>;
export type StepState = (typeof StepState)[keyof typeof StepState];

/** How a step ends. */
export type StepEnd = 'success' | 'failed' | 'skipped' | 'cancelled';

/** From each state, the states that may follow it. An empty list marks a terminal state. */
export const STEP_TRANSITIONS: Readonly<Record<StepState, readonly StepState[]>> = {
  pending: ['ready', 'success', 'failed', 'skipped', 'cancelled'],
  ready: ['running', 'failed', 'skipped', 'cancelled'],
  running: ['success', 'failed', 'skipped', 'cancelled'],
  success: [],
  failed: [],
  skipped: [],
  cancelled: [],
};

/** In an order that stands for them as numbers: a flow run keeps one byte a step. */
export const STEP_STATES = Object.keys(STEP_TRANSITIONS) as readonly StepState[];

export function isStepOver(state: StepState): boolean {
  return STEP_TRANSITIONS[state].length === 0;
}

/** The state after the move. Throws `internal` on a move that the table does not list. */
export function stepTransition(step: string, from: StepState, to: StepState): StepState {
  if (!STEP_TRANSITIONS[from].includes(to)) {
    throw new ColibriError('internal', `expected a legal transition of step ${step}, got ${from} → ${to}`);
  }
  return to;
}
