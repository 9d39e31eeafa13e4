/**
 * Owner of all live runs: their states, the four queues, and what a pool may take.
 *
 *   intake ─▶ ready ─ a slot takes ─▶ running ─▶ outcome ─▶ success
 *               ▲                                  ├─▶ retrying ─ due ─┐
 *               └──────────────────────────────────┴───────────────────┘
 *                                                  └─▶ failed ─▶ dead letter
 *
 * Invariants: a run is in exactly one place (intake, ready, a pool, the retry queue, or over); every change of
 * state goes through `transition` and into the journal; an outcome for anything but the running attempt is
 * late, counted, and changes nothing.
 */

import type {
  AbortReason,
  ExecuteOrder,
  Outcome,
  Pool,
  PoolName,
  WorkSource,
} from '../../workers/handler.ts';
import type { Clock } from '../kernel/clock.ts';
import { assertNever, ColibriError, toErrorData } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import type { DeadLetterChoice, FoundItem, QueueView, RunEvent, RunOrigin } from '../protocol.ts';
import { backoffMs } from './backoff.ts';
import { DeadLetters } from './dead-letters.ts';
import { Intake, type Newcomer } from './intake.ts';
import { Journal } from './journal.ts';
import { Lifecycle } from './lifecycle.ts';
import { replayIdOf, triggerIdMaker } from './occurrence.ts';
import { orderOf } from './order.ts';
import type { WhenFull } from './policies.ts';
import { ReadyQueue } from './ready-queue.ts';
import { RetryQueue } from './retry-queue.ts';
import type { Run } from './run.ts';
import { isTerminal, type RunState } from './run-states.ts';
import { RunTable } from './run-table.ts';
import type { RunsTask, TaskState } from './task-state.ts';

export interface RunsOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly tasks: readonly RunsTask[];
  readonly groups: Readonly<Record<string, { readonly concurrency: number }>>;
  readonly queues: {
    readonly ready: { readonly capacity: number; readonly whenFull: WhenFull };
    readonly delayed: { readonly capacity: number };
    readonly retry: { readonly capacity: number };
    readonly deadLetter: { readonly capacity: number; readonly whenFull: 'drop-oldest' | 'drop-newest' };
  };
  /** False: the store has no room now. */
  readonly record: (seq: number, events: readonly RunEvent[]) => boolean;
  /** Says something to the log that belongs to no run event. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** How often a run may lose its host before it is given up: apart from its retries. */
export const INTERRUPTION_BUDGET = 3;

