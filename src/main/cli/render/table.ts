/**
 * Rows in columns. On a terminal: a header, aligned, cut to its width, coloured. In a pipe: one line a row, the
 * full texts, a tab between them, no header, so that `cut` and `awk` can take them.
 */
import type { Colour, Paint } from './paint.ts';
import { cutToWidth, displayWidth, oneLine, padTo } from './text.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** For a pipe, where it should be another: an exact time for a relative one. */
  readonly plain?: (row: Row) => string;
  readonly colour?: (row: Row) => Colour | null;
  readonly right?: boolean;
  /** Narrowest width when the terminal is too small; columns with the widest surplus give first. Default: kept whole. */
  readonly shrinkTo?: number;
}

export interface TableOptions {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly paint: Paint;
}

const GAP = 2;

export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions,
): string {
  if (!options.isTTY) return rows.map((row) => `${plainCells(row, columns).join('\t')}\n`).join('');
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
  const widths = fit(
    columns.map((column, i) =>
      Math.max(displayWidth(column.title), ...cells.map((line) => displayWidth(line[i]!))),
    ),
    columns,
    options.columns,
  );
  const header = line(columns, widths, (column) => [column.title, 'dim'], options.paint);
  const body = rows.map((row, r) => {
    return line(columns, widths, (column, i) => [cells[r]![i]!, column.colour?.(row) ?? null], options.paint);
  });
  return [header, ...body].join('');
}

function plainCells<Row>(row: Row, columns: readonly Column<Row>[]): string[] {
  return columns.map((column) => oneLine((column.plain ?? column.cell)(row)));
}

/** A column that is left no width is not shown; what follows moves up. */
function line<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  cell: (column: Column<Row>, index: number) => readonly [string, Colour | null],
  paint: Paint,
): string {
  const shown: string[] = [];
  const last = widths.findLastIndex((width) => width > 0);
  for (const [i, column] of columns.entries()) {
    const width = widths[i]!;
    if (width === 0) continue;
    const [text, colour] = cell(column, i);
    const cut = cutToWidth(text, width);
    // No blanks at the end of a line.
    const padded = i === last && column.right !== true ? cut : padTo(cut, width, column.right);
    shown.push(paint.paint(colour, padded));
  }
  return `${shown.join(' '.repeat(GAP))}\n`;
}

/**
 * Leaves out columns from the right until the narrowest form of the rest fits, then takes from the widest
 * column that may shrink until the row does. 0 stands for a column that is left out.
 */
function fit<Row>(wanted: readonly number[], columns: readonly Column<Row>[], available: number): number[] {
  const narrowest = wanted.map((width, i) => Math.min(width, columns[i]!.shrinkTo ?? width));
  let shown = columns.length;
  while (shown > 1 && rowWidth(narrowest.slice(0, shown)) > available) shown--;
  const widths = wanted.slice(0, shown);
  for (let excess = rowWidth(widths) - available; excess > 0; excess--) {
    let best = -1;
    for (const [i, width] of widths.entries()) {
      if (width > narrowest[i]! && (best === -1 || width > widths[best]!)) best = i;
    }
    if (best === -1) break;
    widths[best] = widths[best]! - 1;
  }
  // One column alone may be cut to anything: a line never wraps.
  if (shown === 1) widths[0] = Math.min(widths[0]!, available);
  return columns.map((_, i) => widths[i] ?? 0);
}

function rowWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1);
}
