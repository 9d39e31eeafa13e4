/**
 * The states of a run, the table of legal transitions, and the one function that makes them.
 *
 *   pending ─▶ ready ─▶ running ─▶ success
 *      │         │        │  └────▶ failed
 *      │         │        ├───────▶ retrying ─▶ ready
 *      │         │        └───────▶ interrupted ─▶ ready | failed | skipped
 *      └─────────┴──▶ skipped | cancelled          (also from retrying)
 *
 * `orphaned` holds a run whose task is gone from the config; it becomes ready when the task is there again.
 */
import { ColibriError } from '../kernel/errors.ts';

export const RunState = {
  Pending: 'pending',
  Ready: 'ready',
  Running: 'running',
  Retrying: 'retrying',
  Success: 'success',
  Failed: 'failed',
  Skipped: 'skipped',
  Cancelled: 'cancelled',
  Interrupted: 'interrupted',
  Orphaned: 'orphaned',
} as const;
export type RunState = (typeof RunState)[keyof typeof RunState];

/** From each state, the states that may follow it. An empty list marks a terminal state. */
export const RUN_TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  pending: ['ready', 'skipped', 'cancelled', 'orphaned'],
  ready: ['running', 'skipped', 'cancelled', 'orphaned'],
  running: ['success', 'failed', 'retrying', 'interrupted', 'cancelled'],
  retrying: ['ready', 'failed', 'skipped', 'cancelled', 'orphaned'],
  interrupted: ['ready', 'failed', 'skipped', 'cancelled', 'orphaned'],
  orphaned: ['ready', 'cancelled'],
  success: [],
  failed: [],
  skipped: [],
  cancelled: [],
};

export const RUN_STATES = Object.keys(RUN_TRANSITIONS) as readonly RunState[];

export function isTerminal(state: RunState): boolean {
  return RUN_TRANSITIONS[state].length === 0;
}

/** What `transition` needs of a run. */
export interface HasState {
  readonly id: string;
  state: RunState;
}

/** Moves a run to its next state. Throws `internal` on a move that the table does not list. */
export function transition(run: HasState, next: RunState): void {
  if (!RUN_TRANSITIONS[run.state].includes(next)) {
    throw new ColibriError(
      'internal',
      `expected a legal transition of ${run.id}, got ${run.state} → ${next}`,
    );
  }
  run.state = next;
}
