/**
 * The JSON that the control socket answers with and that the commands print with `--json`: keys in snake_case,
 * times as ISO text, lengths of time in milliseconds, input and result as the JSON they are. Scripts rely on
 * these shapes: fields are added, never renamed.
 */

import type { ErrorData } from '../kernel/index.ts';
import type { AuditEntry } from '../records.ts';
import { allAttempts, startOf } from '../views/all-attempts.ts';
import type { DeadLetterView, RunView } from '../views/run-view.ts';
import type { RuntimeView, StoreView, TaskView, TaskWindow } from '../views/runtime-view.ts';

export interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  readonly cause?: ErrorDocument;
}

export interface RunDocument {
  readonly run: string;
  readonly task: string;
  readonly state: string;
  readonly attempt: number;
  readonly origin: string;
  /** The run of the flow that it is a step of. */
  readonly flow: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly due_at: string | null;
  readonly input: unknown;
  readonly result: unknown;
  /** It had a result, which is not kept any more: that stands as null then. */
  readonly result_forgotten: boolean;
  readonly error: ErrorDocument | null;
  readonly progress: { readonly fraction: number; readonly note: string | null } | null;
  readonly attempts: readonly {
    readonly attempt: number;
    readonly state: string;
    readonly started_at: string;
    readonly ended_at: string | null;
    readonly duration_ms: number | null;
    readonly error: ErrorDocument | null;
  }[];
}

/** What `show` prints. */
export interface ShownRunDocument extends RunDocument {
  /** Of the run of a flow: the one that it is one again of; null: it is none. */
  readonly again_of: string | null;
  /** How the step is whose run it is, which may be otherwise than its run; null: it is of none, or that is not known. */
  readonly step: {
    readonly name: string;
    readonly state: string;
    readonly reason: string | null;
    readonly detail: string | null;
  } | null;
  /** What users have done with it, oldest first, as far as the audit trail reaches. */
  readonly commands: readonly AuditDocument[];
}

