/**
 * What happens to a run when its state changes: the one way through `transition`, into the journal, into the
 * counters of its task and of bytes, and to those who wait for it. Where the run stands meanwhile is not known here.
 */
import type { Clock } from '../kernel/clock.ts';
import { ColibriError, type ErrorData, withoutStack } from '../kernel/errors.ts';
import type { RunEvent } from '../records.ts';
import type { Journal } from './journal.ts';
import type { LiveBytes } from './live-bytes.ts';
import type { Run, Writable } from './run.ts';
import { type RunState, transition } from './run-states.ts';

export interface LifecycleOptions {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly bytes: LiveBytes;
  /** The run of a step has begun, is over, or waits for its task to come back. */
  readonly onStep: (run: Run) => void;
}

/** What is told of a transition beside the state: filled here, and only read after that. */
type EventPart = Writable<Partial<RunEvent>>;

export class Lifecycle {
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #bytes: LiveBytes;
  readonly #onStep: (run: Run) => void;
  #steps = 0;

  constructor({ clock, journal, bytes, onStep }: LifecycleOptions) {
    this.#clock = clock;
    this.#journal = journal;
    this.#bytes = bytes;
    this.#onStep = onStep;
  }

  /** Runs of steps that are ready or running: what waits out a backoff, or for its task, is in nobody's way. */
  get steps(): number {
    return this.#steps;
  }

  created(run: Run): void {
    this.#bytes.enter(run);
    this.due(run);
    this.#noteCreation(run);
  }

  /** It is to begin later: until then it counts for nothing at its task. */
  delayed(run: Run): void {
    this.#bytes.enter(run);
    this.#noteCreation(run);
  }

  /** It is to begin now, or as soon as it may. */
  due(run: Run): void {
    const { task } = run;
    task.queued++;
    if (!run.overlaps) return;
    task.live++;
    if (run.catchUp) task.catchUps++;
  }

  /** The run of a flow keeps something else of itself. */
  noted(run: Run, note: string): void {
    run.note = note;
    this.#bytes.weigh(run);
    this.#journal.note(run, this.#clock.wallMs(), { note });
  }

  /** It is in the store alone from here on. */
  left(run: Run): void {
    this.#bytes.leave(run, true);
  }

  #noteCreation(run: Run): void {
    if (run.noted && this.#tellsCreation(run)) this.#journal.note(run, run.createdAtMs, creationOf(run));
  }

