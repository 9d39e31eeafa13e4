/**
 * All messages between actors, in one place: one `Messages` type an actor. Where an actor lives is not said
 * here but in the placement table; data goes one way: scheduler → runs → pools → runs → store → telemetry.
 */
import type { AbortReason, ExecuteOrder, Outcome, PoolName } from './execution.ts';
import type { ErrorData } from './kernel/errors.ts';
import type { MailboxPolicy } from './kernel/index.ts';
import type { Expectation } from './results/expectation.ts';
import type { BoundKind } from './runs/bounds.ts';
import type { RunState } from './runs/run-states.ts';

export const ActorName = {
  Runs: 'runs',
  Store: 'store',
  Telemetry: 'telemetry',
  Control: 'control',
  Io: 'io',
  Guest: 'guest',
} as const;
export type ActorName = (typeof ActorName)[keyof typeof ActorName];

export const ThreadName = { Main: 'main', Service: 'service', Guest: 'guest' } as const;
export type ThreadName = (typeof ThreadName)[keyof typeof ThreadName];

/** Actor → thread. Changing a row moves the actor; no code changes. */
export type Placement = Readonly<Record<string, ThreadName>>;

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Bounds of the mailboxes. Those of `io` and `guest` hold three messages a slot and `IO_MAILBOX_BYTES`. A thread lets
 * another send it 4 MiB before they are handled: `runs` has room for two such threads, the others for one and for what
 * comes from their own.
 */
export const MAILBOXES = {
  runs: { capacity: 65_536, capacityBytes: 8 * MIB, whenFull: 'block' },
  store: { capacity: 8192, capacityBytes: 8 * MIB, whenFull: 'block' },
  // The counters see every event. Losing a line is better than holding up the runs: lines, of which the mailbox
  // holds 1024 and 4 MiB at most, are given up first, and counted.
  telemetry: { capacity: 2048, capacityBytes: 8 * MIB, whenFull: 'block', highWater: 0.5, lowWater: 0.2 },
  control: { capacity: 16, capacityBytes: 64 * KIB, whenFull: 'reject' },
} as const satisfies Readonly<Record<string, MailboxPolicy>>;

export const IO_MAILBOX_BYTES = 8 * MIB;

/** Log lines that wait for their device, and one buffer kept for the next ones. */
export const LOG_BUFFERS = { chunkBytes: 64 * KIB, chunks: 16, spare: 1 } as const;

/** What the memory governor can do, the mildest first. */
export const MEMORY_STEPS = ['release', 'collect', 'shrink', 'grow'] as const;
export type MemoryStep = (typeof MEMORY_STEPS)[number];

/** What clocks do: the wall clock is set, the machine sleeps, the process gets no time. */
export const CLOCK_JUMPS = ['forward', 'backward', 'suspend', 'stall'] as const;
export type ClockJump = (typeof CLOCK_JUMPS)[number];

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

/** A run as `runs` and `show` print it. Times are wall times in ms. */
export interface RunView {
  readonly run: string;
  readonly task: string;
  readonly state: RunState;
  readonly attempt: number;
  readonly origin: RunOrigin;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationMs: number | null;
  /** When it is, or was, meant to start, or its last retry; null: at its creation. */
  readonly dueAtMs: number | null;
  readonly input: string;
  readonly result: string | null;
  readonly error: ErrorData | null;
  readonly progress: { readonly fraction: number; readonly note: string | null } | null;
  /** The last attempts, oldest first, at most `MAX_ATTEMPTS_KEPT`. */
  readonly attempts: readonly AttemptView[];
  /** The run of the flow that it is a step of; null: of none. */
  readonly flow: string | null;
  /** Of the run of a flow: what it keeps of itself, JSON text. */
  readonly note: string | null;
}

/** Attempts kept of one run; of more, the oldest are forgotten. */
export const MAX_ATTEMPTS_KEPT = 20;

export interface AttemptView {
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly state: RunState;
  readonly error: ErrorData | null;
}

export interface RunFilter {
  readonly task: string | null;
  readonly state: RunState | null;
  readonly limit: number;
}

export interface DeadLetterView {
  readonly run: string;
  readonly task: string;
  readonly diedAtMs: number;
  readonly attempts: number;
  readonly input: string;
  readonly error: ErrorData | null;
}

/** Which dead letters a command means: those that fit all that is given. */
export interface DeadLetterChoice {
  readonly runs: readonly string[] | null;
  readonly task: string | null;
  /** Died at this instant or later. */
  readonly sinceMs: number | null;
  /** Died before this instant. */
  readonly untilMs: number | null;
}

