/** What a pool of functions on this thread is made of. */
import type { ExecuteOrder, Outcome, WorkSource } from '../../actors/execution.ts';
import type { Clock } from '../../actors/kernel/clock.ts';
import type { SharedMark } from '../../actors/kernel/shared-mark.ts';
import type { LogRecord } from '../../actors/protocol.ts';
import type { ResultFolder } from '../../actors/results/result-folder.ts';
import type { Handler } from '../handler.ts';
import type { LoopWatch } from './loop-watch.ts';

export interface InlinePoolOptions {
  /** By the name of the handler. Looked at when a run begins. */
  readonly functions: ReadonlyMap<string, Handler>;
  readonly source: WorkSource;
  readonly slots: number;
  /** From a run's being told to stop to its slot being free. Default 1000. */
  readonly graceMs?: number;
  /** Of timeouts and durations. */
  readonly clock: Clock;
  /** How far the journal has come: orders that say so wait for it. */
  readonly mark: SharedMark;
  readonly watch: LoopWatch;
  /**
   * All of an input that names more of it, before the function is called; null: it names nothing. Rejected
   * with `input-invalid`: the run has failed; with anything else: it is interrupted, and not to blame.
   */
  readonly wholeInput?: (order: Pick<ExecuteOrder, 'run' | 'input'>) => Promise<string> | null;
  /** Where large results go; null, the default: they are refused. */
  readonly results?: ResultFolder | null;
  readonly onOutcome: (outcome: Outcome) => void;
  readonly onLog: (record: LogRecord) => void;
  readonly onProgress: (run: string, fraction: number, note: string | null) => void;
}
