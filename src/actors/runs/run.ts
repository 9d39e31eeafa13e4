/** One live run: what the owner of all runs keeps of it until the store has its end. */

import type { TimerHandle } from '../delay/index.ts';
import type { PoolName } from '../execution.ts';
import type { ErrorData } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import { type AttemptView, MAX_ATTEMPTS_KEPT, type RunEvent, type RunOrigin } from '../records.ts';
import type { RunView } from '../views/run-view.ts';
import type { Linked, LinkedList } from './linked-list.ts';
import { layInput } from './order-input.ts';
import type { RunState } from './run-states.ts';
import type { StepLimits, TaskState } from './task-state.ts';

/** Kept small: up to a ready queue full of these stands in memory, see `RUN_BYTES`. */
export class Run implements Linked<Run> {
  readonly id: string;
  readonly task: TaskState;
  readonly origin: RunOrigin;
  readonly createdAtMs: number;
  /** When it was meant to start: its occurrence, or its creation. Of a flow again, that of the first one. */
  readonly dueAtMs: number;
  /** JSON text laid over the task's `with`; null: nothing. */
  readonly input: string | null;
  /** Fingerprint of the file of an `each` run. */
  readonly mark: string | null;
  /** One of the late occurrences that are all to run, or what a daemon of before left of a schedule. */
  readonly catchUp: boolean;
  /** The run of the flow that it is a step of; null: of none. */
  readonly flow: string | null;
  /** In place of those of its task; null: the task's. */
  readonly limits: StepLimits | null;
  /** Of the run of a flow: what it keeps of itself, JSON text. */
  note: string | null;
  /** Runs of steps that the run of a flow takes over. */
  readonly adopts: readonly string[] | null;

  state: RunState = 'pending';
  /** Of its last transition in the journal; 0: of none. */
  ordinal = 0;
  /** When it became ready; of each run another instant, so that it is its place among all too. */
  readyMono = Number.NaN;
  /** Attempts begun. */
  attempt = 0;
  /** What it counts for; kept by `LiveBytes`. */
  bytes = 0;
  /** What has become of it; null until something has. */
  past: RunPast | null = null;

  /** The list it stands in, and its neighbours there. */
  list: LinkedList<Run> | null = null;
  next: Run | null = null;
  previous: Run | null = null;
  /** Its transition that the journal has not sent yet; later ones are merged into it. */
  unsent: UnsentEvent | null = null;
  /** Who waits for its end. */
  waiters: Answer[] | null = null;
  /** Who waits for its being accepted: a trigger that a full queue holds back. */
  admission: Answer | null = null;

  constructor(fields: RunFields) {
    this.id = fields.id;
    this.task = fields.task;
    this.origin = fields.origin;
    this.createdAtMs = fields.createdAtMs;
    this.dueAtMs = fields.dueAtMs;
    this.input = fields.input;
    this.mark = fields.mark;
    this.catchUp = fields.catchUp ?? false;
    this.flow = fields.flow ?? null;
    this.limits = fields.limits ?? null;
    this.note = fields.note ?? null;
    this.adopts = fields.adopts ?? null;
  }

  /** Whether the journal is told of it before its end: a scan comes again with its schedule, unless a user asked for it. */
  get noted(): boolean {
    return !this.scan || this.origin === 'manual';
  }

  /** True for the run that looks for files and makes the runs of an `each` task: it has no input of its own. */
  get scan(): boolean {
    return this.task.spec.scanJson !== null && this.input === null && this.mark === null;
  }

  /** The same, made if need be: for whoever writes. */
  get ownPast(): RunPast {
    this.past ??= new RunPast();
    return this.past;
  }

  /** Where it runs. */
  get pool(): PoolName {
    return this.scan ? 'scan' : this.task.spec.pool;
  }

  /**
   * Whether overlap is judged by it: runs of single files, and their replays, run beside each other by nature; of a step it was
   * judged when its flow began.
   */
  get overlaps(): boolean {
    return this.mark === null && this.flow === null;
  }

  /** Timeout and retries: of the step, or of its task. */
  get effectiveLimits(): StepLimits {
    return this.limits ?? this.task.spec;
  }

  /** Of the step, or of its task. */
  get priority(): number {
    return this.limits?.priority ?? this.task.spec.priority;
  }

  /** What its handler gets, JSON text. */
  get effectiveInput(): string {
    return this.scan ? (this.task.spec.scanJson ?? '{}') : layInput(this.task.spec.withJson, this.input);
  }

  /** The file of an `each` run as a person names it; null for other runs. */
  get file(): string | null {
    if (this.mark === null || this.input === null) return null;
    const { relative } = JSON.parse(this.input) as { readonly relative?: unknown };
    return typeof relative === 'string' ? relative : null;
  }

  /** Keeps what became of the attempt that has just ended. Only failed ones are worth their memory. */
  rememberAttempt(state: RunState, endedAtMs: number): void {
    const { attempts, startedAtMs, error } = this.ownPast;
    if (attempts.length === MAX_ATTEMPTS_KEPT) attempts.shift();
    attempts.push({
      attempt: this.attempt,
      startedAtMs: startedAtMs ?? endedAtMs,
      endedAtMs,
      state,
      error,
    });
  }

  view(): RunView {
    const past = this.past ?? NOTHING_YET;
    return {
      run: this.id,
      task: this.task.spec.name,
      state: this.state,
      attempt: this.attempt,
      origin: this.origin,
      createdAtMs: this.createdAtMs,
      startedAtMs: past.startedAtMs,
      endedAtMs: past.endedAtMs,
      durationMs: past.durationMs,
      dueAtMs: past.retryAtMs ?? this.dueAtMs,
      input: this.effectiveInput,
      result: past.result,
      error: past.error,
      progress: past.progress,
      attempts: past.attempts,
      flow: this.flow,
      note: this.note,
    };
  }
}

/** What only a run has that a slot took, or that is over: most of those that stand in a full queue have not. */
export class RunPast {
  interruptions = 0;
  /** Of these, by the doing of another run. */
  excused = 0;
  startedAtMs: number | null = null;
  endedAtMs: number | null = null;
  durationMs: number | null = null;
  retryAtMs: number | null = null;
  retryTimer: TimerHandle | null = null;
  result: string | null = null;
  error: ErrorData | null = null;
  progress: RunView['progress'] = null;
  /** True while it is asked to end to make room for a newer one or by a user. */
  cancelling = false;
  readonly attempts: AttemptView[] = [];
}

const NOTHING_YET: Readonly<RunPast> = new RunPast();

/** A transition on its way to the journal, and what it counts for there. */
export interface UnsentEvent {
  readonly run: Run;
  readonly event: Writable<RunEvent>;
  bytes: number;
}

export interface RunFields {
  readonly id: string;
  readonly task: TaskState;
  readonly origin: RunOrigin;
  readonly createdAtMs: number;
  readonly dueAtMs: number;
  readonly input: string | null;
  readonly mark: string | null;
  /** Default false. */
  readonly catchUp?: boolean;
  readonly flow?: string | null;
  readonly limits?: StepLimits | null;
  readonly note?: string | null;
  readonly adopts?: readonly string[] | null;
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] };
