/**
 * What must hold between what handlers did and what the daemon says of it, whatever was killed in between. Pure.
 *
 *   begun            an attempt begins at most once, and the daemon knew of it before
 *   done             after an attempt that was done, another one begins only where the daemon says `interrupted`
 *   success          what the daemon calls done was done
 */
import type { RunDocument } from '../../src/actors/control/documents.ts';
import { MAX_ATTEMPTS_KEPT } from '../../src/actors/records.ts';
import { INTERRUPTION_BUDGET } from '../../src/actors/runs/settlement.ts';
import { type LedgerLine, LedgerMark } from './ledger.ts';

export interface Violation {
  /** Of the rules that the campaign looks after. */
  readonly rule: string;
  readonly text: string;
}

/** A run whose handler keeps the ledger, looked at between two readings of it. */
export interface Look {
  readonly run: string;
  /** Lines that were there before the daemon was asked. */
  readonly before: readonly LedgerLine[];
  /** Null: the daemon does not know it. */
  readonly view: RunDocument | null;
  /** Lines that were there after its answer. */
  readonly after: readonly LedgerLine[];
  /** Fails whatever is done. */
  readonly doomed: boolean;
}

export const TERMINAL: ReadonlySet<string> = new Set(['success', 'failed', 'skipped', 'cancelled']);

/** Marks of one attempt: the last one, and how often it began. */
interface Marks {
  readonly last: LedgerMark;
  readonly begins: number;
}

/** By the last mark of an attempt that is not the last: what the daemon may say of it. */
const MAY_GO_ON: Readonly<Record<LedgerMark, readonly string[]>> = {
  begin: ['interrupted'],
  end: ['interrupted'],
  fail: ['failed', 'interrupted'],
  cut: ['failed', 'interrupted'],
};

export function runViolations(look: Look): Violation[] {
  const { run, view, before } = look;
  const begun = marksOf(before);
  const found: Violation[] = [];
  const say = (rule: string, text: string) => found.push({ rule, text: `${run}: ${text}` });
  for (const [attempt, { begins }] of begun) {
    if (begins > 1) say('begun-twice', `attempt ${attempt} began ${begins} times`);
  }
  if (view === null) {
    if (begun.size > 0) say('unknown-run', 'it began, and the daemon does not know it');
    return found;
  }
  const newest = Math.max(0, ...begun.keys());
  if (newest > view.attempt) {
    say('began-unrecorded', `attempt ${newest} began, the daemon knows of ${view.attempt}`);
  }
  for (const [attempt, { last }] of begun) {
    if (attempt >= newest || attempt <= view.attempt - MAX_ATTEMPTS_KEPT) continue;
    const told = view.attempts.find((one) => one.attempt === attempt)?.state ?? 'nothing';
    if (!MAY_GO_ON[last].includes(told)) {
      const rule = last === LedgerMark.End ? 'done-twice' : 'gone-on-unexplained';
      say(rule, `attempt ${attempt} ended its ledger with ${last}, ${newest} began, the daemon says ${told}`);
    }
  }
  found.push(...endViolations(look));
  return found;
}

/** Of a run that the daemon says is over. `after`: empty for a handler that keeps no ledger and did not succeed. */
export function endViolations({ run, view, after, doomed }: Omit<Look, 'before'>): Violation[] {
  if (view === null || !TERMINAL.has(view.state)) return [];
  const last = marksOf(after).get(view.attempt)?.last ?? 'nothing';
  const interruptions = view.attempts.filter(({ state }) => state === 'interrupted').length;
  switch (view.state) {
    case 'success':
      if (last === LedgerMark.End) return [];
      return [
        {
          rule: 'success-undone',
          text: `${run}: success, and the ledger of attempt ${view.attempt} ends with ${last}`,
        },
      ];
    case 'failed':
      if (doomed || interruptions > INTERRUPTION_BUDGET) return [];
      return [
        {
          rule: 'failed-unexplained',
          text: `${run}: failed after ${view.attempt} attempts, ${interruptions} of them interrupted: ${view.error?.message}`,
        },
      ];
    default:
      // Of a flow, or a list, that is given up, a step is cut wherever it is.
      return last === 'nothing' || (view.state === 'cancelled' && run.includes('/'))
        ? []
        : [{ rule: 'done-but-dropped', text: `${run}: ${view.state}, and its ledger ends with ${last}` }];
  }
}

function marksOf(lines: readonly LedgerLine[]): Map<number, Marks> {
  const marks = new Map<number, Marks>();
  for (const { attempt, mark } of lines) {
    const begins = (marks.get(attempt)?.begins ?? 0) + (mark === LedgerMark.Begin ? 1 : 0);
    marks.set(attempt, { last: mark, begins });
  }
  return marks;
}

/** Runs that stand as running although their attempt began before this daemon did; a flow itself may have begun long ago. */
export function ghostViolations(running: readonly RunDocument[], spawnedAtMs: number): Violation[] {
  return running
    .map((run) => ({ ...run, started_at: run.attempts.at(-1)?.started_at ?? run.started_at }))
    .filter(({ started_at }) => started_at === null || Date.parse(started_at) < spawnedAtMs)
    .map(({ run, started_at }) => ({
      rule: 'left-running',
      text: `${run}: running since ${started_at}, before this daemon began (${new Date(spawnedAtMs).toISOString()})`,
    }));
}

/** Seconds that a schedule of every second, all of whose missed occurrences are run, has left out. */
export function scheduleViolations(task: string, runs: Iterable<string>, untilMs: number): Violation[] {
  const seconds = [...runs]
    .filter((run) => run.startsWith(`${task}@`))
    .map((run) => Date.parse(run.slice(task.length + 1)))
    .filter((atMs) => atMs <= untilMs)
    .sort((a, b) => a - b);
  const found: Violation[] = [];
  for (const [index, atMs] of seconds.slice(1).entries()) {
    const last = seconds[index]!;
    if (atMs - last === 1000) continue;
    const span = `${new Date(last).toISOString()} and ${new Date(atMs).toISOString()}`;
    found.push({ rule: 'occurrence-lost', text: `${task}: nothing between ${span}` });
  }
  const newest = seconds.at(-1);
  if (newest === undefined || newest < untilMs - 1000) {
    found.push({
      rule: 'occurrence-lost',
      text: `${task}: nothing until ${new Date(untilMs).toISOString()}`,
    });
  }
  return found;
}

/** Runs of a task that must not overlap, and did so in one process. `lines`: in the order they were written. */
export function overlapViolations(task: string, lines: Iterable<LedgerLine>): Violation[] {
  const found: Violation[] = [];
  /** By process: the run that has begun and not ended. */
  const open = new Map<number, string>();
  for (const { run, mark, pid } of lines) {
    if (!run.startsWith(`${task}@`)) continue;
    const other = open.get(pid);
    if (mark !== LedgerMark.Begin) open.delete(pid);
    else {
      if (other !== undefined) found.push({ rule: 'overlap', text: `${run} began while ${other} ran` });
      open.set(pid, run);
    }
  }
  return found;
}
