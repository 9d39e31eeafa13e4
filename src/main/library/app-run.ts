/** Runs as a program sees them: data in place of JSON text. */

import { ColibriError, type ErrorData, fromErrorData, withoutStack } from '../../actors/kernel/index.ts';
import type { RunEvent } from '../../actors/records.ts';
import type { RunState } from '../../actors/runs/run-states.ts';
import { allAttempts, startOf } from '../../actors/views/all-attempts.ts';
import type { RunView } from '../../actors/views/run-view.ts';
import type { AsJson } from './as-json.ts';
import { inputOf } from './step-input.ts';

/** Times are wall times in ms. */
export interface AppRun<Result = unknown>
  extends Omit<RunView, 'run' | 'input' | 'result' | 'forgotten' | 'note'> {
  readonly id: string;
  /** What the handler got. */
  readonly input: unknown;
  /** Null while there is none; undefined: there was one, and it is forgotten. */
  readonly result: Result | null | undefined;
}

export interface SucceededRun<Output> extends AppRun<AsJson<Output>> {
  readonly state: 'success';
  readonly result: AsJson<Output>;
}

/** A run that is over. */
export interface EndedRun {
  readonly id: string;
  readonly task: string;
  readonly state: RunState;
  readonly attempt: number;
  readonly endedAtMs: number;
  /** Of its last attempt; null: it had none. */
  readonly durationMs: number | null;
  readonly result: unknown;
  readonly error: ErrorData | null;
}

/**
 * A run that was waited for and did not succeed. Its code is that of the run's error; its `cause` has the name, the message
 * and the stack of what the handler threw, as far as it has any; of a flow it is the error of the step that failed.
 */
export class RunFailed extends ColibriError {
  readonly run: AppRun;

  constructor(run: AppRun) {
    const { id, state, error } = run;
    const why = error === null ? '' : `: ${error.message}`;
    const cause = error?.code === 'flow-failed' ? error.cause : error;
    const options = cause == null ? {} : { cause: fromErrorData(withName(cause)) };
    super(error?.code ?? 'internal', `expected run ${id} to succeed, got ${state}${why}`, options);
    this.name = 'RunFailed';
    this.run = { ...run, error: withoutStack(error) };
  }
}

/** What was thrown by the name of every error has it left out, and is none of the runtime's. */
function withName({ cause, ...data }: ErrorData): ErrorData {
  const named = data.code === 'handler-failed' ? { name: 'Error', ...data } : data;
  return cause === undefined ? named : { ...named, cause: withName(cause) };
}

export function appRun(view: RunView): AppRun {
  const { run: id, input, result, forgotten, note: _, ...rest } = view;
  return {
    id,
    ...rest,
    startedAtMs: startOf(view),
    attempts: allAttempts(view),
    input: inputOf(JSON.parse(input)),
    result: forgotten === true ? undefined : parsed(result),
  };
}

export function endedRun({ run: id, task, state, attempt, atMs, ...event }: RunEvent): EndedRun {
  const { durationMs = null, result = null, error = null } = event;
  return { id, task, state, attempt, endedAtMs: atMs, durationMs, result: parsed(result), error };
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
