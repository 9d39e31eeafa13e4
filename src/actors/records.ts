/**
 * What is kept of runs: the transitions that their owner tells the store, in batches, and what the store gives back of it to a
 * daemon that begins: runs that are not over, steps, dead letters, the last end of each task. And what users did.
 */
import type { ErrorData } from './kernel/errors.ts';
import type { RunState } from './runs/run-states.ts';

/** How a run came to be. */
export const RunOrigin = {
  Schedule: 'schedule',
  Manual: 'manual',
  Start: 'start',
  Each: 'each',
  Replay: 'replay',
  /** A step of a flow. */
  Flow: 'flow',
} as const;
export type RunOrigin = (typeof RunOrigin)[keyof typeof RunOrigin];

/**
 * One transition of a run, as the store keeps it. `origin`, `createdAtMs` and `input` come with the first
 * event of a run only; `result`, `error`, `durationMs` with the end of an attempt.
 */
export interface RunEvent {
  readonly run: string;
  readonly task: string;
  readonly state: RunState;
  readonly attempt: number;
  readonly atMs: number;
  readonly origin?: RunOrigin;
  readonly createdAtMs?: number;
  /** What its handler gets, JSON text; left out for `{}`. */
  readonly input?: string;
  /** With the first event of a scheduled run: the instant of the schedule that it stands for. */
  readonly occurrenceMs?: number;
  /** Fingerprint of the file of an `each` run; a terminal event marks the file as dealt with. */
  readonly mark?: string;
  /** That file, relative to the folder that was looked through; with the end of an attempt. */
  readonly file?: string;
  /** When a retrying run is due; with the first event: when the run was meant to start, where that is not its creation. */
  readonly dueAtMs?: number;
  /** With the end of a failed run: it is kept as a dead letter. */
  readonly dead?: true;
  /** With the end of a run that is skipped: a user had asked for it, and was told that it is accepted. */
  readonly asked?: true;
  /** How late the run started after it was due, with `running`. */
  readonly lagMs?: number;
  readonly durationMs?: number;
  readonly result?: string | null;
  readonly error?: ErrorData | null;
  /** The end of a scan that found nothing new: counted, but neither kept nor logged. */
  readonly quiet?: boolean;
  /** With the first event of a run that is a step of a flow, and its end: the run of that flow. It is kept as long as that one lives. */
  readonly flow?: string;
  /** Of the run of a flow: what it keeps of itself, JSON text, in place of what it kept before. */
  readonly note?: string;
  /** With the first event of the run of a flow: runs of steps of an earlier one that it takes over, and which are kept for it. */
  readonly adopts?: readonly string[];
}

/**
 * Transitions in order. Each has an ordinal, counted from 1 through the life of a daemon: the batch holds those from
 * `first` on. What was kept already is told by it, and so is a gap.
 */
export interface RecordBatch {
  readonly first: number;
  readonly events: readonly RunEvent[];
  /** Runs that are no dead letters any more; applied after the events. */
  readonly dropped: readonly string[];
}

export interface AttemptView {
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly state: RunState;
  readonly error: ErrorData | null;
}

/** Attempts kept of one run; of more, the oldest are forgotten. */
export const MAX_ATTEMPTS_KEPT = 20;

/** A run that is not over, as a daemon of before left it. Times are wall times in ms. */
export interface StoredRun {
  readonly run: string;
  readonly task: string;
  readonly state: RunState;
  readonly attempt: number;
  readonly interruptions: number;
  readonly origin: RunOrigin;
  readonly createdAtMs: number;
  /** When a retrying run is due; of another, when it was meant to start. */
  readonly dueAtMs: number;
  /** Of the attempt that was on a slot; null: of none. */
  readonly startedAtMs: number | null;
  /** What its handler gets, JSON text. */
  readonly input: string;
  readonly mark: string | null;
  readonly error: ErrorData | null;
  readonly attempts: readonly AttemptView[];
  readonly flow: string | null;
  readonly note: string | null;
}

/** The run of a step as the store has it: all that its flow wants to know. */
export interface StoredStep {
  readonly run: string;
  readonly flow: string;
  readonly state: RunState;
  /** Of its first attempt. */
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly error: ErrorData | null;
}

export interface StoredLetter {
  readonly run: string;
  readonly task: string;
  readonly dueAtMs: number;
  readonly diedAtMs: number;
  readonly attempts: number;
  readonly input: string;
  readonly mark: string | null;
  readonly error: ErrorData | null;
}

/** How a task ended last. */
export interface LastEnd {
  readonly task: string;
  readonly state: RunState;
  readonly endedAtMs: number;
  /** Null: never, as far as is known. */
  readonly succeededAtMs: number | null;
}

/** What a user did, and what came of it. */
export interface AuditEntry {
  readonly atMs: number;
  /** As the command line says of its user: `name (uid)`; `daemon` for what the daemon did itself. */
  readonly actor: string;
  /** `trigger`, `cancel`, `flow rerun`, `dead replay`, `dead purge`, `dead resolve`, `reload`, `backup`, `start`, `stop`. */
  readonly action: string;
  /** Task or run; null: neither. */
  readonly target: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}