export interface DeadLetterFilter {
  readonly task: string | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly limit: number;
}

/** What bounds the schedule of a task, and how far it starts behind it. */
export interface TaskWindow {
  readonly startAtMs: number | null;
  readonly stopAtMs: number | null;
  /** Dates and ranges of dates on which it does not run. */
  readonly excluded: number;
  readonly splayMs: number;
}

/** Of a flow its runs are made and counted as those of a task are. */
export type TaskKind = 'cpu' | 'io' | 'flow';

export interface TaskView {
  readonly name: string;
  readonly kind: TaskKind;
  /** Empty for a flow. */
  readonly handler: string;
  /** Whose bounds it shares; null: of none. */
  readonly group: string | null;
  /** As a person wrote it: `*\/5 * * * * *`, `every 5s`, `at 2026-…`, or null. */
  readonly schedule: string | null;
  /** Null: nothing bounds it. */
  readonly window: TaskWindow | null;
  readonly nextAtMs: number | null;
  /** Occurrences left out by the misfire policy since the start; null: the task has no schedule. */
  readonly missed: number | null;
  readonly active: number;
  readonly queued: number;
  readonly lastState: RunState | null;
  readonly lastEndedAtMs: number | null;
}

export interface QueueView {
  readonly name: 'ready' | 'delayed' | 'retry' | 'dead-letter';
  readonly depth: number;
  readonly capacity: number;
  readonly rejected: number;
}

/** Queues that tell their sources to wait: scans of the ready and the retry queue, the pools of the journal. */
export const PRESSED_QUEUES = ['ready', 'retry', 'journal'] as const;
export type PressedQueue = (typeof PRESSED_QUEUES)[number];

export interface PressureView {
  readonly queue: PressedQueue;
  /** Its sources wait. */
  readonly isHigh: boolean;
  /** How often they had to. */
  readonly rises: number;
}

/** A bound of the config on runs at one time. */
export interface BoundView {
  readonly kind: BoundKind;
  /** Of the group or the task; empty for the bound of all runs. */
  readonly name: string;
  /** Runs at once; of a key, those of each. Null: it has a rate alone. */
  readonly concurrency: number | null;
  /** Whether it has a rate. */
  readonly rated: boolean;
  /** Runs on slots that it counts. */
  readonly active: number;
  /** Ready runs that it holds back, and no bound around it does. */
  readonly held: number;
}

export interface PoolView {
  readonly name: PoolName;
  readonly slots: number;
  readonly active: number;
  readonly threads: number;
  /** Share of slot time in use over the last interval, 0 to 1. */
  readonly busyRatio: number;
}

/** Everything that main knows and others show: asked for when it is looked at, never pushed. */
/** Of one flow of the config. */
export interface FlowCountsView {
  readonly name: string;
  /** Runs of it that have begun and are not over. */
  readonly live: number;
  /** Steps that this daemon saw end. */
  readonly steps: Readonly<Record<'success' | 'failed' | 'skipped' | 'cancelled', number>>;
}

export interface RuntimeView {
  readonly pid: number;
  readonly version: string;
  readonly configVersion: string | null;
  readonly configFile: string | null;
  readonly startedAtMs: number;
  readonly readyMs: number | null;
  readonly stopping: boolean;
  readonly queues: readonly QueueView[];
  readonly pools: readonly PoolView[];
  readonly bounds: readonly BoundView[];
  readonly pressures: readonly PressureView[];
  readonly tasks: readonly TaskView[];
  readonly liveRuns: number;
  readonly flows: readonly FlowCountsView[];
  /** Bytes, beside the runs of their steps. */
  readonly liveFlowsBytes: number;
  readonly threadRestarts: Readonly<Record<string, number>>;
  /** How often clocks jumped since the start. */
  readonly clockJumps: Readonly<Record<ClockJump, number>>;
  /** Event-loop delay of main since the last look, seconds. */
  readonly loopDelay: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly undeliverable: Readonly<Record<string, number>>;
  /** The last few of them, oldest first. */
  readonly lastUndeliverable: readonly {
    readonly atMs: number;
    readonly reason: string;
    readonly kind: string;
    readonly from: string;
    readonly to: string;
  }[];
  /** Bytes; `steps`: what the memory governor did, by step. */
  readonly memory: {
    readonly rss: number;
    readonly anon: number;
    readonly file: number;
    readonly budget: number;
    readonly steps: Readonly<Record<MemoryStep, number>>;
  };
  /** Late outcomes of runs that had been given up. */
  readonly lateOutcomes: number;
  /** Whether the last reload was carried out; true where there was none. */
  readonly configReloadOk: boolean;
  readonly store: StoreView;
}

