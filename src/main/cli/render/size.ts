/** The memory ledger, and how sizes follow from rates and times: each formula with its numbers put in. */
import type { SizeDocument } from '../../../actors/control/index.ts';
import { type Column, type TableOptions, table } from './table.ts';
import { cutToWidth, oneLine, wrap } from './text.ts';
import { durationText, megabytes } from './time.ts';

export interface SizeOptions extends TableOptions {
  /** The config, for a ledger that was computed from it alone. */
  readonly file: string;
}

type Row = SizeDocument['rows'][number];

export function sizeText(size: SizeDocument, options: SizeOptions): string {
  return options.isTTY ? screen(size, options) : plain(size, options);
}

function screen(size: SizeDocument, options: SizeOptions): string {
  const { columns, paint } = options;
  const paragraphs = [
    sumText(size),
    ...(size.sum.unbounded.length === 0 ? [] : [`Without a bound: ${size.sum.unbounded.join(', ')}.`]),
    governorText(size),
  ];
  const notes = paragraphs.flatMap((text) => wrap(text, columns));
  const source = size.measured
    ? []
    : wrap(`No daemon answers: computed from ${oneLine(options.file)}.`, columns);
  const lines = (texts: readonly string[]) => texts.map((text) => `${cutToWidth(text, columns)}\n`).join('');
  return [
    paint.paint('yellow', lines(source)),
    table(size.rows, ledgerColumns(size.rows), options),
    paint.paint('bold', lines(wrap(totals(size), columns))),
    '\n',
    lines(notes),
    '\n',
    lines([
      ...sizing('ready queue', readyLines(size), columns),
      ...sizing('io slots', ioLines(size), columns),
    ]),
  ].join('');
}

function ledgerColumns(rows: readonly Row[]): Column<Row>[] {
  const bounded = (row: Row | undefined): boolean =>
    row !== undefined && (row.bound_bytes !== null || bounded(parentOf(row, rows)));
  return [
    { title: 'MEMORY OF', cell: (row) => '  '.repeat(depthOf(row, rows)) + row.name },
    {
      title: 'BOUND',
      cell: (row) => (row.bound_bytes === null ? (bounded(row) ? '-' : 'no bound') : amount(row.bound_bytes)),
      right: true,
    },
    {
      title: 'HELD',
      cell: (row) => (row.measured_bytes === null ? '-' : amount(row.measured_bytes)),
      right: true,
    },
    { title: 'HOW', cell: (row) => row.how, shrinkTo: 10 },
  ];
}

function totals({ sum, budget_bytes: budget }: SizeDocument): string {
  const held = sum.measured_bytes === null ? '' : `, ${amount(sum.measured_bytes)} held`;
  return `sum: bounds ${amount(sum.bound_bytes)}${held}; budget ${amount(budget)}`;
}

function sumText({ sum, budget_bytes: budget }: SizeDocument): string {
  if (sum.within_budget) return `All bounds together are within the budget of ${amount(budget)}.`;
  return `All bounds together are ${(sum.bound_bytes / budget).toFixed(1)} times the budget: a bound is what may be held at worst, not what is.`;
}

function governorText({ governor }: SizeDocument): string {
  const steps =
    governor === null
      ? ''
      : `; so far: ${Object.entries(governor)
          .map(([step, count]) => `${step} ${count}`)
          .join(', ')}`;
  return (
    'Near the budget the memory governor gives pages of files back and collects garbage, then sends work to cpu threads ' +
    `one by one, then uses fewer of them; no work is dropped, and there is a line in the log where that is not enough${steps}.`
  );
}

