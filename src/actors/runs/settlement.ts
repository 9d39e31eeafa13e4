/**
 * What becomes of a run that has left its slot, or never gets one:
 *
 *   outcome ─▶ success
 *           ├▶ failed ──── retries left, room ─▶ retry queue ─ due ─▶ intake
 *           │      └────── else ─▶ failed + dead letter
 *           ├▶ interrupted ─ within its budget ─▶ intake, else failed + dead letter
 *           └▶ cancelled
 */
import type { Outcome } from '../execution.ts';
import type { Clock } from '../kernel/clock.ts';
import { assertNever, type ColibriError } from '../kernel/errors.ts';
import { backoffMs } from './backoff.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { RetryQueue } from './retry-queue.ts';
import type { Run } from './run.ts';
import type { RunState } from './run-states.ts';
import type { TaskState } from './task-state.ts';

export interface SettlementOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly lifecycle: Lifecycle;
  readonly retries: RetryQueue;
  readonly dead: DeadLetters;
  /** A run that was accepted before is to be ready again. */
  readonly readmit: (run: Run) => void;
  /** A run of this task is over: who waited for it may go. */
  readonly onOver: (task: TaskState) => void;
}

/** How often a run may lose its host before it is given up: apart from its retries, and where no other run is to blame. */
export const INTERRUPTION_BUDGET = 3;
/** And whoever is to blame: so that one which is always in bad company does not run for ever. */
export const MOST_INTERRUPTIONS = 15;

const INTERRUPTION_WAIT_MS = 50;
/** Doublings of that wait. */
const MOST_DOUBLINGS = 8;

export class Settlement {
  readonly #options: SettlementOptions;
  #closed = false;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /** From here on, what would run again stays as it is: there is nobody to run it. */
  close(): void {
    this.#closed = true;
  }

  outcome(run: Run, outcome: Outcome): void {
    this.#options.lifecycle.stopped(run, outcome.durationMs, outcome.error);
    switch (outcome.status) {
      case 'success':
        // What is nothing is not worth keeping; but of a step it is known from what was forgotten.
        run.ownPast.result = outcome.result === 'null' && run.flow === null ? null : outcome.result;
        return this.end(run, 'success');
      case 'failed':
        return this.#failed(run, outcome.retryable);
      case 'cancelled':
        // Stopped by the end of the daemon, not by a user: the host died under it.
        return this.#closed && !run.ownPast.cancelling ? this.interrupted(run) : this.end(run, 'cancelled');
      case 'interrupted':
        return this.interrupted(run);
      default:
        return assertNever(outcome.status, 'status of an outcome');
    }
  }

  /** It is not going to run, and this is why. */
  skip(run: Run, error: ColibriError): void {
    run.ownPast.error = { code: error.code, message: error.message };
    this.end(run, 'skipped');
  }

  end(run: Run, state: RunState): void {
    this.#options.lifecycle.ended(run, state);
    this.#over(run);
  }

  #over(run: Run): void {
    if (run.overlaps && !this.#closed) this.#options.onOver(run.task);
  }

  #failed(run: Run, retryable: boolean): void {
    const { lifecycle, retries, random } = this.#options;
    const { backoff, maxRetry } = run.effectiveLimits;
    const { interruptions, cancelling } = run.ownPast;
    const tries = run.attempt - interruptions;
    if (!retryable || cancelling || run.scan || tries > maxRetry) return this.#die(run);
    if (retries.full) {
      retries.countRefused();
      return this.#die(run);
    }
    const waitMs = backoffMs(backoff, tries, random);
    lifecycle.retrying(run, waitMs);
    if (!this.#closed) retries.add(run, waitMs);
  }

  /** Its host ended under it: a thread, or the whole daemon. */
  interrupted(run: Run): void {
    this.#options.lifecycle.interrupted(run);
    this.afterInterruption(run);
  }

  afterInterruption(run: Run): void {
    const { interruptions, excused, cancelling } = run.ownPast;
    const { gone, spec } = run.task;
    const spent = interruptions - excused > INTERRUPTION_BUDGET || interruptions > MOST_INTERRUPTIONS;
    if (cancelling) this.end(run, 'cancelled');
    else if (gone) this.#options.lifecycle.orphaned(run);
    // It goes on from what its steps have come to: nothing was lost, however often that happens.
    else if (spec.pool === 'flow') this.#options.readmit(run);
    else if (spec.onInterrupted === 'skip') this.end(run, 'skipped');
    // Whether it is to run again is for a person to say: by a replay of the dead letter, or none.
    else if (spec.onInterrupted === 'ask' || spent) this.#die(run);
    else if (!this.#closed) this.#again(run);
  }

  /** The first interruption is bad luck; a run that is interrupted again may be its cause and waits a little. */
  #again(run: Run): void {
    const { retries, readmit } = this.#options;
    const { interruptions } = run.ownPast;
    if (interruptions === 1 || retries.full) readmit(run);
    else retries.add(run, INTERRUPTION_WAIT_MS * 2 ** Math.min(interruptions, MOST_DOUBLINGS));
  }

  /** A scan comes again by itself, and of a step its flow is the dead letter. */
  #die(run: Run): void {
    const dead = !run.scan && run.flow === null;
    this.#options.lifecycle.ended(run, 'failed', dead);
    this.#over(run);
    if (!dead) return;
    this.#options.dead.add({
      run: run.id,
      spec: run.task.spec,
      dueAtMs: run.dueAtMs,
      diedAtMs: this.#options.clock.wallMs(),
      attempts: run.attempt,
      rawInput: run.input,
      mark: run.mark,
      error: run.ownPast.error,
    });
  }
}
