/** One transition into the rows of its run. The transaction, and what becomes of it after an error, are the caller's. */
import { withoutStack } from '../../kernel/errors.ts';
import type { RunEvent } from '../../records.ts';
import { ownFileOf } from '../../results/result-reference.ts';
import { isTerminal } from '../../runs/run-states.ts';
import { attemptsAfter, endsAttempt, foldEvent } from '../run-history.ts';
import type { JournalBounds } from './bounds.ts';
import { type Database, type Row, SqliteCode, sqliteCode } from './database.ts';
import type { LastEnds } from './last-ends.ts';
import { attemptsOf } from './rows.ts';
import type { Statements } from './statements.ts';
import type { TaskMarks } from './task-marks.ts';

export interface Connection {
  readonly database: Database;
  readonly statements: Statements;
  readonly bounds: JournalBounds;
  readonly marks: TaskMarks;
  readonly ends: LastEnds;
}

export function applyEvent(event: RunEvent, connection: Connection): void {
  const { statements } = connection;
  const { task, state, atMs, occurrenceMs } = event;
  if (occurrenceMs !== undefined) {
    statements.occurrenceHandled.run(Math.floor(occurrenceMs), Math.floor(atMs), task);
  }
  if (event.quiet === true) return;
  if (event.origin !== undefined && insert(event, connection)) return;
  const over = isTerminal(state);
  if (!update(event, connection)) {
    insert(event, connection);
  } else {
    keepFile(event, connection);
    if (over) countEnd(event, connection);
    if (endsAttempt(event)) keepAttempt(event, statements);
  }
}

/** False where there is a live run of this id: then it is one more transition of that one. */
function insert(event: RunEvent, connection: Connection): boolean {
  try {
    insertFirst(event, connection);
  } catch (error) {
    if (sqliteCode(error) !== SqliteCode.Constraint) throw error;
    const { statements, bounds } = connection;
    const old = statements.show.get(event.run);
    if (old === undefined) throw error;
    if (old.ended_ms === null) return false;
    // A file that is offered again: what its run was before makes room.
    const wasHeld = isHeld(event.run, connection);
    const wasDead = Number(statements.letterDropped.run(event.run).changes);
    statements.deleteRun.run(event.run);
    if (!wasHeld) bounds.count(wasDead === 1 ? 0 : -1, old.result === null ? 0 : -1);
    insertFirst(event, connection);
  }
  keepFile(event, connection);
  for (const run of event.adopts ?? []) {
    connection.statements.addHold.run(event.run, run);
    holdSteps(connection.statements.holdStep.all(run), connection, -1);
  }
  if (isTerminal(event.state)) countEnd(event, connection);
  return true;
}

function insertFirst(event: RunEvent, { statements, bounds }: Connection): void {
  const view = foldEvent(undefined, event);
  const held = view.flow !== null && statements.isLive.get(view.flow) !== undefined;
  if (held) bounds.holds = true;
  statements.insertRun.run(
    view.run,
    view.task,
    view.state,
    view.attempt,
    event.state === 'interrupted' ? 1 : 0,
    view.origin,
    Math.floor(view.createdAtMs),
    whole(event.dueAtMs),
    whole(view.startedAtMs),
    whole(view.endedAtMs),
    view.durationMs,
    event.mark ?? null,
    view.input === '{}' ? null : view.input,
    view.result,
    view.error === null ? null : JSON.stringify(view.error),
    view.attempts.length === 0 ? null : JSON.stringify(view.attempts),
    view.flow,
    view.note,
    event.dead === true ? 1 : 0,
    held ? 1 : 0,
  );
}

/** False where the run is not known, or over. */
function update(event: RunEvent, { statements }: Connection): boolean {
  const { run, state, attempt, atMs, durationMs = null } = event;
  const note = event.note ?? null;
  if (state === 'running') {
    return statements.runBegan.run(attempt, Math.floor(atMs), note, run).changes === 1;
  }
  const error = event.error == null ? null : JSON.stringify(withoutStack(event.error));
  if (!isTerminal(state)) {
    const interruptions = state === 'interrupted' ? 1 : 0;
    const { changes } = statements.runMoved.run(
      state,
      attempt,
      whole(event.dueAtMs),
      durationMs,
      error,
      interruptions,
      run,
    );
    return changes === 1;
  }
  const startedAtMs = durationMs === null ? null : Math.floor(atMs - durationMs);
  const dead = event.dead === true ? 1 : 0;
  const { changes } = statements.runEnded.run(
    state,
    attempt,
    Math.floor(atMs),
    startedAtMs,
    durationMs,
    event.result ?? null,
    error,
    dead,
    note,
    run,
  );
  return changes === 1;
}

function countEnd(event: RunEvent, connection: Connection): void {
  const { bounds, marks, statements, ends } = connection;
  ends.note(event);
  // The step of a flow that is not over counts when that one is.
  if (event.flow !== undefined && isHeld(event.run, connection)) return;
  bounds.count(event.dead === true ? 0 : 1, event.result == null ? 0 : 1);
  if (bounds.holds && event.flow === undefined) {
    // The flow itself goes after its steps.
    const agesMs = Math.floor(event.atMs) - 1;
    holdSteps(statements.releaseSteps.all(agesMs, event.run), connection, 1);
    for (const { run } of statements.dropHolds.all(event.run)) {
      holdSteps(statements.releaseStep.all(agesMs, run!), connection, 1);
    }
  }
  if (event.mark !== undefined && (event.state === 'success' || event.state === 'failed')) {
    marks.add(event.task, event.mark);
  }
}

function keepFile({ run, result }: RunEvent, { statements, bounds }: Connection): void {
  const file = ownFileOf(run, result);
  if (file === null) return;
  statements.setFile.run(file.name, file.bytes, run);
  bounds.lookAtFiles();
}

function isHeld(run: string, { statements }: Connection): boolean {
  return statements.held.get(run)?.held === 1;
}

/** Steps that have come to be held (−1), or are not any more (1). */
function holdSteps(rows: readonly Row[], { bounds }: Connection, sign: 1 | -1): void {
  if (sign < 0) bounds.holds = true;
  else bounds.lookAtFiles();
  for (const { over = 1, kept } of rows) {
    bounds.count(over === 1 ? sign : 0, kept === 1 ? sign : 0);
  }
}

function keepAttempt(event: RunEvent, { attempts, setAttempts }: Statements): void {
  const row = attempts.get(event.run);
  const kept = attemptsOf(row?.attempts);
  const after = attemptsAfter(kept, event, (row?.started_ms ?? null) as number | null);
  if (after !== kept) setAttempts.run(JSON.stringify(after), event.run);
}

function whole(ms: number | null | undefined): number | null {
  return ms == null ? null : Math.floor(ms);
}