/** How main stands with its store. */
export interface StoreView {
  readonly kind: 'memory' | 'sqlite';
  /** False: nothing can be accepted for keeping just now. */
  readonly writable: boolean;
  /** Transitions that it has not acknowledged. */
  readonly unrecorded: number;
  /** Why it is not writable. */
  readonly reason: string | null;
}

/** One holder of memory: what it may hold at most, beside what it holds. */
export interface LedgerRow {
  readonly name: string;
  /** The row that this one is a part of; null: of the whole process. */
  readonly within: string | null;
  /** Null: no bound of its own. */
  readonly boundBytes: number | null;
  /** Null: not known. */
  readonly measuredBytes: number | null;
  /** In a sentence. */
  readonly how: string;
}

/** The memory of the process, row by row, and the sizes that follow from rates and times. */
export interface SizeView {
  readonly budgetBytes: number;
  /** Null: computed from the config alone, without a daemon. */
  readonly rssBytes: number | null;
  readonly rows: readonly LedgerRow[];
  /** Of the bounds; parts of a row that has a bound are not counted again. */
  readonly boundsBytes: number;
  /** Names of rows that neither have a bound nor are part of one that has. */
  readonly unbounded: readonly string[];
  /** Null: no governor, or no daemon. */
  readonly steps: Readonly<Record<MemoryStep, number>> | null;
  readonly ready: {
    readonly capacity: number;
    readonly rates: { readonly backlogPerSecond: number; readonly tolerateSeconds: number } | null;
    /** Of a run with an input of `TYPICAL_INPUT_BYTES`. */
    readonly runBytes: number;
    readonly maxBytes: number;
  };
  readonly io: {
    readonly sizing: 'fixed' | 'ratio' | 'measured';
    readonly slots: number;
    readonly cores: number;
    readonly waitMs: number;
    readonly computeMs: number;
  };
  /** Of the last half to whole minute; null without a daemon. */
  readonly flow: {
    readonly windowMs: number;
    /** Runs that became ready. */
    readonly arrivals: number;
    readonly meanDepth: number;
    /** Attempts that ended, and the sum of their times. */
    readonly ended: number;
    readonly durationMs: number;
  } | null;
}

export interface ConfigProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What became of a reload: carried out, or refused and nothing has changed. */
export type ReloadReply =
  | {
      readonly outcome: 'taken-up';
      readonly version: string | null;
      readonly tasks: number;
      readonly changes: readonly string[];
      readonly more: number;
    }
  | { readonly outcome: 'unchanged'; readonly version: string | null; readonly tasks: number }
  | { readonly outcome: 'invalid'; readonly problems: readonly ConfigProblem[] }
  | {
      readonly outcome: 'differs';
      /** The first few, as `task hash added`, `queues.ready.capacity changed`. */
      readonly changes: readonly string[];
      readonly more: number;
    };

export interface TriggerBody {
  readonly task: string;
  /** JSON text; null: none. */
  readonly payload: string | null;
  /** Whether it passes by overlap; not for a run that is to begin later. */
  readonly force: boolean;
  /** Whether it is answered when the run is over. */
  readonly wait: boolean;
  /** When it is to begin, wall time; null: now. */
  readonly dueAtMs: number | null;
}

export type TriggerReply = {
  readonly run: string;
  /** With `wait`: how the run ended; else null. */
  readonly ended: RunView | null;
};

/** A file that a scan found and that the store has not marked yet. */
export interface FoundItem {
  /** 16 hex digits over path, size, mtime and inode: the occurrence of the run. */
  readonly mark: string;
  /** JSON text of `{ path, relative, root, size, mtime_ms }`. */
  readonly input: string;
}

export interface OfferBody {
  readonly task: string;
  readonly items: readonly FoundItem[];
}

/** What became of the files of an offer. */
export interface OfferReply {
  /** Runs made. */
  readonly accepted: number;
  /** Files dealt with before, or in work. */
  readonly known: number;
  /** Files refused by a full queue that rejects: the next scan finds them again. */
  readonly rejected: number;
  /** Marks of those to be offered again, in order: there was no room for them. */
  readonly rest: readonly string[];
}

