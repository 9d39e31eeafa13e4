/**
 * From rows of the journal to what the port speaks of. Pure. A disk may have changed bytes that nothing checks: a text
 * which cannot be read is as good as none, so that one row does not hold up the others.
 */
import type { ErrorData } from '../../kernel/errors.ts';
import type {
  AttemptView,
  AuditEntry,
  RunOrigin,
  StoredLetter,
  StoredRun,
  StoredStep,
} from '../../records.ts';
import { RUN_STATES, RunState } from '../../runs/run-states.ts';
import type { RunView } from '../../views/run-view.ts';
import type { Row, SqlValue } from './database.ts';

export function viewOf(row: Row): RunView {
  return {
    ...runOf(row),
    endedAtMs: row.ended_ms as number | null,
    durationMs: row.duration_ms as number | null,
    dueAtMs: row.due_ms as number | null,
    result: row.result as string | null,
    ...(row.forgotten === 1 ? { forgotten: true as const } : {}),
    progress: null,
  };
}

export function storedRunOf(row: Row): StoredRun {
  return {
    ...runOf(row),
    interruptions: row.interruptions as number,
    dueAtMs: dueOf(row),
    mark: row.mark as string | null,
  };
}

export function storedStepOf(row: Row): StoredStep {
  return {
    run: row.run as string,
    flow: row.flow as string,
    state: stateOf(row),
    startedAtMs: row.started_ms as number | null,
    endedAtMs: row.ended_ms as number | null,
    error: parsed<ErrorData>(row.error),
  };
}

export function letterOf(row: Row): StoredLetter {
  return {
    run: row.run as string,
    task: row.task as string,
    dueAtMs: dueOf(row),
    diedAtMs: row.ended_ms as number,
    attempts: row.attempt as number,
    input: inputOf(row),
    mark: row.mark as string | null,
    error: parsed<ErrorData>(row.error),
  };
}

export function auditOf(row: Row): AuditEntry {
  return {
    atMs: row.at_ms as number,
    actor: row.actor as string,
    action: row.action as string,
    target: row.target as string | null,
    fields: parsed<Record<string, unknown>>(row.fields) ?? {},
  };
}

export function attemptsOf(text: SqlValue | undefined): readonly AttemptView[] {
  const attempts = parsed<AttemptView[]>(text);
  return Array.isArray(attempts) ? attempts : [];
}

/** A page of runs or letters: at most so many, and no more after so many code units of text. */
export const PAGE_ROWS = 500;
const PAGE_TEXT = 1024 * 1024;

/** Rows up to the bounds of a page, and whether there are more. */
export function pageOf(found: Iterable<Row>): { readonly rows: readonly Row[]; readonly more: boolean } {
  const rows: Row[] = [];
  let text = 0;
  for (const row of found) {
    if (rows.length === PAGE_ROWS || text > PAGE_TEXT) return { rows, more: true };
    rows.push(row);
    text += textOf(row);
  }
  return { rows, more: false };
}

/** Code units of text in a row: what sending it costs. */
function textOf(row: Row): number {
  let text = 0;
  for (const value of Object.values(row)) if (typeof value === 'string') text += value.length;
  return text;
}

/** What is said alike of a run that is shown and of one that is taken over. */
function runOf(row: Row) {
  return {
    run: row.run as string,
    task: row.task as string,
    state: stateOf(row),
    attempt: row.attempt as number,
    origin: row.origin as RunOrigin,
    createdAtMs: row.created_ms as number,
    startedAtMs: row.started_ms as number | null,
    input: inputOf(row),
    error: parsed<ErrorData>(row.error),
    attempts: attemptsOf(row.attempts),
    flow: row.flow as string | null,
    note: row.note as string | null,
  };
}

function dueOf(row: Row): number {
  return (row.due_ms ?? row.created_ms) as number;
}

function inputOf(row: Row): string {
  return (row.input as string | null) ?? '{}';
}

/** Of one that is not known nothing can be said but that it was not carried through. */
export function stateOf({ state }: Row): RunState {
  return RUN_STATES.find((known) => known === state) ?? RunState.Interrupted;
}

function parsed<T extends object>(text: SqlValue | undefined): T | null {
  if (typeof text !== 'string') return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as T | null) : null;
  } catch {
    return null;
  }
}