export interface AuditDocument {
  readonly at: string;
  readonly user: string;
  readonly action: string;
  readonly target: string | null;
  /** `accepted` or `refused`; null: the daemon did it by itself. */
  readonly answer: string | null;
  /** Of the error that refused it. */
  readonly code: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface TaskDocument {
  readonly name: string;
  readonly kind: string;
  readonly handler: string;
  readonly group: string | null;
  readonly schedule: string | null;
  /** Null: nothing bounds the schedule. */
  readonly window: {
    readonly start_at: string | null;
    readonly stop_at: string | null;
    readonly excluded: number;
    readonly splay_seconds: number;
  } | null;
  readonly next_at: string | null;
  readonly active: number;
  readonly queued: number;
  readonly last_state: string | null;
  readonly last_ended_at: string | null;
}

export interface DeadLetterDocument {
  readonly run: string;
  readonly task: string;
  readonly died_at: string;
  readonly attempts: number;
  readonly input: unknown;
  readonly error: ErrorDocument | null;
}

export interface StatusDocument {
  readonly version: string;
  readonly pid: number;
  readonly config_version: string | null;
  readonly config_file: string | null;
  readonly started_at: string;
  readonly uptime_seconds: number;
  readonly ready_ms: number | null;
  readonly stopping: boolean;
  /** Of the config; flows are none of them. */
  readonly tasks: number;
  readonly flows: number;
  readonly live_runs: number;
  readonly dead_letters: number;
  readonly late_outcomes: number;
  readonly queues: readonly {
    readonly name: string;
    readonly depth: number;
    readonly capacity: number;
    readonly rejected: number;
  }[];
  readonly pools: readonly {
    readonly name: string;
    readonly slots: number;
    readonly active: number;
    readonly threads: number;
    readonly busy_ratio: number;
  }[];
  /** Bounds on runs at one time: of `all`, of a `group`, a `task`, or a `key` of a task, and the ready runs each holds back. */
  readonly bounds: readonly {
    readonly kind: string;
    readonly name: string;
    readonly concurrency: number | null;
    readonly rated: boolean;
    readonly active: number;
    readonly held: number;
  }[];
  /** Queues that tell their sources to wait while they are nearly full. */
  readonly pressures: readonly { readonly queue: string; readonly high: boolean; readonly times: number }[];
  /** Bytes; `steps`: what the memory governor did. */
  readonly memory: RuntimeView['memory'];
  readonly store: StoreView;
  readonly loop_delay_seconds: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly thread_restarts: Readonly<Record<string, number>>;
  readonly undeliverable: Readonly<Record<string, number>>;
  readonly last_undeliverable: readonly {
    readonly at: string;
    readonly reason: string;
    readonly kind: string;
    readonly from: string;
    readonly to: string;
  }[];
}

export function runDocument(view: RunView): RunDocument {
  return {
    run: view.run,
    task: view.task,
    state: view.state,
    attempt: view.attempt,
    origin: view.origin,
    flow: view.flow,
    created_at: iso(view.createdAtMs),
    started_at: isoOrNull(startOf(view)),
    ended_at: isoOrNull(view.endedAtMs),
    duration_ms: view.durationMs,
    due_at: view.endedAtMs === null ? isoOrNull(view.dueAtMs) : null,
    input: fromJsonText(view.input),
    result: view.result === null ? null : fromJsonText(view.result),
    result_forgotten: view.forgotten === true,
    error: errorDocument(view.error),
    progress: view.progress,
    attempts: allAttempts(view).map(({ attempt, state, startedAtMs, endedAtMs, error }) => ({
      attempt,
      state,
      started_at: iso(startedAtMs),
      ended_at: isoOrNull(endedAtMs),
      duration_ms: endedAtMs === null ? null : toMicroseconds(endedAtMs - startedAtMs),
      error: errorDocument(error),
    })),
  };
}

export function taskDocument(view: TaskView): TaskDocument {
  return {
    name: view.name,
    kind: view.kind,
    handler: view.handler,
    group: view.group,
    schedule: view.schedule,
    window: windowDocument(view.window),
    next_at: isoOrNull(view.nextAtMs),
    active: view.active,
    queued: view.queued,
    last_state: view.lastState,
    last_ended_at: isoOrNull(view.lastEndedAtMs),
  };
}

function windowDocument(window: TaskWindow | null): TaskDocument['window'] {
  if (window === null) return null;
  return {
    start_at: isoOrNull(window.startAtMs),
    stop_at: isoOrNull(window.stopAtMs),
    excluded: window.excluded,
    splay_seconds: window.splayMs / 1000,
  };
}

export function deadLetterDocument(view: DeadLetterView): DeadLetterDocument {
  return {
    run: view.run,
    task: view.task,
    died_at: iso(view.diedAtMs),
    attempts: view.attempts,
    input: fromJsonText(view.input),
    error: errorDocument(view.error),
  };
}

export function auditDocument({ atMs, actor, action, target, fields }: AuditEntry): AuditDocument {
  const { answer, code, ...details } = fields;
  return { at: iso(atMs), user: actor, action, target, answer: textOf(answer), code: textOf(code), details };
}

export function statusDocument(view: RuntimeView, nowMs: number): StatusDocument {
  const flows = view.tasks.filter(({ kind }) => kind === 'flow').length;
  return {
    version: view.version,
    pid: view.pid,
    config_version: view.configVersion,
    config_file: view.configFile,
    started_at: iso(view.startedAtMs),
    uptime_seconds: Math.max(0, Math.round((nowMs - view.startedAtMs) / 1000)),
    ready_ms: view.readyMs,
    stopping: view.stopping,
    tasks: view.tasks.length - flows,
    flows,
    live_runs: view.liveRuns,
    dead_letters: view.queues.find((queue) => queue.name === 'dead-letter')?.depth ?? 0,
    late_outcomes: view.lateOutcomes,
    queues: view.queues.map(({ name, depth, capacity, rejected }) => ({ name, depth, capacity, rejected })),
    pools: view.pools.map(({ name, slots, active, threads, busyRatio }) => ({
      name,
      slots,
      active,
      threads,
      busy_ratio: busyRatio,
    })),
    bounds: view.bounds,
    pressures: view.pressures.map(({ queue, isHigh, rises }) => ({ queue, high: isHigh, times: rises })),
    memory: view.memory,
    store: view.store,
    loop_delay_seconds: view.loopDelay,
    thread_restarts: view.threadRestarts,
    undeliverable: view.undeliverable,
    last_undeliverable: view.lastUndeliverable.map(({ atMs, ...message }) => ({ at: iso(atMs), ...message })),
  };
}

/** Without stacks: they are in the log. */
export function errorDocument(error: ErrorData): ErrorDocument;
export function errorDocument(error: ErrorData | null): ErrorDocument | null;
export function errorDocument(error: ErrorData | null): ErrorDocument | null {
  if (error === null) return null;
  const { code, message, cause } = error;
  return cause === undefined ? { code, message } : { code, message, cause: errorDocument(cause) };
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** A wall time as documents have it. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : iso(atMs);
}

/** Three decimals: a difference of times has more, which say nothing. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A text that is no JSON (cut to a bound by the store, say) is shown as the text it is. */
function fromJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
