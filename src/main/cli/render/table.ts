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

/** Takes from the column with the most to give until the row fits; then leaves out columns from the right. */
function fit<Row>(wanted: readonly number[], columns: readonly Column<Row>[], available: number): number[] {
  const widths = [...wanted];
  const total = (): number => {
    const shown = widths.filter((width) => width > 0);
    return shown.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, shown.length - 1);
  };
  while (total() > available) {
    let best = -1;
    for (const [i, column] of columns.entries()) {
      if (column.shrinkTo === undefined || widths[i]! <= column.shrinkTo) continue;
      if (best === -1 || widths[i]! > widths[best]!) best = i;
    }
    if (best === -1) break;
    widths[best] = widths[best]! - 1;
  }
  for (let i = widths.length - 1; i > 0 && total() > available; i--) widths[i] = 0;
  // One column alone may be cut to anything: a line never wraps.
  widths[0] = Math.min(widths[0]!, available);
  return widths;
}