/** Which steps of an earlier run of a flow run again, beside all that is behind them. */
export type RerunChoice =
  /** Every step. */
  | { readonly kind: 'whole' }
  /** Those that did not succeed. */
  | { readonly kind: 'failed' }
  /** Those, and this one. */
  | { readonly kind: 'step'; readonly step: string };

/** A step as the run of its flow is shown. Times are wall times in ms. */
export interface FlowStepView {
  readonly step: string;
  readonly dependsOn: readonly string[];
  /** Items at a time, of a step with a list; null: it has none. */
  readonly each: number | null;
  readonly state: string;
  /** Null: it is not over. */
  readonly reason: string | null;
  /** The step before it that is to blame. */
  readonly cause: string | null;
  readonly detail: string | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly items: { readonly size: number; readonly succeeded: number; readonly failed: number } | null;
}

/** The run of a flow with its steps; null: what they were is not known. */
export interface FlowView {
  readonly run: RunView;
  /** Why it ended, as a sentence; null: it is not over. */
  readonly end: string | null;
  readonly steps: readonly FlowStepView[] | null;
}

/** Owner of all live runs and of the four queues. */
export type RunsMessages = {
  trigger: { body: TriggerBody; reply: TriggerReply };
  /** Answered when a live run is over and kept; at once with `ended` null where no such run is live. */
  wait: { body: { run: string }; reply: TriggerReply };
  /** Answered when there is room for what was found: this is how a full queue blocks a scan. */
  offer: { body: OfferBody; reply: OfferReply };
  /** What ended on another thread within one turn of its event loop. */
  outcomes: { body: { outcomes: readonly Outcome[] } };
  progress: { body: { run: string; fraction: number; note: string | null } };
  /** The store has all events up to the ordinal `seq`. */
  recorded: { body: { seq: number } };
  /** The store cannot write, and why; or it can again, and wants what was not acknowledged. */
  'store-state': { body: { writable: true } | { writable: false; reason: string } };
  cancel: { body: { run: string }; reply: { state: RunState } };
  /** Of a run of a flow, live or not. Fails with `no-such-run`. */
  'flow-show': { body: { run: string }; reply: FlowView };
  /** A new run of the flow with the payload of this one, which is over. Fails as `trigger` does, and with `no-such-run`, `usage`. */
  'flow-rerun': { body: { run: string; choice: RerunChoice }; reply: { run: string } };
  live: { body: RunFilter; reply: readonly RunView[] };
  'show-live': { body: { run: string }; reply: RunView | null };
  'dead-list': { body: DeadLetterFilter; reply: readonly DeadLetterView[] };
  'dead-replay': { body: DeadLetterChoice; reply: { runs: readonly string[]; refused: number } };
  'dead-purge': { body: DeadLetterChoice; reply: { purged: number } };
  view: { body: null; reply: RuntimeView };
  size: { body: null; reply: SizeView };
  reload: { body: null; reply: ReloadReply };
};

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

/** What the store found when it was opened. */
export interface StoreOpening {
  /** True where what is kept outlives the process. */
  readonly durable: boolean;
  /** True where the last daemon ended without closing the store. */
  readonly crashed: boolean;
  /** File that a damaged journal was moved to; null: it was whole, or there was none. */
  readonly setAside: string | null;
  /** Runs that are not over, and dead letters, of daemons before. */
  readonly unfinished: number;
  readonly letters: number;
  /** Runs that are to begin after this moment: they are not among the unfinished ones. */
  readonly delayed: number;
}

/** A place among the runs that are to begin later, in the order they are due and then were created. */
export interface DelayedPlace {
  readonly dueAtMs: number;
  readonly position: number;
}

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
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly error: ErrorData | null;
}

