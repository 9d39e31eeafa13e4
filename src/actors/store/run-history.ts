/**
 * Folds transitions into the view of a run: shared by every store that keeps views. Stacks of errors are for the log and
 * not kept. Pure.
 */
import { withoutStack } from '../kernel/errors.ts';
import { type AttemptView, MAX_ATTEMPTS_KEPT, type RunEvent } from '../records.ts';
import { isTerminal } from '../runs/run-states.ts';
import type { RunView } from '../views/run-view.ts';

/** The view after `event`. `before` is undefined for the first event that is known of a run. */
export function foldEvent(before: RunView | undefined, event: RunEvent): RunView {
  // The run of a flow says again that it is running, with what it keeps of itself.
  const begins = event.state === 'running' && before?.state !== 'running';
  const started = begins ? event.atMs : (before?.startedAtMs ?? null);
  const over = isTerminal(event.state);
  return {
    run: event.run,
    task: event.task,
    state: event.state,
    attempt: event.attempt,
    origin: event.origin ?? before?.origin ?? 'manual',
    createdAtMs: event.createdAtMs ?? before?.createdAtMs ?? event.atMs,
    startedAtMs: started ?? (over && event.durationMs !== undefined ? event.atMs - event.durationMs : null),
    endedAtMs: over ? event.atMs : null,
    durationMs: event.durationMs ?? before?.durationMs ?? null,
    dueAtMs: event.dueAtMs ?? before?.dueAtMs ?? null,
    input: event.input ?? before?.input ?? '{}',
    result: event.result ?? null,
    error: withoutStack(event.error ?? (over ? null : (before?.error ?? null))),
    progress: null,
    attempts: attemptsAfter(before?.attempts ?? [], event, before?.startedAtMs ?? null),
    flow: event.flow ?? before?.flow ?? null,
    note: event.note ?? before?.note ?? null,
  };
}

/** True for a transition that adds to the attempts that are kept: a run that succeeds at once has nothing to tell. */
export function endsAttempt({ state, attempt }: RunEvent): boolean {
  if (attempt === 0) return false;
  return (
    state === 'retrying' ||
    state === 'interrupted' ||
    state === 'failed' ||
    (state === 'success' && attempt > 1)
  );
}

/** The same list where nothing is added. `startedAtMs`: of the run as it is kept, before this event. */
export function attemptsAfter(
  kept: readonly AttemptView[],
  event: RunEvent,
  startedAtMs: number | null,
): readonly AttemptView[] {
  const last = kept.at(-1);
  if (!endsAttempt(event) || last?.attempt === event.attempt) return kept;
  const { attempt, atMs, durationMs, state, error = null } = event;
  // Of one that was cut off it is not known how long it took; what was kept may be the start of the attempt before.
  const beforeMs = last?.endedAtMs ?? 0;
  const began = startedAtMs !== null && startedAtMs >= beforeMs ? startedAtMs : atMs;
  // What a flow took is the time of all its attempts.
  const told = durationMs === undefined || atMs - durationMs < beforeMs ? began : atMs - durationMs;
  const view: AttemptView = {
    attempt,
    startedAtMs: told,
    endedAtMs: atMs,
    state: state === 'retrying' ? 'failed' : state,
    error: withoutStack(error),
  };
  return [...kept.slice(-(MAX_ATTEMPTS_KEPT - 1)), view];
}
