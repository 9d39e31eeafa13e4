/** Cancels runs wherever they stand: at once where they wait, by a word to its pool where one is on a slot. */
import type { AbortReason } from '../execution.ts';
import { ColibriError } from '../kernel/errors.ts';
import type { Intake } from './intake.ts';
import type { LaterRuns } from './later-runs.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { PoolDoor } from './pool-door.ts';
import type { ReadyQueue } from './ready-queue.ts';
import type { RetryQueue } from './retry-queue.ts';
import type { Run } from './run.ts';
import { isTerminal, type RunState } from './run-states.ts';
import type { RunTable } from './run-table.ts';
import type { Settlement } from './settlement.ts';
import type { TaskState } from './task-state.ts';

export interface CancellationOptions {
  readonly table: RunTable;
  readonly ready: ReadyQueue;
  readonly later: LaterRuns;
  readonly retries: RetryQueue;
  readonly intake: Intake;
  readonly lifecycle: Lifecycle;
  readonly settlement: Settlement;
  readonly door: PoolDoor;
  readonly isClosed: () => boolean;
}

export class Cancellation {
  readonly #options: CancellationOptions;

  constructor(options: CancellationOptions) {
    this.#options = options;
  }

  /** Throws `no-such-run` if it is not live. */
  byId(id: string): RunState {
    const run = this.#options.table.get(id);
    if (run === undefined || isTerminal(run.state)) {
      throw new ColibriError('no-such-run', `expected a run that is not over, got ${id}`);
    }
    this.cancel(run);
    return run.state;
  }

  /** Of a run that is not over. */
  cancel(run: Run): void {
    const { ready, later, retries, intake, lifecycle, settlement, door, isClosed } = this.#options;
    if (run.state === 'running') {
      run.ownPast.cancelling = true;
      door.poolOf(run)?.abort(run.id, 'cancel');
      if (isClosed()) this.#cancelSteps(run);
      return;
    }
    if (run.state === 'ready') ready.remove(run);
    else if (later.has(run)) {
      later.remove(run);
      lifecycle.due(run);
    } else if (run.ownPast.retryTimer !== null) retries.remove(run);
    else intake.remove(run);
    const { attempt } = run;
    const when = attempt === 0 ? 'before it ran' : `before it ran again, after attempt ${attempt}`;
    run.ownPast.error = { code: 'cancelled', message: `cancelled ${when}` };
    settlement.end(run, 'cancelled');
    this.#cancelSteps(run);
    intake.refill();
    door.wakeAll();
  }

  /** Whom a newcomer is to replace: gathered first, because the end of one may let the newcomer itself go on. */
  replaced(task: TaskState): void {
    const { table, intake } = this.#options;
    const replaced = [...table.runs].filter(
      (run) => run.task === task && run.overlaps && !isTerminal(run.state) && !intake.isHeld(run),
    );
    for (const run of replaced) if (!isTerminal(run.state)) this.cancel(run);
  }

  /** Asks everything on a slot to stop. */
  abortAll(reason: AbortReason): void {
    const { table, door } = this.#options;
    for (const run of table.runs) {
      if (run.state === 'running') door.poolOf(run)?.abort(run.id, reason);
    }
  }

  /** Of a flow that has begun and has nobody to do it: it waits to be taken up, it is gone from the config, the daemon ends. */
  #cancelSteps(flow: Run): void {
    if (flow.attempt === 0 || (flow.pool !== 'flow' && !flow.task.gone)) return;
    for (const run of this.#options.table.runs) {
      if (run.flow === flow.id && !isTerminal(run.state)) this.cancel(run);
    }
  }
}
