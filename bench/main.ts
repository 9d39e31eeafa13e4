/**
 * `npm run bench [-- NAME …] [OPTIONS]`: runs the benchmarks one after the other and prints a table of each. Each
 * measures the thing itself, its peer beside it in the same run, and says on what machine. docs/benchmarks.md says
 * how to read them.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import type { BenchRow } from './bench-row.ts';
import type { Target } from './footprint-daemon.ts';

interface BenchOptions {
  readonly quick: boolean;
  readonly minutes: number;
  readonly target: Target | 'both' | undefined;
}

interface Benchmark {
  readonly name: string;
  readonly what: string;
  /** Takes so long that it runs only when it is named. */
  readonly long?: true;
  run(options: BenchOptions): Promise<readonly BenchRow[]>;
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
    name: 'flows',
    what: 'flows of ten no-op steps, durable, with 100, 1,000 and 10,000 of them waiting',
    long: true,
    run: async (options) => (await import('./flows.ts')).benchFlows(options),
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
  {
    name: 'mixed',
    what: 'half waits, half hashes, 50 in flight, light and heavy; beside Piscina and p-queue; ten minutes',
    long: true,
    run: async (options) => (await import('./mixed.ts')).benchMixed(options),
  },
  {
    name: 'journal',
    what: 'durable no-op runs and acknowledged triggers, beside BullMQ on a local Redis and bare SQLite',
    long: true,
    run: async (options) => (await import('./journal.ts')).benchJournal(options),
  },
  {
    name: 'delayed',
    what: 'a million runs that begin later: memory of the built daemon, its start, and how late those begin that are due',
    long: true,
    run: async (options) => (await import('./delayed-runs.ts')).benchDelayedRuns(options),
  },
  {
    name: 'delay',
    what: 'delay engines: rates, bytes, lateness, batches; beside setTimeout, croner, node-cron and toad-scheduler; ten minutes',
    long: true,
    run: async (options) => (await import('./delay.ts')).benchDelay(options),
  },
  {
    name: 'footprint',
    what: 'memory, threads and CPU of the built daemon idle and under load, and its start; half an hour',
    long: true,
    run: async (options) => (await import('./footprint.ts')).benchFootprint(options),
  },
  {
    name: 'cost',
    what: 'runs, hash and compress with the flags and the governor of a daemon, beside the same without',
    long: true,
    run: async (options) => (await import('./cost.ts')).benchCost(options),
  },
  {
    name: 'soak',
    what: 'what bursts of no-op runs leave behind in the built daemon; --minutes of each target',
    long: true,
    run: async (options) => (await import('./soak.ts')).benchSoak(options),
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

const USAGE = `npm run bench [-- NAME …] [--json FILE] [--quick] [--minutes N] [--target npm|binary|both]

Without names, all but those marked *, which take long.
`;

function failUsage(message: string): never {
  console.error(`bench: ${message}`);
  process.exit(2);
}

function minutesOf(text: string): number {
  const minutes = Number(text);
  if (!(minutes > 0 && minutes <= 10_000))
    failUsage(`expected --minutes to be a number above 0, got ${text}`);
  return minutes;
}

function targetOf(text: string | undefined): BenchOptions['target'] {
  if (text === undefined || text === 'npm' || text === 'binary' || text === 'both') return text;
  return failUsage(`expected --target to be npm, binary or both, got ${text}`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    target: { type: 'string' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(USAGE);
  for (const { name, what, long } of benchmarks)
    console.log(`${long ? '*' : ' '} ${name.padEnd(10)} ${what}`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !benchmarks.some((bench) => bench.name === name));
if (unknown.length > 0) {
  const names = benchmarks.map((bench) => bench.name).join(', ');
  failUsage(`expected one of ${names}, got ${unknown.join(', ')}`);
}
const options: BenchOptions = {
  quick: values.quick,
  minutes: minutesOf(values.minutes),
  target: targetOf(values.target),
};

const machine = machineText();
const runtime = `Node ${process.version}`;
console.log(`${runtime}, ${machine}`);
const documents = [];
for (const bench of benchmarks) {
  if (positionals.length > 0 ? !positionals.includes(bench.name) : bench.long) continue;
  console.log(`\n${bench.name}: ${bench.what}`);
  const rows = await bench.run(options);
  printTable(rows);
  documents.push({ bench: bench.name, runtime, machine, rows });
}
if (values.json !== undefined) {
  const document = documents.length === 1 ? documents[0] : documents;
  writeFileSync(values.json, `${JSON.stringify(document, null, 2)}\n`);
}
