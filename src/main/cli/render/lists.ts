/** The lists: tasks, runs, dead letters. A run id is shown whole: it is what the next command is given. */
import type { DeadLetterDocument, RunDocument, TaskDocument } from '../../../actors/control/index.ts';
import { stateColour } from './paint.ts';
import { errorText, lastErrorText } from './run.ts';
import { type Column, type TableOptions, table } from './table.ts';
import { durationText, relativeTime } from './time.ts';
import { windowText } from './window.ts';

export interface ListOptions extends TableOptions {
  readonly nowMs: number;
}

export function taskList(tasks: readonly TaskDocument[], options: ListOptions): string {
  const { nowMs } = options;
  const columns: Column<TaskDocument>[] = [
    { title: 'TASK', cell: (task) => task.name, shrinkTo: 12 },
    {
      title: 'LAST',
      cell: (task) => task.last_state ?? '-',
      colour: (task) => stateColour(task.last_state ?? ''),
    },
    {
      title: 'ENDED',
      cell: (task) => relativeTime(task.last_ended_at, nowMs),
      plain: (task) => task.last_ended_at ?? '-',
    },
    {
      title: 'NEXT',
      cell: (task) => relativeTime(task.next_at, nowMs),
      plain: (task) => task.next_at ?? '-',
    },
    { title: 'ACTIVE', cell: (task) => String(task.active), right: true },
    { title: 'QUEUED', cell: (task) => String(task.queued), right: true },
    ...(tasks.some((task) => task.group !== null)
      ? [{ title: 'GROUP', cell: (task: TaskDocument) => task.group ?? '-', shrinkTo: 8 }]
      : []),
    { title: 'SCHEDULE', cell: (task) => task.schedule ?? 'on trigger', shrinkTo: 10 },
    { title: 'KIND', cell: (task) => task.kind },
    { title: 'HANDLER', cell: (task) => task.handler || '-', shrinkTo: 8 },
    { title: 'WINDOW', cell: windowCell, shrinkTo: 8 },
  ];
  if (tasks.length === 0) return nothing(options, 'No tasks in the config.');
  // A terminal has no room for a column of nothing; in a pipe each line has the same fields.
  const bounded = !options.isTTY || tasks.some(({ window }) => window !== null);
  return table(tasks, bounded ? columns : columns.slice(0, -1), options);
}

function windowCell({ window }: TaskDocument): string {
  return window === null ? '-' : windowText({ ...window, exclude: window.excluded });
}

export function runList(runs: readonly RunDocument[], options: ListOptions): string {
  const { nowMs } = options;
  const columns: Column<RunDocument>[] = [
    { title: 'RUN', cell: (run) => run.run },
    { title: 'STATE', cell: (run) => run.state, colour: (run) => stateColour(run.state) },
    {
      title: 'CREATED',
      cell: (run) => relativeTime(run.created_at, nowMs),
      plain: (run) => run.created_at,
    },
    {
      title: 'TOOK',
      cell: (run) => durationText(run.duration_ms),
      plain: (run) => (run.duration_ms === null ? '-' : String(run.duration_ms)),
      right: true,
    },
    { title: 'TRY', cell: (run) => String(run.attempt), right: true },
    { title: 'ERROR', cell: (run) => lastErrorText(run) ?? '-', shrinkTo: 7 },
    { title: 'TASK', cell: (run) => run.task, shrinkTo: 10 },
  ];
  if (runs.length === 0) return nothing(options, 'No runs.');
  return table(runs, columns, options);
}

export function deadLetterList(letters: readonly DeadLetterDocument[], options: ListOptions): string {
  const { nowMs } = options;
  const columns: Column<DeadLetterDocument>[] = [
    { title: 'RUN', cell: (letter) => letter.run },
    {
      title: 'DIED',
      cell: (letter) => relativeTime(letter.died_at, nowMs),
      plain: (letter) => letter.died_at,
    },
    { title: 'TRIES', cell: (letter) => String(letter.attempts), right: true },
    {
      title: 'ERROR',
      cell: (letter) => (letter.error === null ? '-' : errorText(letter.error)),
      shrinkTo: 7,
    },
    { title: 'TASK', cell: (letter) => letter.task, shrinkTo: 10 },
  ];
  if (letters.length === 0) return nothing(options, 'No dead letters.');
  return table(letters, columns, options);
}

/** A pipe gets nothing for nothing. */
export function nothing(options: ListOptions, text: string): string {
  return options.isTTY ? `${text}\n` : '';
}
