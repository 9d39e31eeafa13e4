/**
 * The Store port: what has happened, kept. Calls come one at a time from the store's actor, and do their work before they
 * return: on a thread that may wait for a disk.
 * Every implementation passes the conformance suite in `test/store/conformance.ts`.
 */
import type { DelayedPlace, RunFilter, StepsPlace, StoreMessages, StoreOpening } from '../protocol.ts';
import type { AuditEntry, LastEnd, RecordBatch, StoredRun } from '../records.ts';
import type { RunView } from '../views/run-view.ts';

export interface Store {
  /** What this one can do, declared rather than tried. */
  readonly abilities: StoreAbilities;
  /**
   * Once, before anything else. `boot`: of this daemon; the same one as before where only the thread was lost. Throws
   * `store-failed` on a journal that a newer version wrote, or that cannot be opened.
   */
  open(boot: string, kept: number): StoreOpening;
  /**
   * Applies a batch, in order. What was applied before is passed over; a batch after a gap is not applied, and what
   * is given says so. It is kept for good when `commit` has returned. Throws `StoreTrouble`: then nothing that was
   * applied since the last commit is.
   */
  append(batch: RecordBatch): Appended;
  /** Throws `StoreTrouble`, as `append` does. */
  commit(): void;
  /** Ordinal of the last transition that is kept. */
  readonly kept: number;
  /** Newest first. */
  list(filter: RunFilter): readonly RunView[];
  show(run: string): RunView | null;
  /** Those of the marks whose file has been dealt with for this task. */
  marked(task: string, marks: readonly string[]): ReadonlySet<string>;
  /** Without those that were to begin after the store was opened. */
  unfinished(after: number): StoreMessages['unfinished']['reply'];
  delayed(after: DelayedPlace): StoreMessages['delayed']['reply'];
  delayedRun(run: string): StoredRun | null;
  letters(after: number): StoreMessages['letters']['reply'];
  flowSteps(place: StepsPlace): StoreMessages['flow-steps']['reply'];
  /** Up to the first that makes them longer together than `mostLength`. */
  results(runs: readonly string[], mostLength?: number): readonly (string | null)[];
  /** Those whose result is kept. */
  keptResults(runs: readonly string[]): readonly string[];
  mount(body: StoreMessages['mount']['body']): readonly number[];
  /** Of every task, also where its runs have been forgotten. */
  lastEnds(): readonly LastEnd[];
  audit(entry: AuditEntry): void;
  audits(limit: number): readonly AuditEntry[];
  /** Resolves with the size of the copy. Rejects with `file-failed`, or `store-failed` where there is nothing to copy. */
  backup(file: string): Promise<number>;
  /** Names of the files of all results that are kept. */
  resultFiles(): ReadonlySet<string>;
  /** Names of those whose result is forgotten, for good: each is given once. Both throw `StoreTrouble`. */
  forgottenFiles(): readonly string[];
  /** What it holds, in memory or on disk. */
  usage(): StoreUsage;
  /** Nothing has come for a while: time for what is better not done in the middle of work. */
  rest(): void;
  /** Idempotent. */
  close(): void;
}

/** Results one by one, to the first that is too much. */
export function textsUpTo(
  runs: readonly string[],
  resultOf: (run: string) => string | null,
  mostLength = Number.POSITIVE_INFINITY,
): readonly (string | null)[] {
  const texts: (string | null)[] = [];
  let length = 0;
  for (const run of runs) {
    const text = resultOf(run);
    texts.push(text);
    length += text?.length ?? 0;
    if (length > mostLength) break;
  }
  return texts;
}

/** Runs of steps in one answer, about. */
export const STEPS_PAGE = 1000;

export const Appended = { Applied: 'applied', Known: 'known', Gap: 'gap' } as const;
export type Appended = (typeof Appended)[keyof typeof Appended];

/** The disk does not take it now: it may later. */
export class StoreTrouble extends Error {
  override readonly name = 'StoreTrouble';
}

/** Bytes. */
export interface StoreUsage {
  /** Of runs that are over: at most `Retention.maxBytes`. On disk, for a store that has one. */
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
  /** Runs that are over, at most; dead letters are apart. */
  readonly runs: number;
  /** Of those, the newest that keep their result. */
  readonly results: number;
  /** Results older than this are forgotten. */
  readonly resultTtlMs: number;
  /** Of all runs that are over together, at most: the oldest are forgotten first. */
  readonly maxBytes: number;
  /** Of the files of their results, at most: the oldest results are forgotten first. */
  readonly fileBytes: number;
}
