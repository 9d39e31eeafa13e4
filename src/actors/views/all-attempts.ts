/**
 * All attempts of a run, as far as they are kept, and when it began. The last attempt is told by the run itself, and not kept once
 * more where it succeeded at once, was cancelled or is running. Pure.
 */
import { type AttemptView, MAX_ATTEMPTS_KEPT } from '../records.ts';
import { isTerminal } from '../runs/run-states.ts';
import type { RunView } from './run-view.ts';

/**
 * Of any other run the start of its last attempt, as its result and its error are of that one. The run of a flow is not begun anew
 * by a daemon after: it goes on, and began when its first attempt did.
 */
export function startOf({ note, startedAtMs }: RunView): number | null {
  return sinceOf(note) ?? startedAtMs;
}

/** A flow that goes on keeps when it began: see `FlowNote.sinceMs`. */
function sinceOf(note: string | null): number | null {
  if (note === null) return null;
  try {
    const { sinceMs } = JSON.parse(note) as { readonly sinceMs?: unknown };
    return typeof sinceMs === 'number' ? sinceMs : null;
  } catch {
    return null;
  }
}

export function allAttempts(run: RunView): readonly AttemptView[] {
  const { attempt, attempts, state, error, startedAtMs, endedAtMs } = run;
  const over = isTerminal(state);
  if (attempt === 0 || attempts.at(-1)?.attempt === attempt || !(over || state === 'running'))
    return attempts;
  const began = over ? lastStartOf(run) : startedAtMs;
  if (began === null) return attempts;
  const last: AttemptView = { attempt, startedAtMs: began, endedAtMs, state, error: over ? error : null };
  return [...attempts.slice(-(MAX_ATTEMPTS_KEPT - 1)), last];
}

/** Of the last attempt of a run that is over. */
function lastStartOf({ attempt, attempts, startedAtMs, endedAtMs, durationMs }: RunView): number | null {
  const previous = attempts.at(-1);
  const before = previous?.endedAtMs ?? 0;
  const hasAll = attempt === 1 || previous?.attempt === attempt - 1;
  if (hasAll && startedAtMs !== null && startedAtMs >= before) return startedAtMs;
  // Of a run that was told in one piece, the start may be that of an attempt before.
  if (endedAtMs === null || durationMs === null) return startedAtMs;
  const told = Math.round(endedAtMs - durationMs);
  // And what a flow took is the time of all of them.
  return told >= before ? told : Math.max(before, startedAtMs ?? 0);
}
