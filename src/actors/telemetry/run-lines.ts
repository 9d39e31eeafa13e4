/** Which log line an event of a run makes. One table; `docs/metrics.md` shows it. */
import { cutText, type ErrorData } from '../kernel/errors.ts';
import type { LogRecord } from '../protocol.ts';
import type { RunEvent } from '../records.ts';
import type { RunState } from '../runs/run-states.ts';

export interface RunLine {
  readonly level: LogRecord['level'];
  readonly msg: string;
  /** Said of many at once when lines are summed up; each has a budget of its own. */
  readonly summary: string;
}

export const RUN_LINES: Readonly<Partial<Record<RunState, RunLine>>> = {
  running: { level: 'debug', msg: 'run started', summary: 'runs started' },
  success: { level: 'info', msg: 'run succeeded', summary: 'runs succeeded' },
  skipped: { level: 'info', msg: 'run skipped', summary: 'runs skipped' },
  cancelled: { level: 'warn', msg: 'run cancelled', summary: 'runs cancelled' },
  retrying: { level: 'warn', msg: 'run will be retried', summary: 'runs will be retried' },
  interrupted: { level: 'warn', msg: 'run interrupted', summary: 'runs interrupted' },
  orphaned: {
    level: 'warn',
    msg: 'run kept: its task is gone',
    summary: 'runs kept: their task is gone',
  },
  failed: { level: 'error', msg: 'run failed', summary: 'runs failed' },
};

/** A user was told that this run is accepted. */
const ASKED_AND_SKIPPED: RunLine = {
  level: 'warn',
  msg: 'run skipped',
  summary: 'runs skipped that were asked for',
};

/** Undefined: none. */
export function runLine({ state, asked }: RunEvent): RunLine | undefined {
  return state === 'skipped' && asked === true ? ASKED_AND_SKIPPED : RUN_LINES[state];
}

const STACK_LIMIT = 2000;

export function runFields(event: RunEvent): Record<string, unknown> {
  const fields: Record<string, unknown> = { task: event.task, run: event.run, attempt: event.attempt };
  if (event.state === 'running') {
    if (event.lagMs !== undefined) fields.lag_ms = rounded(event.lagMs);
    return fields;
  }
  if (event.file !== undefined) fields.file = event.file;
  fields.result = event.state;
  if (event.durationMs !== undefined) fields.duration_ms = rounded(event.durationMs);
  if (event.state === 'retrying' && event.dueAtMs !== undefined) {
    fields.due = new Date(event.dueAtMs).toISOString();
  }
  if (event.error !== undefined && event.error !== null) {
    fields.error = errorFields(event.error, event.state === 'failed');
  }
  return fields;
}

/** The stack of a handler's own error is for its author; of ours the code says all. */
function errorFields(error: ErrorData, withStack: boolean): Record<string, unknown> {
  const fields: Record<string, unknown> = { code: error.code, message: error.message };
  if (error.cause !== undefined) fields.cause = { code: error.cause.code, message: error.cause.message };
  if (withStack && error.code === 'handler-failed' && error.stack !== undefined) {
    fields.stack = cutText(error.stack, STACK_LIMIT);
  }
  return fields;
}

/** Microseconds are enough for a person, and shorter. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
