/**
 * Folds transitions into the view of a run: shared by every store that keeps views. Stacks of errors are for the log and
 * not kept. Pure.
 */
import { withoutStack } from '../kernel/errors.ts';
import { type AttemptView, MAX_ATTEMPTS_KEPT, type RunEvent, type RunView } from '../protocol.ts';
import { isTerminal } from '../runs/run-states.ts';

/** The view after `event`. `before` is undefined for the first event that is known of a run. */
export function foldEvent(before: RunView | undefined, event: RunEvent): RunView {
  const started = event.state === 'running' ? event.atMs : (before?.startedAtMs ?? null);
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
    dueAtMs: over ? null : (event.dueAtMs ?? before?.dueAtMs ?? null),
    input: event.input ?? before?.input ?? '{}',
    result: event.result ?? null,
    error: withoutStack(event.error ?? (over ? null : (before?.error ?? null))),
    progress: null,
    attempts: attemptsAfter(before?.attempts ?? [], event),
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

/** The same list where nothing is added. */
export function attemptsAfter(kept: readonly AttemptView[], event: RunEvent): readonly AttemptView[] {
  if (!endsAttempt(event) || kept.at(-1)?.attempt === event.attempt) return kept;
  const attempt: AttemptView = {
    attempt: event.attempt,
    startedAtMs: event.durationMs === undefined ? event.atMs : event.atMs - event.durationMs,
    endedAtMs: event.atMs,
    state: event.state === 'retrying' ? 'failed' : event.state,
    error: withoutStack(event.error ?? null),
  };
  return [...kept.slice(-(MAX_ATTEMPTS_KEPT - 1)), attempt];
}