  /** What outlives the process; and what is to be held for a run from now on, not from its start. */
  #tellsCreation(run: Run): boolean {
    return this.#journal.durable || run.adopts !== null;
  }

  /** The journal has it already, and it was accepted where it is not pending; `waits`: it is not `due` yet. */
  restored(run: Run, waits: boolean): void {
    this.#bytes.enter(run);
    if (run.state !== 'pending') this.#bytes.accept(run);
    this.#steps += stepsIn(run);
    if (waits) return;
    this.due(run);
    if (run.state !== 'running') return;
    run.task.queued--;
    run.task.active++;
  }

  ready(run: Run): void {
    if (run.state === 'pending') this.#bytes.accept(run);
    if (this.#journal.durable || run.attempt > 0) this.#move(run, 'ready');
    else this.#pass(run, 'ready');
    this.answerAdmission(run);
  }

  /** Who waits for the run to be accepted is answered when it is kept. */
  answerAdmission(run: Run): void {
    const { admission } = run;
    if (admission === null) return;
    run.admission = null;
    this.#journal.whenKept(run, () => admission.ok({ run: run.id, ended: null }));
  }

  /** A slot took it. */
  started(run: Run): void {
    const now = this.#clock.wallMs();
    const first = run.attempt === 0;
    run.attempt++;
    const past = run.ownPast;
    past.startedAtMs = now;
    past.progress = null;
    run.task.queued--;
    run.task.active++;
    // A flow again stands for an instant long ago, and was asked for now.
    const dueAtMs = isAskedFor(run) ? Math.max(run.dueAtMs, run.createdAtMs) : run.dueAtMs;
    const lagMs = Math.max(0, now - dueAtMs);
    let more: EventPart | undefined;
    if (first) {
      more = this.#tellsCreation(run) ? {} : creationOf(run);
      more.lagMs = lagMs;
    }
    this.#move(run, 'running', more);
    if (run.flow !== null) this.#onStep(run);
  }

  /** It has left its slot; what becomes of it is said next. */
  stopped(run: Run, durationMs: number | null, error: ErrorData | null): void {
    run.task.active--;
    const past = run.ownPast;
    past.durationMs = durationMs;
    past.error = error;
  }

  retrying(run: Run, waitMs: number): void {
    const now = this.#clock.wallMs();
    const past = run.ownPast;
    const { error } = past;
    const dueAtMs = now + waitMs;
    past.retryAtMs = dueAtMs;
    this.#attemptOver(run, 'failed', now);
    run.task.queued++;
    this.#move(run, 'retrying', { error, durationMs: past.durationMs ?? 0, dueAtMs, ...fileOf(run) });
  }

  interrupted(run: Run): void {
    const past = run.ownPast;
    const { error } = past;
    past.interruptions++;
    if (isExcused(error)) past.excused++;
    this.#attemptOver(run, 'interrupted', this.#clock.wallMs());
    run.task.queued++;
    this.#move(run, 'interrupted', { error });
  }

  /** Its task is not in the config any more: it is kept for when it is again. */
  orphaned(run: Run): void {
    this.#move(run, 'orphaned');
    if (run.flow !== null) this.#onStep(run);
  }

  /** It is over. `dead`: and kept as a dead letter. */
  ended(run: Run, state: RunState, dead = false): void {
    const { task, ownPast: past } = run;
    const { durationMs, result, error } = past;
    const now = this.#clock.wallMs();
    const unsaid = run.attempt === 0 && run.noted && !this.#tellsCreation(run);
    if (state === 'failed' && run.state === 'running') this.#attemptOver(run, 'failed', now);
    if (run.state !== 'running') task.queued--;
    past.endedAtMs = now;
    past.retryAtMs = null;
    past.progress = null;
    this.#bytes.leave(run, run.state === 'pending');
    this.#pass(run, state);
    // Field by field: a spread of what may be there makes three objects for one, of each run.
    const more: EventPart = unsaid ? creationOf(run) : {};
    if (run.mark !== null) Object.assign(more, { mark: run.mark }, fileOf(run));
    if (durationMs !== null) more.durationMs = durationMs;
    if (result !== null) more.result = result;
    if (error !== null) more.error = error;
    if (dead) more.dead = true;
    if (state === 'skipped' && isAskedFor(run)) more.asked = true;
    if (run.flow !== null) more.flow = run.flow;
    if (run.scan) Object.assign(more, scanEnd(run));
    this.#journal.note(run, now, more);
    task.lastState = state;
    task.lastEndedAtMs = now;
    if (run.overlaps) {
      task.live--;
      if (run.catchUp) task.catchUps--;
    }
    if (run.flow !== null) this.#onStep(run);
    this.#answer(run, error);
  }

  /** `error`: of its end, with the stack: who waits may be the author of the handler. */
  #answer(run: Run, error: ErrorData | null): void {
    if (run.waiters !== null) {
      const view = run.view();
      const ended = view.error === error ? view : { ...view, error };
      const { waiters } = run;
      run.waiters = null;
      this.#journal.whenKept(run, () => {
        for (const answer of waiters) answer.ok({ run: run.id, ended });
      });
    }
    run.admission?.fail(new ColibriError('cancelled', `${run.id} ended as ${run.state} before it had room`));
    run.admission = null;
  }

  /** What is kept of an attempt goes without the stack of its error: that is for the log, and goes there now. */
  #attemptOver(run: Run, state: RunState, now: number): void {
    const past = run.ownPast;
    past.error = withoutStack(past.error);
    run.rememberAttempt(state, now);
    this.#bytes.weigh(run);
  }

  /** A move between states that are not the end. */
  #move(run: Run, state: RunState, more?: Partial<RunEvent>): void {
    this.#pass(run, state);
    if (run.noted) this.#journal.note(run, this.#clock.wallMs(), more);
  }

  #pass(run: Run, state: RunState): void {
    this.#steps -= stepsIn(run);
    transition(run, state);
    this.#steps += stepsIn(run);
  }
}

/** 1 for the run of a step that is ready or running. */
function stepsIn({ flow, state }: Run): number {
  return flow !== null && (state === 'ready' || state === 'running') ? 1 : 0;
}

/** Another run ended the thread: it pays for it. */
export function isExcused(error: ErrorData | null): boolean {
  return error?.code === 'thread-lost-by-another';
}

function creationOf(run: Run): EventPart {
  const { createdAtMs, dueAtMs, mark, flow, note, adopts, effectiveInput: input } = run;
  const event = originOf(run);
  if (dueAtMs !== createdAtMs) event.dueAtMs = dueAtMs;
  if (input !== '{}') event.input = input;
  if (mark !== null) event.mark = mark;
  if (flow !== null) event.flow = flow;
  if (note !== null) event.note = note;
  if (adopts !== null) event.adopts = adopts;
  return event;
}

/** How it came to be; of a schedule, which of its instants it stands for. */
function originOf({ origin, createdAtMs, dueAtMs }: Run): EventPart {
  const event: EventPart = { origin, createdAtMs };
  if (origin === 'schedule') event.occurrenceMs = dueAtMs;
  return event;
}

/** By a user, who has its id and counts on it. */
function isAskedFor({ origin }: Run): boolean {
  return origin === 'manual' || origin === 'replay';
}

function fileOf(run: Run): { readonly file?: string } {
  const { file } = run;
  return file === null ? {} : { file };
}

/** A scan is noted only at its end. One that found nothing new, or that another scan made needless, is quiet. */
function scanEnd(run: Run): EventPart {
  const { result } = run.ownPast;
  const found = result === null ? null : (JSON.parse(result) as { accepted?: number; skipped?: number });
  const nothing = run.state === 'skipped' || (run.state === 'success' && found?.accepted === 0);
  const quiet = nothing && !run.noted;
  const event = originOf(run);
  if (quiet) event.quiet = true;
  return event;
}
