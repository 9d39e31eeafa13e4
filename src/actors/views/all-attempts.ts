/**
 * All attempts of a run, as far as they are kept. The last one is told by the run itself, and not kept once more where it
 * succeeded at once, was cancelled or is running. Pure.
 */
import { type AttemptView, MAX_ATTEMPTS_KEPT } from '../records.ts';
import { isTerminal } from '../runs/run-states.ts';
import type { RunView } from './run-view.ts';

export function allAttempts(run: RunView): readonly AttemptView[] {
  const { attempt, attempts, state, error, startedAtMs, endedAtMs, durationMs } = run;
  const over = isTerminal(state);
  if (attempt === 0 || attempts.at(-1)?.attempt === attempt || !(over || state === 'running'))
    return attempts;
  // Of a run that was told in one piece, the start may be that of an attempt before.
  const began = over && endedAtMs !== null && durationMs !== null ? endedAtMs - durationMs : startedAtMs;
  if (began === null) return attempts;
  const last: AttemptView = { attempt, startedAtMs: began, endedAtMs, state, error: over ? error : null };
  return [...attempts.slice(-(MAX_ATTEMPTS_KEPT - 1)), last];
}
