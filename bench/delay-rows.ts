/** The lines of `delay`'s table. */
import { type BenchRow, rounded } from './bench-row.ts';
import { type ContenderName, TITLES } from './delay-contenders.ts';
import type { EntryBytes } from './delay-memory.ts';
import type { Rates } from './delay-rates.ts';
import type { LateFigures } from './lateness.ts';

/** What was found of all contenders with so many entries. */
export interface Counted<Figures> {
  readonly count: number;
  readonly of: ReadonlyMap<ContenderName, Figures>;
  readonly rows: readonly BenchRow[];
}

const PEER: ContenderName = 'setTimeout';

const OPERATIONS = {
  insert: 'insert',
  cancel: 'cancel',
  reschedule: 'reschedule',
  pop: 'pop',
  insertAndPop: 'insert and pop',
  hold: 'hold: pop and insert',
} as const satisfies Readonly<Record<keyof Rates, string>>;

function titleOf(name: ContenderName, count: number): string {
  return `${TITLES[name]}, ${count.toLocaleString('en')}`;
}

export function rateRows(options: {
  readonly name: ContenderName;
  readonly count: number;
  readonly rates: Rates;
  readonly of: ReadonlyMap<ContenderName, Rates>;
}): BenchRow[] {
  const { name, count, rates, of } = options;
  const peer = name === PEER ? undefined : of.get(PEER);
  const rows: BenchRow[] = [];
  for (const key of Object.keys(OPERATIONS) as (keyof Rates)[]) {
    const value = rates[key];
    if (value === null) continue;
    const beside = peer?.[key] ?? undefined;
    rows.push({
      name: `${titleOf(name, count)}: ${OPERATIONS[key]}`,
      unit: 'M/s',
      value: rounded(value / 1e6),
      ...(beside === undefined ? {} : { ratio: value / beside }),
      ...(name === 'timers' && key === 'hold' ? { note: 'of processor time' } : {}),
    });
  }
  return rows;
}

export function bytesRow(options: {
  readonly name: ContenderName;
  readonly count: number;
  readonly bytes: EntryBytes;
  readonly of: ReadonlyMap<ContenderName, EntryBytes>;
}): BenchRow {
  const { name, count, bytes, of } = options;
  const peer = name === PEER ? undefined : of.get(PEER);
  return {
    name: `${titleOf(name, count)}: an entry`,
    unit: 'bytes',
    value: rounded(bytes.heap),
    ...(peer === undefined ? {} : { ratio: bytes.heap / peer.heap }),
    note: `RSS ${rounded(bytes.rss)}`,
  };
}

/** What the heap has to reach, at the largest count. */
export function boundRows(
  rates: readonly Counted<Rates>[],
  bytes: readonly Counted<EntryBytes>[],
): BenchRow[] {
  const [heap, peer] = [rates.at(-1)!.of.get('heap')!, rates.at(-1)!.of.get(PEER)!];
  const [heapBytes, peerBytes] = [bytes.at(-1)!.of.get('heap')!.heap, bytes.at(-1)!.of.get(PEER)!.heap];
  const rate = heap.insertAndPop / peer.insertAndPop;
  const share = heapBytes / peerBytes;
  const title = titleOf('heap', rates.at(-1)!.count);
  return [
    {
      name: `${title}: insert and pop, over the same of setTimeout`,
      unit: 'times',
      value: rounded(rate),
      note: `≥ 3: ${rate >= 3 ? 'met' : 'NOT met'}; over its insertions alone ${rounded(heap.insertAndPop / peer.insert)}`,
    },
    {
      name: `${title}: an entry, over one of setTimeout`,
      unit: 'times',
      value: rounded(share),
      note: `≤ 1/6: ${share <= 1 / 6 ? 'met' : 'NOT met'}`,
    },
  ];
}

export interface LatenessRow extends BenchRow {
  readonly lateness: LateFigures;
}

export function latenessRow(options: {
  readonly name: string;
  readonly expected: number;
  readonly figures: LateFigures;
}): LatenessRow {
  const { name, expected, figures } = options;
  const { count, p50Ms, p999Ms, maxMs, early, cpuShare, sleepsPerSecond } = figures;
  const notes = [
    `p50 ${rounded(p50Ms)}, p99.9 ${rounded(p999Ms)}, max ${rounded(maxMs)}`,
    early === 0 ? 'none early' : `${early} EARLY`,
    `CPU ${rounded(100 * cpuShare)} %`,
    `${Math.round(sleepsPerSecond)} sleeps/s`,
    ...(count === expected ? [] : [`${expected - count} never came`]),
  ];
  return { name, unit: 'ms p99', value: rounded(figures.p99Ms), note: notes.join('; '), lateness: figures };
}

export function batchRow(options: {
  readonly name: string;
  readonly figures: LateFigures;
  readonly bytes: EntryBytes;
}): LatenessRow {
  const { name, figures, bytes } = options;
  const { p50Ms, cpuShare, perCpuSecond, sleepsPerSecond, early } = figures;
  const notes = [
    `p50 ${rounded(p50Ms)}`,
    early === 0 ? 'none early' : `${early} EARLY`,
    `${Math.round(perCpuSecond / 1000)} k/s of processor time`,
    `CPU ${rounded(100 * cpuShare)} %`,
    `${Math.round(sleepsPerSecond)} sleeps/s`,
    `${rounded(bytes.heap)} bytes an entry`,
  ];
  return { name, unit: 'ms p99', value: rounded(figures.p99Ms), note: notes.join('; '), lateness: figures };
}
