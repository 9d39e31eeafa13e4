/**
 * Owner of all live runs: their table, the four queues and what happens in between, and what may be asked of them.
 *
 *   arrivals ─▶ intake ─▶ ready ─ a slot takes (pool door) ─▶ running ─▶ settlement ─▶ over
 *                           ▲                                               │
 *                           └──────────── retry queue, interruptions ◀──────┘
 *
 * Invariants: a run is in exactly one place (intake, ready, a pool, the retry queue, or over); every change of
 * state goes through `Lifecycle` and into the journal; an outcome for anything but the running attempt is late,
 * counted, and changes nothing.
 */
import type { AbortReason, Outcome, Pool, PoolName, WorkSource } from '../execution.ts';
import type { Answer } from '../kernel/index.ts';
import type { DeadLetterChoice, OfferBody, TriggerBody } from '../protocol.ts';
import type { LastEnd, StoredLetter, StoredRun } from '../records.ts';
import type { Bounds } from './bounds.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Journal } from './journal.ts';
import type { DueOccurrence } from './postponed.ts';
import { placeWaiting, restoredLetter, restoreRun } from './restoration.ts';
import type { RunState } from './run-states.ts';
import type { RunTable } from './run-table.ts';
import { RunsFigures } from './runs-figures.ts';
import type { RunsOptions } from './runs-options.ts';
import { createRunsParts, type RunsParts } from './runs-parts.ts';
import type { StepRuns } from './step-runs.ts';
import type { RunsTask } from './task-state.ts';
import type { TakenOver } from './triggers.ts';

export class Runs {
  readonly #parts: RunsParts;
  /** What is counted, to look at. */
  readonly figures: RunsFigures;
  #lateOutcomes = 0;
  #ended = 0;
  #closed = false;

  constructor(options: RunsOptions) {
    this.#parts = createRunsParts(options, () => this.#closed);
    this.figures = new RunsFigures(this.#parts);
  }

  // — what a daemon before left behind: before anything else comes

  restore(stored: StoredRun): void {
    restoreRun(stored, this.#parts.restoration);
  }

  /** All of them are there: slots may take what is ready. `delayed`: so many more are in the store, and begin later. */
  restored(delayed = 0): void {
    const { restoration, later, door } = this.#parts;
    placeWaiting(restoration);
    later.found(delayed);
    door.wakeAll();
  }

  restoreLetter(letter: StoredLetter): void {
    const { dead, table } = this.#parts;
    dead.add(restoredLetter(letter, table));
  }

  /** How tasks ended before this daemon. */
  knowEnds(ends: readonly LastEnd[]): void {
    for (const end of ends) this.#parts.table.knowEnd(end);
  }

  // — where work comes from

  /** A task is due: one run per occurrence, however often this is called for it. */
  due(occurrence: DueOccurrence): void {
    this.#parts.arrivals.due(occurrence);
  }

  /** Accepts a trigger: see `Triggers.trigger`. */
  trigger(body: TriggerBody, answer: Answer, takenOver?: TakenOver): void {
    this.#parts.triggers.trigger(body, answer, takenOver);
  }

  /** See `Triggers.wait`; a run that stands in the store alone comes back first. */
  async wait(run: string, answer: Answer): Promise<void> {
    await this.recall(run);
    this.#parts.triggers.wait(run, answer);
  }

  /** Files that a scan found: see `Arrivals.offer`. */
  offer(body: OfferBody, answer: Answer): void {
    this.#parts.arrivals.offer(body, answer);
  }

  // — pools

  attachPool(pool: Pool): void {
    this.#parts.door.attach(pool);
  }

  /** The ready queue as one pool sees it. */
  source(pool: PoolName): WorkSource {
    return this.#parts.door.source(pool);
  }

  outcome(outcome: Outcome): void {
    const { table, ready, flow, settlement, intake, later, door } = this.#parts;
    this.#ended++;
    const run = table.get(outcome.run);
    if (run === undefined || run.state !== 'running' || run.attempt !== outcome.attempt) {
      this.#lateOutcomes++;
      return;
    }
    ready.release(run);
    if (run.pool !== 'flow') flow.ended(outcome.durationMs);
    settlement.outcome(run, outcome);
    intake.refill();
    later.lookAhead();
    door.wakeAll();
  }

  progress(body: { run: string; fraction: number; note: string | null }): void {
    const run = this.#parts.table.get(body.run);
    if (run?.state === 'running') run.ownPast.progress = { fraction: body.fraction, note: body.note };
  }

  /** Attempts that have ended since the start. */
  get ended(): number {
    return this.#ended;
  }

  get lateOutcomes(): number {
    return this.#lateOutcomes;
  }

  // — commands

  /** Brings a run into memory that begins later and stands in the store alone, so that it can be cancelled. */
  recall(id: string): Promise<void> {
    const { table, later } = this.#parts;
    return table.has(id) ? Promise.resolve() : later.recall(id);
  }

  /** Cancels a run wherever it is in memory. Throws `no-such-run` if it is not live. */
  cancel(id: string): RunState {
    return this.#parts.cancellation.byId(id);
  }

  /** Asks everything on a slot to stop. */
  abortAll(reason: AbortReason): void {
    this.#parts.cancellation.abortAll(reason);
  }

  /** See `Triggers.replay`. */
  replay(choice: DeadLetterChoice): { runs: string[]; refused: number } {
    return this.#parts.triggers.replay(choice);
  }

  /**
   * Other bounds from now on, of all runs, of groups, and of tasks that are known; of these the group, the bounds and the
   * priority are taken over. What waits keeps its place, and what runs goes on.
   */
  rebound(bounds: Bounds, tasks: readonly RunsTask[]): void {
    const { table, ready, door } = this.#parts;
    for (const { name, group, priority, bounds: own } of tasks) {
      if (!table.hasTask(name)) continue;
      const task = table.task(name);
      const { bounds: _, ...spec } = task.spec;
      task.spec = { ...spec, group, priority, ...(own === undefined ? {} : { bounds: own }) };
    }
    ready.rebound(
      bounds,
      [...table.runs].filter((run) => run.state === 'running'),
    );
    door.wakeAll();
  }

  // — its parts, for those who have to do with one of them alone

  /** The live runs, to look at. */
  get table(): Pick<RunTable, 'size' | 'tasks' | 'get' | 'list'> {
    return this.#parts.table;
  }

  get deadLetters(): DeadLetters {
    return this.#parts.dead;
  }

  /** The runs of steps, for whoever has the flows. */
  get steps(): StepRuns {
    return this.#parts.steps;
  }

  /** How it stands with the store, for whoever hears from that. */
  get journal(): Pick<Journal, 'kept' | 'unrecorded' | 'trouble' | 'recorded' | 'pause' | 'resend'> {
    return this.#parts.journal;
  }

  // — the end

  /** Takes nothing more in and gives nothing more out; running work goes on. Idempotent. */
  close(): void {
    const { postponed, intake, later, settlement, retries, ready } = this.#parts;
    this.#closed = true;
    postponed.close();
    intake.close();
    later.close();
    settlement.close();
    retries.close();
    ready.close();
  }

  /** Resolves when the store has every transition so far. */
  settled(): Promise<void> {
    return this.#parts.journal.idle();
  }

  destroy(): void {
    this.close();
    this.#parts.journal.close();
  }
}
