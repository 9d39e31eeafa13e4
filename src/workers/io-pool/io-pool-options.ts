/** What an async pool is made of: the actor it sends to, where its work comes from and its outcomes go. */

import type { Outcome, PoolName, WorkSource } from '../../actors/execution.ts';
import type { Clock } from '../../actors/kernel/clock.ts';
import type { ActorRef } from '../../actors/kernel/envelope.ts';
import type { ErrorData } from '../../actors/kernel/errors.ts';
import type { IoMessages } from '../../actors/protocol.ts';
import type { MeasuredSizing } from './pool-size.ts';

export interface IoPoolOptions {
  readonly name: Exclude<PoolName, 'cpu' | 'inline' | 'flow'>;
  readonly actor: ActorRef<IoMessages>;
  readonly source: WorkSource;
  readonly slots: number;
  /** Between abort and kill, and between kill and giving the thread up. Default 1000. */
  readonly graceMs?: number;
  readonly clock: Clock;
  /** Where every outcome goes, once: those that `settle` accepts and those the pool gives itself. */
  readonly onOutcome: (outcome: Outcome) => void;
  /**
   * The thread does not answer. Called once; the receiver replaces the thread and calls `threadLost`. Until
   * then the pool takes nothing.
   */
  readonly onStuck: (cause: ErrorData) => void;
  /** Ends what these runs have started: the thread that could is gone. Default: they start nothing. */
  readonly endProcesses?: (runs: ReadonlySet<string>) => void;
  /** Given for a pool whose size is measured; fed by `measure`. */
  readonly sizing?: MeasuredSizing;
}
