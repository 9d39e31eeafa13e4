/**
 * `npm run bench [-- NAME …] [--json FILE] [--quick]`: runs the benchmarks one after the other and prints a table
 * of each. Each measures the thing itself, its peer beside it in the same run, and says on what machine.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import type { BenchRow } from './bench-row.ts';

interface Benchmark {
  readonly name: string;
  readonly what: string;
  run(options: { readonly quick: boolean }): Promise<readonly BenchRow[]>;
}

const benchmarks: readonly Benchmark[] = [
  {
    name: 'core',
    what: 'timer heap, wire text, backoff and cron one by one, beside what the runtime offers',
    run: async (options) => (await import('./core.ts')).benchCore(options),
  },
  {
    name: 'mailbox',
    what: 'messages between actors, on one thread and across two',
    run: async (options) => (await import('./mailbox.ts')).benchMailbox(options),
  },
  {
    name: 'runs',
    what: 'no-op runs end to end, cpu and io, beside Piscina with its default options and p-queue',
    run: async (options) => (await import('./runs.ts')).benchRuns(options),
  },
  {
    name: 'overload',
    what: 'a producer ten times faster than the pool',
    run: async (options) => (await import('./overload.ts')).benchOverload(options),
  },
  {
    name: 'hash',
    what: '64 files of 16 MiB through the daemon, beside openssl and coreutils under xargs -P',
    run: async (options) => (await import('./daemon-files.ts')).benchHashInDaemon(options),
  },
  {
    name: 'compress',
    what: 'text files through the daemon, beside zstd and gzip under xargs -P',
    run: async (options) => (await import('./daemon-files.ts')).benchCompressInDaemon(options),
  },
];

function machineText(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown';
  const gib = (totalmem() / 2 ** 30).toFixed(0);
  return `${availableParallelism()} cores (${model}), ${gib} GiB, Linux ${release()} ${process.arch}`;
}

function printTable(rows: readonly BenchRow[]): void {
  const cells = rows.map((row) => [
    row.name,
    row.value.toLocaleString('en'),
    row.unit,
    row.ratio === undefined ? '' : `× ${row.ratio.toFixed(2)}`,
    row.note ?? '',
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...cells.map((line) => line[column]!.length)));
  for (const [name, value, unit, ratio, note] of cells) {
    const line = [
      name!.padEnd(widths[0]!),
      value!.padStart(widths[1]!),
      unit!.padEnd(widths[2]!),
      ratio!.padStart(widths[3]!),
      note!,
    ];
    console.log(`  ${line.join('  ').trimEnd()}`);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log('npm run bench [-- NAME …] [--json FILE] [--quick]\n');
  for (const { name, what } of benchmarks) console.log(`  ${name.padEnd(10)} ${what}`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !benchmarks.some((bench) => bench.name === name));
if (unknown.length > 0) {
  const names = benchmarks.map((bench) => bench.name).join(', ');
  console.error(`bench: expected one of ${names}, got ${unknown.join(', ')}`);
  process.exit(2);
}

const machine = machineText();
const runtime = `Node ${process.version}`;
console.log(`${runtime}, ${machine}`);
const documents = [];
for (const bench of benchmarks) {
  if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
  console.log(`\n${bench.name}: ${bench.what}`);
  const rows = await bench.run({ quick: values.quick });
  printTable(rows);
  documents.push({ bench: bench.name, runtime, machine, rows });
}
if (values.json !== undefined) {
  const document = documents.length === 1 ? documents[0] : documents;
  writeFileSync(values.json, `${JSON.stringify(document, null, 2)}\n`);
}
