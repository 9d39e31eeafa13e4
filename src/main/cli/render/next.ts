/** The next occurrences of a task, for people. */
import type { ListOptions } from './lists.ts';
import { type Column, table } from './table.ts';
import { cutToWidth, oneLine, wrap } from './text.ts';
import { relativeTime } from './time.ts';
import { windowText } from './window.ts';

/** As `--json` prints it. */
export interface NextDocument {
  readonly task: string;
  readonly schedule: string | null;
  /** Null: the machine's. */
  readonly time_zone: string | null;
  readonly start_at: string | null;
  readonly stop_at: string | null;
  /** `2026-12-25`, `2026-12-24..2027-01-02`. */
  readonly exclude: readonly string[];
  readonly splay_seconds: number;
  readonly occurrences: readonly {
    readonly at: string;
    readonly local: string;
    readonly weekday: string;
    readonly shifted: boolean;
  }[];
  /** Why there are fewer than were asked for; null: there are not. */
  readonly end: { readonly cause: string; readonly reason: string } | null;
}

type Occurrence = NextDocument['occurrences'][number];

/** In a pipe the occurrences alone: why they end, `endText` says beside them. */
export function nextList(next: NextDocument, options: ListOptions): string {
  const { task, schedule, occurrences } = next;
  if (schedule === null) return `${task} runs on trigger only\n`;
  if (occurrences.length === 0) {
    const reason = next.end === null ? '' : `: ${next.end.reason}`;
    return `${task} (${schedule}) does not run any more${reason}\n`;
  }
  const columns: Column<Occurrence>[] = [
    { title: 'DAY', cell: ({ weekday }) => weekday },
    { title: 'LOCAL', cell: ({ local }) => local.replace('T', ' ') },
    { title: 'UTC', cell: ({ at }) => at },
    { title: 'IN', cell: ({ at }) => relativeTime(at, options.nowMs) },
    { title: 'NOTE', cell: ({ shifted }) => (shifted ? 'shifted: the clocks skip its time' : '') },
  ];
  const rows = table(occurrences, columns, options);
  if (!options.isTTY) return rows;
  const lines = (text: string) =>
    wrap(oneLine(text), options.columns).map((line) => `${cutToWidth(line, options.columns)}\n`);
  const window = windowText(next);
  const head = window === '' ? [] : lines(`${schedule}, ${window}`);
  const end = endText(next);
  return [...head, rows, ...(end === null ? [] : lines(end))].join('');
}

/** Null: there are as many as were asked for, or there is nothing to end. */
export function endText({ occurrences, end }: NextDocument): string | null {
  return end === null || occurrences.length === 0 ? null : `ends here: ${end.reason}`;
}
