/**
 * All messages between actors, in one place: one `Messages` type an actor. Where an actor lives is not said here but in
 * the placement table; data goes one way: scheduler → runs → pools → runs → store → telemetry. What is kept of runs stands
 * in `records.ts`, what is shown of them and of the daemon in `views/`.
 */
import type { AbortReason, ExecuteOrder, Outcome } from './execution.ts';
import type {
  AuditEntry,
  LastEnd,
  RecordBatch,
  RunEvent,
  StoredLetter,
  StoredRun,
  StoredStep,
} from './records.ts';
import type { Expectation } from './results/expectation.ts';
import type { RunState } from './runs/run-states.ts';
import type { AgainBehind, DeadLetterView, FlowView, ForgottenResults, RunView } from './views/run-view.ts';
import type { RuntimeView } from './views/runtime-view.ts';
import type { SizeView } from './views/size-view.ts';

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

export interface RunFilter {
  readonly task: string | null;
  readonly state: RunState | null;
  readonly limit: number;
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
  /** A new run of the flow with the payload of this one, which is over. Fails as `trigger` does, and with `no-such-run`, `rerun-refused`, `usage`. */
  'flow-rerun': {
    body: { run: string; choice: RerunChoice };
    reply: { run: string; forgotten: readonly ForgottenResults[]; againBehind: readonly AgainBehind[] };
  };
  live: { body: RunFilter; reply: readonly RunView[] };
  'show-live': { body: { run: string }; reply: RunView | null };
  'dead-list': { body: DeadLetterFilter; reply: readonly DeadLetterView[] };
  'dead-replay': { body: DeadLetterChoice; reply: { runs: readonly string[]; refused: number } };
  'dead-purge': { body: DeadLetterChoice; reply: { purged: number } };
  view: { body: null; reply: RuntimeView };
  size: { body: null; reply: SizeView };
  reload: { body: null; reply: ReloadReply };
};

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

/** A page of them is asked for by the flows that are left, from after a position within the first one. */
export interface StepsPlace {
  readonly flows: readonly string[];
  readonly after: number;
}

/** What is at a place within a result. */
export interface ResultPart {
  readonly value?: unknown;
  /** How many steps of the way there are, and what is at the last of them. */
  readonly found: number;
  readonly got: string;
}

/** A result held against what is expected of it. */
export interface Judgement {
  /** Why the result is not as expected; null: it is. */
  readonly unmet: string | null;
  /** What the next one is compared with. */
  readonly measure: number | null;
}

/** Keeper of what has happened. */
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
  /**
   * In their order; null where it is not kept. A result of nothing is the text `null`. With `mostLength` no more of them than so
   * many characters together, and the one that is beyond.
   */
  results: {
    body: { runs: readonly string[]; mostLength?: number };
    reply: { results: readonly (string | null)[] };
  };
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
  /** Fails with `state-dir-held` where another daemon answers on the socket; nothing is changed by it. */
  probe: { body: null; reply: null };
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
