/**
 * The Store port: what has happened, kept. Calls come one at a time from the store's actor.
 * Every implementation passes the conformance suite in `test/store/conformance.ts`.
 */
import type { RunEvent, RunFilter, RunView } from '../protocol.ts';

export interface Store {
  /** What this one can do, declared rather than tried. */
  readonly abilities: StoreAbilities;
  /** Keeps a batch of transitions, in order; all of it is kept when the promise resolves. */
  append(events: readonly RunEvent[]): void | Promise<void>;
  /** Newest first. */
  list(filter: RunFilter): readonly RunView[] | Promise<readonly RunView[]>;
  show(run: string): RunView | null | Promise<RunView | null>;
  /** Those of the marks whose file has been dealt with for this task. */
  marked(task: string, marks: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** What it holds in memory. */
  usage(): StoreUsage | Promise<StoreUsage>;
  close(): void | Promise<void>;
}

/** Bytes. */
export interface StoreUsage {
  /** Of runs that are over: at most `Retention.maxBytes`. */
  readonly history: number;
  /** Of runs that are not. */
  readonly live: number;
  /** Of the marks of files that have been dealt with. */
  readonly marks: number;
}

export interface StoreAbilities {
  /** True where what was appended is there after the end of the process. */
  readonly durable: boolean;
}

export interface Retention {
  /** Runs that are over, at most. */
  readonly runs: number;
  /** Of those, the newest that keep their result. */
  readonly results: number;
  /** Results older than this are forgotten. */
  readonly resultTtlMs: number;
  /** Of all runs that are over together, at most: the oldest are forgotten first. */
  readonly maxBytes: number;
}
