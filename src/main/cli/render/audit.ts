/** The audit trail, one command a line. */
import type { AuditDocument } from '../../../actors/control/index.ts';
import { type ListOptions, nothing } from './lists.ts';
import { type Column, table } from './table.ts';
import { relativeTime } from './time.ts';

export function auditList(entries: readonly AuditDocument[], options: ListOptions): string {
  const columns: Column<AuditDocument>[] = [
    { title: 'WHEN', cell: ({ at }) => relativeTime(at, options.nowMs), plain: ({ at }) => at },
    { title: 'USER', cell: ({ user }) => user, shrinkTo: 10 },
    { title: 'ACTION', cell: ({ action }) => action },
    { title: 'ANSWER', cell: answerText, colour: ({ answer }) => (answer === 'refused' ? 'yellow' : null) },
    { title: 'TARGET', cell: ({ target }) => target ?? '-', shrinkTo: 10 },
    { title: 'DETAILS', cell: detailsText, shrinkTo: 7 },
  ];
  if (entries.length === 0) return nothing(options, 'No commands so far.');
  return table(entries, columns, options);
}

function answerText({ answer, code }: AuditDocument): string {
  return code === null ? (answer ?? '-') : `${answer}: ${code}`;
}

/** `key=value`, without what the target says and what says nothing. */
function detailsText({ details, target }: AuditDocument): string {
  const told = Object.entries(details).filter(([, value]) => {
    const empty = value === null || value === false || (Array.isArray(value) && value.length === 0);
    return !empty && value !== target;
  });
  const texts = told.map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return texts.join(' ') || '-';
}
