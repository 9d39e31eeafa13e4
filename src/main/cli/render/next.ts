/** The next occurrences of a task, for people. */
import type { ListOptions } from './lists.ts';
import { type Column, table } from './table.ts';
import { relativeTime } from './time.ts';

/** As `--json` prints it. */
export interface NextDocument {
  readonly task: string;
  readonly schedule: string | null;
  /** Null: the machine's. */
  readonly time_zone: string | null;
  readonly splay_seconds: number;
  readonly occurrences: readonly {
    readonly at: string;
    readonly local: string;
    readonly weekday: string;
    readonly shifted: boolean;
  }[];
}

type Occurrence = NextDocument['occurrences'][number];

export function nextList(next: NextDocument, options: ListOptions): string {
  if (next.schedule === null) return `${next.task} runs on trigger only\n`;
  if (next.occurrences.length === 0) return `${next.task} (${next.schedule}) does not run any more\n`;
  const columns: Column<Occurrence>[] = [
    { title: 'DAY', cell: ({ weekday }) => weekday },
    { title: 'LOCAL', cell: ({ local }) => local.replace('T', ' ') },
    { title: 'UTC', cell: ({ at }) => at },
    { title: 'IN', cell: ({ at }) => relativeTime(at, options.nowMs) },
    { title: 'NOTE', cell: ({ shifted }) => (shifted ? 'shifted: the clocks skip its time' : '') },
  ];
  return table(next.occurrences, columns, options);
}
