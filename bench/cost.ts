/**
 * What small memory costs in throughput: `runs`, `hash` and `compress` each in a process with the flags and the governor
 * of a daemon, and in one with neither, in turn. The budget is out of reach, so that what is measured is the price of
 * the flags and of being looked after, with compilers on, and not that of being short of memory.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RUNTIME_FLAGS } from '../scripts/runtime-flags.ts';
import { GOVERNED } from './bench-daemon.ts';
import { type BenchRow, median, rounded } from './bench-row.ts';
import { type BoundedRow, figureRow } from './footprint-rows.ts';

const BENCHES = ['runs', 'hash', 'compress'] as const;
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** The daemon's own rates; those of peers say nothing here. */
const OWN_RATE = /^(cpu|io) runs|: colibri/;
/** Turns of each kind: plain first, then last, so that a drift of the machine meets both. */
const TURNS = { quick: 1, full: 3 } as const;
const LEAST_RATIO = 0.95;

type Rates = ReadonlyMap<string, readonly number[]>;

export async function benchCost({ quick }: { readonly quick: boolean }): Promise<BoundedRow[]> {
  const rows: BoundedRow[] = [];
  for (const bench of BENCHES) {
    const plain = new Map<string, number[]>();
    const small = new Map<string, number[]>();
    for (let turn = 0; turn < (quick ? TURNS.quick : TURNS.full); turn++) {
      const order = turn % 2 === 0 ? ([plain, small] as const) : ([small, plain] as const);
      for (const kind of order) gather(kind, await ratesOf(bench, { quick, small: kind === small }));
    }
    rows.push(...costRows(bench, plain, small));
  }
  return rows;
}

/** By name: rates of all turns. Throws where one kind has none that the other has: nothing was compared then. */
export function costRows(bench: string, plain: Rates, small: Rates): BoundedRow[] {
  const names = [...new Set([...plain.keys(), ...small.keys()])];
  if (names.length === 0) throw new Error(`expected rates of colibri from ${bench}, got none`);
  return names.map((name) => {
    const [before, now] = [median(plain.get(name) ?? []), median(small.get(name) ?? [])];
    if (Number.isNaN(before + now))
      throw new Error(`expected ${name} of ${bench} with and without, got only one of them`);
    const row = figureRow({
      name: `${bench}: ${name}`,
      unit: 'a second',
      value: now,
      bound: { atLeast: LEAST_RATIO * before },
      note: `flags and governor; without: ${rounded(before).toLocaleString('en')}`,
    });
    return { ...row, ratio: now / before };
  });
}

function gather(into: Map<string, number[]>, rows: readonly BenchRow[]): void {
  for (const { name, value } of rows) {
    const values = into.get(name);
    if (values === undefined) into.set(name, [value]);
    else values.push(value);
  }
}

interface RatesOptions {
  readonly quick: boolean;
  /** With the flags and the governor. */
  readonly small: boolean;
}

async function ratesOf(bench: string, { quick, small }: RatesOptions): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-cost-'));
  const file = join(folder, 'rows.json');
  try {
    const child = spawn(
      process.execPath,
      [...(small ? RUNTIME_FLAGS : []), MAIN, bench, ...(quick ? ['--quick'] : []), '--json', file],
      {
        env: { ...process.env, ...(small ? { [GOVERNED]: '1' } : {}) },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`expected ${bench} to end with 0, got ${code}`);
    const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { readonly rows: readonly BenchRow[] };
    return rows.filter(({ name, unit }) => OWN_RATE.test(name) && unit.endsWith('/s'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
