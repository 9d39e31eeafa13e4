/**
 * What a user asks for: triggers, checked, made into runs now or for later, and answered when that is kept; and dead letters that
 * are to run again.
 */
import type { Clock } from '../kernel/clock.ts';
import { ColibriError } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import type { DeadLetterChoice, TriggerBody } from '../protocol.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Intake, Newcomer } from './intake.ts';
import type { Journal } from './journal.ts';
import type { Lifecycle } from './lifecycle.ts';
import { replayIdOf, triggerIdMaker } from './occurrence.ts';
import type { Postponed } from './postponed.ts';
import type { Run } from './run.ts';
import { isTerminal } from './run-states.ts';
import type { RunTable } from './run-table.ts';
import type { TaskState } from './task-state.ts';

export interface TriggersOptions {
  readonly clock: Clock;
  readonly table: RunTable;
  readonly journal: Journal;
  readonly postponed: Postponed;
  readonly intake: Intake;
  readonly lifecycle: Lifecycle;
  readonly dead: DeadLetters;
  readonly admit: (newcomer: Newcomer, force: boolean) => Run | ColibriError;
  readonly isClosed: () => boolean;
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** What the run of a flow begins with that is one again. */
export interface TakenOver {
  readonly note: string;
  readonly adopts: readonly string[];
}

/** Longest payload of a trigger, code units of JSON text: larger data belongs into a file. */
export const PAYLOAD_LIMIT = 256 * 1024;

export class Triggers {
  readonly #options: TriggersOptions;
  readonly #nextId = triggerIdMaker();

  constructor(options: TriggersOptions) {
    this.#options = options;
  }

  /**
   * Answered with the run's id once it is accepted and the store has it: at once, or where a full queue blocks when
   * there is room; with `wait` once it is over.
   * Fails with `no-such-task`, `overlap-refused`, `queue-full`, `input-invalid`, `store-unavailable`, `shutting-down`.
   */
  trigger(body: TriggerBody, answer: Answer, takenOver?: TakenOver): void {
    const { table, journal, postponed, intake, isClosed, admit } = this.#options;
    const task = table.task(body.task);
    const { payload, force } = body;
    if (payload !== null && payload.length > PAYLOAD_LIMIT) {
      const size = `expected a payload of at most ${PAYLOAD_LIMIT} characters of JSON, got ${payload.length}`;
      throw new ColibriError('input-invalid', `${size}; put large data into a file and pass its path`);
    }
    journal.expectWritable();
    if (journal.blocked && !isClosed()) {
      return postponed.call(payload?.length ?? 0, answer, () => this.trigger(body, answer, takenOver));
    }
    const nowMs = this.#options.clock.wallMs();
    const newcomer: Newcomer = {
      task,
      id: this.#nextId(task.spec.name, nowMs),
      origin: 'manual',
      dueAtMs: body.dueAtMs ?? nowMs,
      input: payload,
      mark: null,
      ...takenOver,
    };
    const isLater = newcomer.dueAtMs > nowMs;
    if (force && isLater) {
      throw new ColibriError(
        'input-invalid',
        'expected force or a later time, got both: whether the task runs is seen at that time',
      );
    }
    if (force && task.live > 0) {
      this.#options.warn('overlap overridden by force', { task: task.spec.name, run: newcomer.id });
    }
    const run = isLater ? intake.admitLater(newcomer) : admit(newcomer, force);
    if (run instanceof ColibriError)
      answer.fail(run.code === 'overlap-refused' ? this.#withForce(run, task) : run);
    else this.#answerLater(run, body, answer);
  }

  /** Answered when a run that is live is over and the store has it; with `ended` null where none of this id is live. */
  wait(id: string, answer: Answer): void {
    const { table, journal } = this.#options;
    const run = table.get(id);
    if (run === undefined) return answer.ok({ run: id, ended: null });
    // Over, and the store lacks its end.
    if (isTerminal(run.state)) return journal.whenKept(run, () => answer.ok({ run: id, ended: run.view() }));
    addWaiter(run, answer);
  }

  /**
   * Runs dead letters again, each as a new run; what is refused stays a dead letter. Throws `store-unavailable`.
   */
  replay(choice: DeadLetterChoice): { runs: string[]; refused: number } {
    const { clock, table, journal, dead, admit } = this.#options;
    journal.expectWritable();
    return dead.replay(choice, ({ run: id, spec, rawInput: input, mark, dueAtMs: wasDueAtMs }) => {
      if (!table.hasTask(spec.name)) return null;
      const task = table.task(spec.name);
      // A flow again is for the same instant, and says so to its steps.
      const dueAtMs = task.spec.pool === 'flow' ? wasDueAtMs : clock.wallMs();
      const run = admit({ task, id: replayIdOf(id), origin: 'replay', dueAtMs, input, mark }, true);
      return run instanceof ColibriError ? null : run.id;
    });
  }

  /** With the run that is in the way, as far as there is one. */
  #withForce({ code, message }: ColibriError, { spec }: TaskState): ColibriError {
    const other = this.#options.table.inTheWayOf(spec.name);
    const end = other === undefined ? 'its end' : `the end of ${other.id}`;
    return new ColibriError(code, `${message}; wait for ${end}, or run it beside that with --force`);
  }

  #answerLater(run: Run, { wait }: TriggerBody, answer: Answer): void {
    const { intake, lifecycle } = this.#options;
    if (wait) return addWaiter(run, answer);
    run.admission = answer;
    if (run.state !== 'pending' || intake.isWaitingItsTurn(run)) lifecycle.answerAdmission(run);
  }
}

function addWaiter(run: Run, answer: Answer): void {
  run.waiters ??= [];
  run.waiters.push(answer);
}
