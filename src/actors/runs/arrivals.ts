/**
 * What comes: occurrences that are due, files that a scan found, newcomers that somebody asked for, runs whose time has come. Each
 * goes through the intake and its pool is told of it; while the journal is blocked it waits.
 */
import { ColibriError } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import type { OfferBody } from '../protocol.ts';
import type { Intake, Newcomer } from './intake.ts';
import type { Journal } from './journal.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { PoolDoor } from './pool-door.ts';
import type { DueOccurrence, Postponed } from './postponed.ts';
import type { Run } from './run.ts';
import type { RunTable } from './run-table.ts';

export interface ArrivalsOptions {
  readonly table: RunTable;
  readonly journal: Journal;
  readonly postponed: Postponed;
  readonly intake: Intake;
  readonly lifecycle: Lifecycle;
  readonly door: PoolDoor;
  readonly isClosed: () => boolean;
}

export class Arrivals {
  readonly #options: ArrivalsOptions;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /** A task is due: one run per occurrence, however often this is called for it. */
  due(occurrence: DueOccurrence): void {
    const { table, journal, postponed } = this.#options;
    const { task, id, dueAtMs, origin, catchUp = false } = occurrence;
    if (table.has(id)) return;
    if (journal.blocked) return postponed.due(occurrence);
    this.admit({ task: table.task(task), id, origin, dueAtMs, catchUp, input: null, mark: null }, false);
  }

  /** Answered as `Intake.offer` says. Fails with `no-such-task`, `shutting-down`. */
  offer(body: OfferBody, answer: Answer): void {
    const { table, journal, postponed, intake, door, isClosed } = this.#options;
    if (journal.blocked && !isClosed()) {
      return postponed.call(0, answer, () => this.offer(body, answer));
    }
    intake.offer(table.task(body.task), body.items, answer);
    door.wakeAll();
  }

  /** See `Intake.admit`. */
  admit(newcomer: Newcomer, force: boolean): Run | ColibriError {
    const { intake, door } = this.#options;
    const admitted = intake.admit(newcomer, force);
    if (!(admitted instanceof ColibriError)) door.poolOf(admitted)?.wake();
    return admitted;
  }

  /** A run was to begin later, and its time has come. */
  enter(run: Run): void {
    const { intake, lifecycle, door } = this.#options;
    const decision = intake.decide(run.task, run.catchUp);
    lifecycle.due(run);
    intake.enterDue(run, decision);
    door.poolOf(run)?.wake();
  }
}