/** A page of them is asked for by the flows that are left, from after a position within the first one. */
export interface StepsPlace {
  readonly flows: readonly string[];
  readonly after: number;
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
  /** `trigger`, `cancel`, `dead replay`, `dead purge`, `reload`, `backup`, `start`, `stop`. */
  readonly action: string;
  /** Task or run; null: neither. */
  readonly target: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Keeper of what has happened. */
export interface ResultPart {
  readonly value?: unknown;
  /** How many steps of the way there are, and what is at the last of them. */
  readonly found: number;
  readonly got: string;
}

export interface Judgement {
  /** Why the result is not as expected; null: it is. */
  readonly unmet: string | null;
  /** What the next one is compared with. */
  readonly measure: number | null;
}

export type StoreMessages = {
  /**
   * First of all, in each life of its thread. `boot`: of this daemon; `kept`: ordinal of the last transition that it
   * was acknowledged. Fails with `store-failed`.
   */
  open: { body: { boot: string; kept: number }; reply: StoreOpening };
  /** Runs of before that are not over, in the order they were created, from after a position; `next`: of the next page. */
  unfinished: {
    body: { after: number };
    reply: { runs: readonly StoredRun[]; next: number | null };
  };
  /** Runs that are to begin later, from after a place; `next`: of the next page. Those that are due are among them. */
  delayed: {
    body: { after: DelayedPlace };
    reply: { runs: readonly StoredRun[]; next: DelayedPlace | null };
  };
  /** One of them by its id. */
  'delayed-run': { body: { run: string }; reply: StoredRun | null };
  /** Dead letters in order of death, in pages as above. */
  letters: { body: { after: number }; reply: { letters: readonly StoredLetter[]; next: number | null } };
  /**
   * For each schedule: up to which instant its occurrences have been dealt with. Of one that is new, or was another
   * one before, that is `atMs`, and it is kept.
   */
  mount: {
    body: { atMs: number; schedules: readonly { readonly task: string; readonly schedule: string }[] };
    reply: { handledMs: readonly number[] };
  };
  /** Of every task that ever ended, also those that are not in the config. */
  'last-ends': { body: null; reply: { ends: readonly LastEnd[] } };
  record: { body: RecordBatch };
  list: { body: RunFilter; reply: readonly RunView[] };
  show: { body: { run: string }; reply: RunView | null };
  /** Runs of the steps of these flow runs, in pages; `next`: of the next one. */
  'flow-steps': { body: StepsPlace; reply: { steps: readonly StoredStep[]; next: StepsPlace | null } };
  /** In their order; null where it is not kept. A result of nothing is the text `null`. */
  results: { body: { runs: readonly string[] }; reply: { results: readonly (string | null)[] } };
  /** Those of the runs whose result is kept. */
  'kept-results': { body: { runs: readonly string[] }; reply: { runs: readonly string[] } };
  /** What is at a place within the file of a result; undefined where nothing is. Fails with `input-invalid`. */
  'result-part': { body: { file: string; path: readonly (string | number)[] }; reply: ResultPart };
  /** The result in a file held against what is expected of it. Fails with `input-invalid`. */
  'judge-result': {
    body: { file: string; expectation: Expectation; lastGood: number | null };
    reply: Judgement;
  };
  /** Passes on to `runs` what is not marked yet; sums up what became of all. */
  offer: { body: OfferBody; reply: OfferReply };
  /** Bytes it holds: of runs that are over, of runs that are not, of the marks of files. */
  usage: { body: null; reply: { history: number; live: number; marks: number } };
  audit: { body: AuditEntry };
  /** Newest first. */
  'audit-list': { body: { limit: number }; reply: readonly AuditEntry[] };
  /** A consistent copy, made while all goes on. Fails with `file-failed`, `store-failed`. */
  backup: { body: { file: string }; reply: { bytes: number } };
};

export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly atMs: number;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>> | null;
}

export type TelemetryMessages = {
  /** Answered when the metrics address listens; null where none is configured. */
  open: { body: null; reply: { metrics: { host: string; port: number } | null } };
  log: { body: LogRecord };
  runs: { body: { events: readonly RunEvent[] } };
  /** When tasks last succeeded before this daemon was started. */
  succeeded: { body: { last: readonly { readonly task: string; readonly atMs: number }[] } };
  /** Answered when everything logged so far is written. */
  flush: { body: null; reply: null };
  /** Bytes of log lines that wait, and of the mailboxes on its thread. */
  usage: {
    body: null;
    reply: { logBytes: number; mailboxes: readonly { readonly actor: string; readonly bytes: number }[] };
  };
};

/** Serves the command line on the control socket; asks the others. */
export type ControlMessages = {
  /** Answered when the socket listens. */
  open: { body: null; reply: null };
  close: { body: null; reply: null };
};

/** An async pool on a thread: executes orders, answers to `runs` with one outcome each. */
export type IoMessages = {
  /** What became ready within one turn: tiny orders travel together. */
  execute: { body: { orders: readonly ExecuteOrder[] } };
  abort: { body: { run: string; reason: AbortReason } };
  /** Gives the run up at once; process trees are killed. */
  kill: { body: { run: string; reason: AbortReason } };
};