function readyLines({ ready, flow }: SizeDocument): string[] {
  const { capacity, backlog_per_second: rate, tolerate_seconds: seconds, run_bytes: runBytes } = ready;
  const lines = [
    rate === null || seconds === null
      ? `${capacity} runs, as given; by rates: L = λ × W, backlog_per_second × tolerate_seconds`
      : `${capacity} runs = ${rate} runs/s × ${seconds} s (L = λ × W)`,
    `${capacity} × ${runBytes} bytes (an input of 150 bytes) = ${amount(capacity * runBytes)} of ${amount(ready.max_bytes)}${
      capacity * runBytes > ready.max_bytes
        ? `: bytes fill it at ${Math.floor(ready.max_bytes / runBytes)} runs`
        : ''
    }`,
  ];
  if (flow === null) return lines;
  const { runs_per_second: perSecond, mean_wait_seconds: wait } = flow;
  if (wait === null) return [...lines, `measured over ${spanOf(flow)}: nothing came`];
  return [
    ...lines,
    `measured over ${spanOf(flow)}: ${perSecond.toFixed(2)} runs/s came, ${flow.mean_depth.toFixed(1)} stood in it, so each waited ` +
      `${durationText(wait * 1000)} (W = L / λ); at this rate it is full after ${(capacity / perSecond).toFixed(0)} s of standstill`,
  ];
}

function ioLines({ io, flow }: SizeDocument): string[] {
  const { cores, wait_ms: wait, compute_ms: compute, slots } = io;
  const formula = `${cores} cores × (1 + ${rounded(wait)} ms / ${rounded(compute)} ms)`;
  const first =
    io.sizing === 'fixed'
      ? `${slots}, as given; ${formula} = ${Math.ceil(cores * (1 + wait / compute) - 1e-9)}`
      : `${slots} = ${formula}${io.sizing === 'measured' ? ', wait and compute as measured' : ''}`;
  if (flow === null || flow.mean_duration_ms === null) return [first];
  return [
    first,
    `measured over ${spanOf(flow)}, all pools: ${flow.ended_per_second.toFixed(2)} attempts/s × ${durationText(flow.mean_duration_ms)} = ` +
      `${flow.mean_active.toFixed(1)} in work at a time (L = λ × W)`,
  ];
}

/** `name   first line`, the others below it. */
function sizing(name: string, texts: readonly string[], columns: number): string[] {
  const width = 13;
  const lines = texts.flatMap((text) => wrap(text, columns - width));
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(width)}${line}`);
}

/** One row a line, then the sums: name, bound and held in bytes, how; `-` for what is not known or has no bound. */
function plain(size: SizeDocument, options: SizeOptions): string {
  const columns: Column<Row>[] = [
    { title: '', cell: (row) => row.name },
    { title: '', cell: (row) => String(row.bound_bytes ?? '-') },
    { title: '', cell: (row) => String(row.measured_bytes ?? '-') },
    { title: '', cell: (row) => row.how },
  ];
  const { sum, budget_bytes: budget } = size;
  const last: Row[] = [
    {
      name: 'sum',
      within: null,
      bound_bytes: sum.bound_bytes,
      measured_bytes: sum.measured_bytes,
      how: size.measured ? 'resident memory' : `no daemon answers: computed from ${options.file}`,
    },
    { name: 'budget', within: null, bound_bytes: budget, measured_bytes: null, how: 'memory.budget_mb' },
  ];
  const sizes = [
    ...readyLines(size).map((text) => ['ready queue', text]),
    ...ioLines(size).map((text) => ['io slots', text]),
  ];
  const lines = sizes.map(([name, text]) => `${name}\t${oneLine(text)}\n`);
  return table([...size.rows, ...last], columns, options) + lines.join('');
}

function parentOf(row: Row, rows: readonly Row[]): Row | undefined {
  return rows.find(({ name }) => name === row.within);
}

function depthOf(row: Row, rows: readonly Row[]): number {
  const parent = parentOf(row, rows);
  return parent === undefined ? 0 : 1 + depthOf(parent, rows);
}

function amount(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.round(bytes / 1024)} kB` : megabytes(bytes);
}

function rounded(ms: number): string {
  return String(Math.round(ms * 100) / 100);
}

function spanOf({ window_seconds: seconds }: NonNullable<SizeDocument['flow']>): string {
  return `${Math.round(seconds)} s`;
}
