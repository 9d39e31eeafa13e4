/**
 * What becomes of the runs that a daemon of before left behind, in the order they were created:
 *
 *   ready                 ─▶ ready, at its place
 *   pending, to begin later ─▶ waits until it is due
 *   pending               ─▶ through the overlap policy again, or waits for room
 *   retrying              ─▶ retry queue, due when it was
 *   running               ─▶ interrupted: by `on_interrupted`, within the budget of interruptions
 *   interrupted           ─▶ the same, without counting again
 *   orphaned, or its task is gone ─▶ orphaned; ready where the task is there again
 *
 * What was accepted stays accepted: bounds of queues that have become smaller since do not count here.
 */
import type { Clock } from '../kernel/clock.ts';
import { ColibriError, toErrorData } from '../kernel/errors.ts';
import type { StoredLetter, StoredRun } from '../protocol.ts';
import type { DeadLetter } from './dead-letters.ts';
import type { Intake } from './intake.ts';
import type { LaterRuns } from './later-runs.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { ReadyQueue } from './ready-queue.ts';
import type { RetryQueue } from './retry-queue.ts';
import { Run } from './run.ts';
import type { RunTable } from './run-table.ts';
import type { Settlement } from './settlement.ts';
import type { RunsTask } from './task-state.ts';

export interface RestorationParts {
  readonly clock: Clock;
  readonly table: RunTable;
  readonly ready: ReadyQueue;
  readonly retries: RetryQueue;
  readonly later: LaterRuns;
  readonly intake: Intake;
  readonly lifecycle: Lifecycle;
  readonly settlement: Settlement;
  /** Runs that are due and were not accepted: placed when all others are there, whenever they were created. */
  readonly pending: Run[];
}

export function restoreRun(stored: StoredRun, parts: RestorationParts): void {
  const { clock, table, ready, retries, later, intake, lifecycle, settlement, pending } = parts;
  if (table.has(stored.run)) return;
  const run = runOf(stored, table);
  const { gone } = run.task;
  const isPending = run.state === 'pending' && !gone;
  table.add(run);
  lifecycle.restored(run, isPending);
  if (isPending) {
    if (stored.dueAtMs > clock.wallMs()) later.addBack(run);
    else pending.push(run);
    return;
  }
  switch (run.state) {
    case 'running':
      lifecycle.stopped(run, null, toErrorData(lostError(run), 'daemon-lost'));
      return settlement.interrupted(run);
    case 'interrupted':
      return settlement.afterInterruption(run);
    case 'orphaned':
      if (!gone) intake.readmit(run);
      return;
    default:
  }
  if (gone) lifecycle.orphaned(run);
  else if (run.state === 'ready') ready.push(run);
  else retries.add(run, Math.max(0, stored.dueAtMs - clock.wallMs()));
}

/** The pending ones go on: through the overlap policy, with all that was accepted before them. */
export function placePending({ pending, lifecycle, intake }: RestorationParts): void {
  for (const run of pending.splice(0)) {
    lifecycle.due(run);
    intake.restore(run);
  }
}

export function restoredLetter(letter: StoredLetter, table: RunTable): DeadLetter {
  const { run, task, diedAtMs, attempts, input, mark, error } = letter;
  const { spec } = table.taskOrGone(task);
  return { run, spec, diedAtMs, attempts, rawInput: rawInputOf(input, spec, mark), mark, error };
}

function runOf(stored: StoredRun, table: RunTable): Run {
  const { createdAtMs, state, attempt, interruptions, startedAtMs, error, attempts, mark } = stored;
  const task = table.taskOrGone(stored.task);
  const run = new Run({
    id: stored.run,
    task,
    origin: stored.origin,
    createdAtMs,
    dueAtMs: state === 'retrying' ? createdAtMs : stored.dueAtMs,
    input: rawInputOf(stored.input, task.spec, mark),
    mark,
  });
  run.state = state;
  run.attempt = attempt;
  if (attempt > 0) {
    const past = run.ownPast;
    past.interruptions = interruptions;
    past.startedAtMs = startedAtMs;
    past.error = error;
    past.retryAtMs = state === 'retrying' ? stored.dueAtMs : null;
    past.attempts.push(...attempts);
  }
  return run;
}

/** What was stored is what the handler gets. Where that is all the task's own, it stays so when the config changes. */
function rawInputOf(input: string, spec: RunsTask, mark: string | null): string | null {
  if (mark === null && spec.scanJson !== null && input === spec.scanJson) return null;
  return input === spec.withJson ? null : input;
}

function lostError(run: Run): ColibriError {
  return new ColibriError('daemon-lost', `the daemon ended while attempt ${run.attempt} was running`);
}
