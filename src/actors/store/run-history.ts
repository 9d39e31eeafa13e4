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
    dueAtMs: event.dueAtMs ?? null,
    input: event.input ?? before?.input ?? '{}',
    result: event.result ?? null,
    error: withoutStack(event.error ?? (over ? null : (before?.error ?? null))),
    progress: null,
    attempts: attemptsAfter(before, event),
  };
}

function attemptsAfter(before: RunView | undefined, event: RunEvent): readonly AttemptView[] {
  const kept = before?.attempts ?? [];
  const ended =
    event.state === 'retrying' ||
    event.state === 'interrupted' ||
    event.state === 'failed' ||
    (event.state === 'success' && event.attempt > 1);
  if (!ended || event.attempt === 0) return kept;
  if (kept.at(-1)?.attempt === event.attempt) return kept;
  const attempt: AttemptView = {
    attempt: event.attempt,
    startedAtMs: event.durationMs === undefined ? event.atMs : event.atMs - event.durationMs,
    endedAtMs: event.atMs,
    state: event.state === 'retrying' ? 'failed' : event.state,
    error: withoutStack(event.error ?? null),
  };
  return [...kept.slice(-(MAX_ATTEMPTS_KEPT - 1)), attempt];
}
