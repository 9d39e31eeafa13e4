/**
 * What happens to a run when its state changes: the one way through `transition`, into the journal, into the
 * counters of its task, and to those who wait for it. Where the run stands meanwhile is not known here.
 */
import type { Clock } from '../kernel/clock.ts';
import { ColibriError, type ErrorData } from '../kernel/errors.ts';
import type { RunEvent } from '../protocol.ts';
import type { Journal } from './journal.ts';
import type { Run } from './run.ts';
import { type RunState, transition } from './run-states.ts';

export class Lifecycle {
  readonly #clock: Clock;
  readonly #journal: Journal;

  constructor(clock: Clock, journal: Journal) {
    this.#clock = clock;
    this.#journal = journal;
  }

  created(run: Run): void {
    run.task.queued++;
    if (run.overlaps) run.task.live++;
    if (run.scan) return;
    const input = run.effectiveInput;
    this.#journal.note(run, run.createdAtMs, {
      origin: run.origin,
      createdAtMs: run.createdAtMs,
      ...(input === '{}' ? {} : { input }),
      ...(run.mark === null ? {} : { mark: run.mark }),
    });
  }

  ready(run: Run): void {
    this.#move(run, 'ready');
    run.admission?.ok({ run: run.id, ended: null });
    run.admission = null;
  }

  /** A slot took it. */
  started(run: Run): void {
    const now = this.#clock.wallMs();
    const first = run.attempt === 0;
    run.attempt++;
    run.startedAtMs = now;
    run.progress = null;
    run.task.queued--;
    run.task.active++;
    this.#move(run, 'running', first ? { lagMs: Math.max(0, now - run.dueAtMs) } : undefined);
  }

  /** It has left its slot; what becomes of it is said next. */
  stopped(run: Run, durationMs: number, error: ErrorData | null): void {
    run.task.active--;
    run.durationMs = durationMs;
    run.error = error;
  }

  retrying(run: Run, waitMs: number): void {
    const now = this.#clock.wallMs();
    run.rememberAttempt('failed', now);
    run.retryAtMs = now + waitMs;
    run.task.queued++;
    const durationMs = run.durationMs ?? 0;
    const { error, retryAtMs: dueAtMs } = run;
    this.#move(run, 'retrying', { error, durationMs, dueAtMs, ...fileOf(run) });
  }

  interrupted(run: Run): void {
    run.interruptions++;
    run.rememberAttempt('interrupted', this.#clock.wallMs());
    run.task.queued++;
    this.#move(run, 'interrupted', { error: run.error });
  }

  /** It is over. */
  ended(run: Run, state: RunState): void {
    const { task } = run;
    const now = this.#clock.wallMs();
    if (state === 'failed' && run.state === 'running') run.rememberAttempt('failed', now);
    if (run.state !== 'running') task.queued--;
    run.endedAtMs = now;
    run.retryAtMs = null;
    run.progress = null;
    transition(run, state);
    this.#journal.note(run, now, {
      ...(run.mark === null ? {} : { mark: run.mark, ...fileOf(run) }),
      ...(run.durationMs === null ? {} : { durationMs: run.durationMs }),
      ...(run.result === null ? {} : { result: run.result }),
      ...(run.error === null ? {} : { error: run.error }),
      ...(run.scan ? scanEnd(run) : {}),
    });
    task.lastState = state;
    task.lastEndedAtMs = now;
    if (run.overlaps) task.live--;
    this.#answer(run);
  }

  #answer(run: Run): void {
    if (run.waiters !== null) {
      const ended = run.view();
      for (const answer of run.waiters) answer.ok({ run: run.id, ended });
      run.waiters = null;
    }
    run.admission?.fail(new ColibriError('cancelled', `${run.id} ended as ${run.state} before it had room`));
    run.admission = null;
  }

  /** A move between states that are not the end. */
  #move(run: Run, state: RunState, more?: Partial<RunEvent>): void {
    transition(run, state);
    if (!run.scan) this.#journal.note(run, this.#clock.wallMs(), more);
  }
}

function fileOf(run: Run): { readonly file?: string } {
  const { file } = run;
  return file === null ? {} : { file };
}

/** A scan is noted only at its end. One that found nothing new, or that another scan made needless, is quiet. */
function scanEnd(run: Run): Partial<RunEvent> {
  const found =
    run.result === null ? null : (JSON.parse(run.result) as { accepted?: number; skipped?: number });
  const quiet = run.state === 'skipped' || (run.state === 'success' && found?.accepted === 0);
  return { origin: run.origin, createdAtMs: run.createdAtMs, ...(quiet ? { quiet: true } : {}) };
}
