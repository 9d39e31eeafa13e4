/**
 * What becomes of the runs that a daemon of before left behind, in the order they were created:
 *
 *   ready                 ─▶ ready, at its place
 *   pending, to begin later ─▶ waits until it is due
 *   pending               ─▶ waits for the run before it, whatever the overlap policy but `allow`, or for room
 *   retrying              ─▶ retry queue, due when it was
 *   running               ─▶ interrupted: by `on_interrupted`, within the budget of interruptions
 *   interrupted           ─▶ the same, without counting again
 *   orphaned, or its task is gone ─▶ orphaned; as pending where the task is there again
 *
 * What was accepted stays accepted: bounds of queues that have become smaller since do not count here.
 */
import type { Clock } from '../kernel/clock.ts';
import { ColibriError, toErrorData } from '../kernel/errors.ts';
import type { StoredLetter, StoredRun } from '../records.ts';
import type { DeadLetter } from './dead-letters.ts';
import type { Intake } from './intake.ts';
import type { LaterRuns } from './later-runs.ts';
import { isExcused, type Lifecycle } from './lifecycle.ts';
import type { ReadyQueue } from './ready-queue.ts';
import type { RetryQueue } from './retry-queue.ts';
import { Run } from './run.ts';
import type { RunTable } from './run-table.ts';
import type { Settlement } from './settlement.ts';
import type { RunsTask, StepLimits } from './task-state.ts';

export interface RestorationParts {
  readonly clock: Clock;
  readonly table: RunTable;
  readonly ready: ReadyQueue;
  readonly retries: RetryQueue;
  readonly later: LaterRuns;
  readonly intake: Intake;
  readonly lifecycle: Lifecycle;
  readonly settlement: Settlement;
  /** Runs that are due and had not begun: placed when all others are there, whenever they were created. */
  readonly waiting: Run[];
  /** What the step of a flow says in place of its task. */
  readonly limitsOf: (run: string, flow: string) => StepLimits | null;
}

export function restoreRun(stored: StoredRun, parts: RestorationParts): void {
  const { clock, table, ready, retries, later, lifecycle, settlement, waiting } = parts;
  if (table.has(stored.run)) return;
  const run = runOf(stored, parts);
  const { gone } = run.task;
  const isPending = run.state === 'pending';
  const waits = !gone && (isPending || run.state === 'orphaned');
  table.add(run);
  lifecycle.restored(run, waits);
  if (waits) {
    if (isPending && stored.dueAtMs > clock.wallMs()) later.addBack(run);
    else waiting.push(run);
    return;
  }
  switch (run.state) {
    case 'running':
      lifecycle.stopped(run, null, toErrorData(lostError(run), 'daemon-lost'));
      return settlement.interrupted(run);
    case 'interrupted':
      return settlement.afterInterruption(run);
    case 'orphaned':
      return;
    default:
  }
  if (gone) lifecycle.orphaned(run);
  else if (run.state === 'ready') ready.push(run);
  else retries.add(run, waitLeftMs(stored, clock.wallMs()));
}

/** Those that had not begun go on, behind all that had. */
export function placeWaiting({ waiting, lifecycle, intake }: RestorationParts): void {
  for (const run of waiting.splice(0)) {
    lifecycle.due(run);
    intake.restore(run);
  }
}

export function restoredLetter(letter: StoredLetter, table: RunTable): DeadLetter {
  const { run, task, dueAtMs, diedAtMs, attempts, input, mark, error } = letter;
  const { spec } = table.taskOrGone(task);
  return { run, spec, dueAtMs, diedAtMs, attempts, rawInput: rawInputOf(input, spec, mark), mark, error };
}

function runOf(stored: StoredRun, { table, limitsOf }: RestorationParts): Run {
  const { createdAtMs, state, attempt, interruptions, startedAtMs, error, attempts, mark, flow } = stored;
  const task = table.taskOrGone(stored.task);
  const run = new Run({
    id: stored.run,
    task,
    origin: stored.origin,
    createdAtMs,
    dueAtMs: state === 'retrying' ? createdAtMs : stored.dueAtMs,
    input: rawInputOf(stored.input, task.spec, mark),
    mark,
    // It cannot be told any more. What is left of a schedule and what was missed since are one catch-up.
    catchUp: stored.origin === 'schedule',
    flow,
    limits: flow === null ? null : limitsOf(stored.run, flow),
    note: stored.note,
  });
  run.state = state;
  run.attempt = attempt;
  if (attempt > 0) {
    const past = run.ownPast;
    past.interruptions = interruptions;
    past.excused = attempts.filter((one) => isExcused(one.error)).length;
    past.startedAtMs = startedAtMs;
    past.error = error;
    past.retryAtMs = state === 'retrying' ? stored.dueAtMs : null;
    past.attempts.push(...attempts);
  }
  return run;
}

/** Never longer than it was planned: the clock may have been set back since, or not be set yet. */
function waitLeftMs({ dueAtMs, attempts }: StoredRun, nowMs: number): number {
  const plannedAtMs = attempts.at(-1)?.endedAtMs ?? nowMs;
  return Math.max(0, dueAtMs - Math.max(nowMs, plannedAtMs));
}

/** What was stored is what the handler gets. Where that is all the task's own, it stays so when the config changes. */
function rawInputOf(input: string, spec: RunsTask, mark: string | null): string | null {
  if (mark === null && spec.scanJson !== null && input === spec.scanJson) return null;
  return input === spec.withJson ? null : input;
}

function lostError(run: Run): ColibriError {
  return new ColibriError('daemon-lost', `the daemon ended while attempt ${run.attempt} was running`);
}