export class Runs {
  readonly #options: RunsOptions;
  readonly #clock: Clock;
  readonly #table: RunTable;
  readonly #ready: ReadyQueue;
  readonly #intake: Intake;
  readonly #journal: Journal;
  readonly #lifecycle: Lifecycle;
  readonly #retries: RetryQueue;
  readonly #dead: DeadLetters;
  readonly #pools = new Map<PoolName, Pool>();
  readonly #nextTriggerId = triggerIdMaker();
  #lateOutcomes = 0;
  #closed = false;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#table = new RunTable(options.tasks);
    this.#ready = new ReadyQueue(options.queues.ready.capacity, options.groups);
    this.#dead = new DeadLetters(options.queues.deadLetter.capacity, options.queues.deadLetter.whenFull);
    this.#retries = new RetryQueue({
      clock: options.clock,
      capacity: options.queues.retry.capacity,
      onDue: (run) => this.#readmit(run),
    });
    this.#journal = new Journal({
      clock: options.clock,
      send: options.record,
      forget: (run) => this.#table.forget(run),
      onRoom: () => this.#wakeAll(),
    });
    this.#lifecycle = new Lifecycle(options.clock, this.#journal);
    this.#intake = new Intake({
      ready: this.#ready,
      whenFull: options.queues.ready.whenFull,
      delayedCapacity: options.queues.delayed.capacity,
      nowMs: () => options.clock.wallMs(),
      isKnown: (id) => this.#table.has(id),
      onNew: (run) => {
        this.#table.add(run);
        this.#lifecycle.created(run);
      },
      onReady: (run) => {
        this.#lifecycle.ready(run);
        this.#ready.push(run);
      },
      onSkip: (run, error) => this.#skip(run, error),
      abortRunning: (task) => this.#abortRunning(task),
    });
  }

  // — where work comes from

  /** A task is due: one run per occurrence, however often this is called for it. */
  due(taskName: string, occurrenceId: string, dueAtMs: number, origin: RunOrigin): void {
    const task = this.#table.task(taskName);
    if (this.#table.has(occurrenceId)) return;
    this.#admit({ ...this.#newcomer(task, occurrenceId, origin), dueAtMs }, false);
  }

  /**
   * Accepts a trigger. Answered with the run's id once it has room, or once it is over with `wait`.
   * Fails with `no-such-task`, `overlap-refused`, `queue-full`, `shutting-down`.
   */
  trigger(
    body: { task: string; payload: string | null; force: boolean; wait: boolean },
    answer: Answer,
  ): void {
    const task = this.#table.task(body.task);
    const id = this.#nextTriggerId(task.spec.name, this.#clock.wallMs());
    const scan = task.spec.scanJson !== null && body.payload === null;
    if (body.force && task.live > 0) {
      this.#options.warn('overlap overridden by force', { task: task.spec.name, run: id });
    }
    const newcomer = { ...this.#newcomer(task, id, 'manual'), input: body.payload, scan };
    const run = this.#admit(newcomer, body.force);
    if (run instanceof ColibriError) {
      answer.fail(run);
      return;
    }
    if (body.wait) {
      run.waiters ??= [];
      run.waiters.push(answer);
    } else if (run.state === 'pending') run.admission = answer;
    else answer.ok({ run: run.id, ended: null });
  }

  offer(body: { task: string; items: readonly FoundItem[] }, answer: Answer): void {
    this.#intake.offer(this.#table.task(body.task), body.items, answer);
    this.#wakeAll();
  }

  // — pools

  attachPool(pool: Pool): void {
    this.#pools.set(pool.name, pool);
  }

  /** The ready queue as one pool sees it. */
  source(pool: PoolName): WorkSource {
    return {
      peekTask: () => (this.#holdsBack() ? undefined : this.#ready.peek(pool)?.task.spec.name),
      take: () => (this.#holdsBack() ? undefined : this.#take(pool)),
    };
  }

  outcome(outcome: Outcome): void {
    const run = this.#table.get(outcome.run);
    if (run === undefined || run.state !== 'running' || run.attempt !== outcome.attempt) {
      this.#lateOutcomes++;
      return;
    }
    this.#lifecycle.stopped(run, outcome.durationMs, outcome.error);
    this.#ready.release(run);
    switch (outcome.status) {
      case 'success':
        run.result = outcome.result;
        this.#end(run, 'success');
        break;
      case 'failed':
        this.#failed(run, outcome.retryable);
        break;
      case 'cancelled':
        // Stopped by the end of the daemon, not by a user: the host died under it.
        if (this.#closed && !run.cancelling) this.#interrupted(run);
        else this.#end(run, 'cancelled');
        break;
      case 'interrupted':
        this.#interrupted(run);
        break;
      default:
        assertNever(outcome.status, 'status of an outcome');
    }
    this.#wakeAll();
  }

  progress(body: { run: string; fraction: number; note: string | null }): void {
    const run = this.#table.get(body.run);
    if (run?.state === 'running') run.progress = { fraction: body.fraction, note: body.note };
  }

  recorded(seq: number): void {
    this.#journal.recorded(seq);
  }

  /** The store lost what it had not answered for: it is sent again. */
  resend(): void {
    this.#journal.resend();
  }

  // — commands

  /** Cancels a run wherever it is. Fails with `no-such-run` if it is not live. */
  cancel(id: string): RunState {
    const run = this.#table.get(id);
    if (run === undefined || isTerminal(run.state)) {
      throw new ColibriError('no-such-run', `expected a run that is not over, got ${id}`);
    }
    if (run.state === 'running') {
      run.cancelling = true;
      this.#poolOf(run)?.abort(run.id, 'cancel');
      return run.state;
    }
    this.#takeOut(run);
    run.error = { code: 'cancelled', message: 'cancelled before it ran' };
    this.#end(run, 'cancelled');
    this.#wakeAll();
    return run.state;
  }

  /** Asks everything on a slot to stop. */
  abortAll(reason: AbortReason): void {
    for (const run of this.#table.runs) {
      if (run.state === 'running') this.#poolOf(run)?.abort(run.id, reason);
    }
  }

  get deadLetters(): DeadLetters {
    return this.#dead;
  }

  /** Runs dead letters again, each as a new run; what is refused stays a dead letter. */
  replay(choice: DeadLetterChoice): { runs: string[]; refused: number } {
    return this.#dead.replay(choice, (letter) => {
      if (!this.#table.hasTask(letter.task)) return null;
      const newcomer = this.#newcomer(this.#table.task(letter.task), replayIdOf(letter.run), 'replay');
      const { rawInput: input, mark } = letter;
      const run = this.#admit({ ...newcomer, input, mark, scan: false }, true);
      return run instanceof ColibriError ? null : run.id;
    });
  }

  // — looking

  /** The live runs, to look at. */
  get table(): Pick<RunTable, 'size' | 'tasks' | 'get' | 'list'> {
    return this.#table;
  }

  get lateOutcomes(): number {
    return this.#lateOutcomes;
  }

  queues(): QueueView[] {
    const ready = {
      depth: this.#ready.depth,
      capacity: this.#ready.capacity,
      rejected: this.#intake.rejectedReady,
    };
    const delayed = {
      depth: this.#intake.delayed,
      capacity: this.#options.queues.delayed.capacity,
      rejected: this.#intake.rejectedDelayed,
    };
    const { depth, capacity, refused } = this.#retries;
    return [
      { name: 'ready', ...ready },
      { name: 'delayed', ...delayed },
      { name: 'retry', depth, capacity, rejected: refused },
      {
        name: 'dead-letter',
        depth: this.#dead.depth,
        capacity: this.#dead.capacity,
        rejected: this.#dead.dropped,
      },
    ];
  }

  // — the end

  /** Takes nothing more in and gives nothing more out; running work goes on. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#intake.close();
    this.#retries.close();
  }

  /** Resolves when the store has every transition so far. */
  settled(): Promise<void> {
    return this.#journal.idle();
  }

  destroy(): void {
    this.close();
    this.#journal.close();
  }

  // — inside

  #holdsBack(): boolean {
    return this.#closed || this.#journal.blocked;
  }

  #newcomer(task: TaskState, id: string, origin: RunOrigin): Newcomer {
    const scan = task.spec.scanJson !== null;
    return { task, id, origin, dueAtMs: this.#clock.wallMs(), input: null, mark: null, scan };
  }

  #admit(newcomer: Newcomer, force: boolean): Run | ColibriError {
    const admitted = this.#intake.admit(newcomer, force);
    if (admitted instanceof ColibriError) return admitted;
    this.#poolOf(admitted)?.wake();
    return admitted;
  }

  #readmit(run: Run): void {
    this.#intake.readmit(run);
    this.#poolOf(run)?.wake();
  }

  #take(pool: PoolName): ExecuteOrder | undefined {
    const run = this.#ready.take(pool);
    if (run === null) return undefined;
    this.#lifecycle.started(run);
    this.#intake.refill();
    return orderOf(run);
  }

  #failed(run: Run, retryable: boolean): void {
    const { backoff, maxRetry } = run.task.spec;
    const tries = run.attempt - run.interruptions;
    const again = retryable && !run.cancelling && !run.scan && tries <= maxRetry;
    if (!again || !this.#retries.hasRoom()) {
      this.#die(run);
      return;
    }
    const waitMs = backoffMs(backoff, tries, this.#options.random);
    this.#lifecycle.retrying(run, waitMs);
    if (!this.#closed) this.#retries.add(run, waitMs);
  }

  #interrupted(run: Run): void {
    this.#lifecycle.interrupted(run);
    if (run.cancelling) this.#end(run, 'cancelled');
    else if (run.task.spec.onInterrupted === 'skip') this.#end(run, 'skipped');
    else if (run.interruptions > INTERRUPTION_BUDGET) this.#die(run);
    else if (!this.#closed) this.#intake.readmit(run);
  }

  #die(run: Run): void {
    this.#end(run, 'failed');
    if (run.scan) return;
    this.#dead.add({
      run: run.id,
      task: run.task.spec.name,
      diedAtMs: this.#clock.wallMs(),
      attempts: run.attempt,
      input: run.input ?? '',
      rawInput: run.input,
      mark: run.mark,
      error: run.error,
    });
  }

  #skip(run: Run, error: ColibriError): void {
    if (run.state === 'ready') this.#ready.remove(run);
    run.error = { code: error.code, message: error.message };
    this.#end(run, 'skipped');
  }

  #end(run: Run, state: RunState): void {
    this.#lifecycle.ended(run, state);
    if (run.origin !== 'each' && !this.#closed) this.#intake.releaseHeld(run.task);
  }

  #abortRunning(task: TaskState): void {
    for (const run of this.#table.runs) {
      if (run.task !== task || isTerminal(run.state) || this.#intake.isHeld(run)) continue;
      try {
        this.cancel(run.id);
      } catch (error) {
        this.#options.warn('could not cancel', { run: run.id, error: toErrorData(error).message });
      }
    }
  }

  /** Takes a run out of where it waits. */
  #takeOut(run: Run): void {
    if (run.state === 'ready') this.#ready.remove(run);
    else if (run.retryTimer !== null) this.#retries.remove(run);
    else this.#intake.remove(run);
  }

  #poolOf(run: Run): Pool | undefined {
    return this.#pools.get(run.scan ? 'io' : run.task.spec.pool);
  }

  #wakeAll(): void {
    for (const pool of this.#pools.values()) pool.wake();
  }
}
