export { type BackoffPolicy, backoffMs } from './backoff.ts';
export { occurrenceId } from './occurrence.ts';
export { layInput, SCAN_HANDLER } from './order.ts';
export { decideOverlap, OverlapPolicy, WhenFull } from './policies.ts';
export { isTerminal, RUN_STATES, RUN_TRANSITIONS, RunState, transition } from './run-states.ts';
export { PAYLOAD_LIMIT, Runs, type RunsOptions } from './runs.ts';
export { runsActor } from './runs-actor.ts';
export { INTERRUPTION_BUDGET } from './settlement.ts';
export type { RunsTask } from './task-state.ts';
