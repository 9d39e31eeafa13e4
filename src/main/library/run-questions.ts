/** What a program asks about runs, checked before it leaves: no store can answer for half a run, or for one that has no id. */
import { MAX_LIMIT } from '../../actors/control/index.ts';
import { ColibriError, describeValue } from '../../actors/kernel/index.ts';
import type { RunFilter } from '../../actors/protocol.ts';
import { RunState } from '../../actors/runs/run-states.ts';
import type { AnyTask } from './task-handle.ts';

export interface RunsFilter {
  readonly task?: AnyTask | string | undefined;
  readonly state?: RunState | undefined;
  /** From 1 to 1000. Default 100. */
  readonly limit?: number | undefined;
}

const STATES: readonly unknown[] = Object.values(RunState);

/** Throws `usage`. */
export function runFilter({ task, state, limit = 100 }: RunsFilter): RunFilter {
  const name = typeof task === 'object' ? task?.name : task;
  if (task !== undefined && typeof name !== 'string') {
    throw usage(`runs: expected task to be a handle or a name, got ${describeValue(task)}`);
  }
  if (state !== undefined && !STATES.includes(state)) {
    throw usage(`runs: expected state to be one of ${STATES.join(', ')}, got ${describeValue(state)}`);
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    const got = describeValue(limit);
    throw usage(`runs: expected limit to be a whole number from 1 to ${MAX_LIMIT}, got ${got}`);
  }
  return { task: name ?? null, state: state ?? null, limit };
}

/** Throws `usage`. */
export function runId(run: string): string {
  if (typeof run === 'string') return run;
  throw usage(`expected the id of a run, which is a text, got ${describeValue(run)}`);
}

function usage(message: string): ColibriError {
  return new ColibriError('usage', message);
}
