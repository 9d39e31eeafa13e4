/**
 * What being durable costs: no-op runs from trigger to their recorded end, and triggers to the answer that they are
 * kept, with `process` and `power`. Beside them BullMQ, whose Redis syncs its file every second and always, and as the
 * limit bare inserts into SQLite. The contenders take turns; medians are shown.
 */
import { type BenchDaemon, startBenchDaemon } from './bench-daemon.ts';
import { type BenchRow, median, rounded } from './bench-row.ts';
import { closedLoop, type LoopFigures } from './closed-loop.ts';
import { builtDaemonRows } from './journal-memory.ts';
import { BullMq, bareSqlite, type Order } from './journal-peers.ts';
import { keepGoing } from './keep-going.ts';
import { pacedLoop } from './paced-loop.ts';

type Durability = 'process' | 'power';

interface Contender {
  readonly name: string;
  readonly durability: Durability;
  /** Calls a round, so that each takes some seconds. */
  readonly count: number;
  measure(order: Order): Promise<LoopFigures>;
}

interface Scenario extends Pick<Order, 'what' | 'inFlight' | 'perSecond' | 'beside'> {
  readonly name: string;
  readonly unit: string;
}

const AT_ONCE = { perSecond: null, beside: 0 } as const;
const PACED_SECONDS = 4;

const SCENARIOS: readonly Scenario[] = [
  { name: 'runs, 1024 in flight', unit: 'runs/s', what: 'run', inFlight: 1024, ...AT_ONCE },
  { name: 'runs, 4096 in flight', unit: 'runs/s', what: 'run', inFlight: 4096, ...AT_ONCE },
  { name: 'triggers, 64 in flight', unit: 'triggers/s', what: 'trigger', inFlight: 64, ...AT_ONCE },
  {
    name: 'triggers, 64 in flight beside 256 runs',
    unit: 'triggers/s',
    what: 'trigger',
    inFlight: 64,
    perSecond: null,
    beside: 256,
  },
  // About half of what the slowest contender can do: how long a user waits beside a load that it can carry.
  {
    name: 'triggers, 3,000 a second, each of them run',
    unit: 'triggers/s',
    what: 'trigger',
    inFlight: 0,
    perSecond: 3000,
    beside: 0,
  },
];

const COUNTS = { colibri: { process: 80_000, power: 40_000 }, bullmq: { process: 20_000, power: 15_000 } };
const BARE_COUNT = 100_000;
const SYNCHRONOUS = { process: 'NORMAL', power: 'FULL' } as const;
const FSYNC = { process: 'everysec', power: 'always' } as const;
const DURABILITIES: readonly Durability[] = ['process', 'power'];
const MB = 1e6;

export async function benchJournal({ quick }: { readonly quick: boolean }): Promise<BenchRow[]> {
  const rounds = quick ? 1 : 5;
  const share = quick ? 10 : 1;
  const releases: (() => Promise<void>)[] = [];
  const contenders: Contender[] = [];
  const peers: BullMq[] = [];
  try {
    for (const durability of DURABILITIES) {
      const bench = await startBenchDaemon(config(durability));
      releases.push(() => bench.close());
      contenders.push(colibri(bench, durability, COUNTS.colibri[durability] / share));
    }
    for (const durability of DURABILITIES) {
      const peer = await BullMq.start(FSYNC[durability]);
      if (peer === null) break;
      releases.push(() => peer.stop());
      peers.push(peer);
      contenders.push({
        name: `BullMQ, ${FSYNC[durability]}`,
        durability,
        count: COUNTS.bullmq[durability] / share,
        measure: (order) => peer.measure(order),
      });
    }
    const rows = await measureAll(contenders, rounds, BARE_COUNT / share);
    return [...rows, ...peers.flatMap(memoryRows), ...(await builtDaemonRows(quick))];
  } finally {
    for (const release of releases.reverse()) await release();
  }
}

function config(durability: Durability): Readonly<Record<string, unknown>> {
  return {
    store: { kind: 'sqlite', durability },
    defaults: { max_retry: 0 },
    // It is the way of a run that is measured, not the waiting for a slot.
    pools: { io: { slots: 1000 } },
    tasks: [{ name: 'noop', kind: 'io', handler: 'noop', overlap: 'allow' }],
  };
}

function colibri({ daemon }: BenchDaemon, durability: Durability, count: number): Contender {
  const trigger = (wait: boolean) => () =>
    daemon.runs.ask(
      'trigger',
      { task: 'noop', payload: null, force: false, wait, dueAtMs: null },
      { timeoutMs: null },
    );
  return {
    name: `colibri, ${durability}`,
    durability,
    count,
    async measure({ what, inFlight, perSecond, count, beside }) {
      const load = beside > 0 ? keepGoing({ inFlight: beside, call: trigger(true) }) : null;
      const call = trigger(what === 'run');
      const figures =
        perSecond === null
          ? await closedLoop({ inFlight, count, call })
          : await pacedLoop({ perSecond, count, call });
      await load?.stop();
      // What was only triggered is done, too, before anything else is measured: runs are taken in order.
      await trigger(true)();
      return figures;
    },
  };
}

async function measureAll(
  contenders: readonly Contender[],
  rounds: number,
  bareCount: number,
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  /** Jobs a second; taken in turn with the runs. */
  const bare: Record<Durability, number[]> = { process: [], power: [] };
  for (const contender of contenders)
    await contender.measure({ what: 'run', inFlight: 1024, count: contender.count / 4, ...AT_ONCE });
  for (const scenario of SCENARIOS) {
    const found = new Map<Contender, LoopFigures[]>(contenders.map((contender) => [contender, []]));
    for (let round = 0; round < rounds; round++) {
      for (const durability of scenario.what === 'run' ? DURABILITIES : [])
        bare[durability].push(bareSqlite(SYNCHRONOUS[durability], bareCount));
      for (const [contender, figures] of found)
        figures.push(await contender.measure({ ...scenario, count: callsOf(scenario, contender) }));
    }
    rows.push(...scenarioRows(scenario, found, { process: median(bare.process), power: median(bare.power) }));
  }
  const bareRows = DURABILITIES.map((durability) => ({
    name: `bare SQLite, ${SYNCHRONOUS[durability]}, 100 jobs a transaction`,
    unit: 'jobs/s',
    value: rounded(median(bare[durability])),
  }));
  return [...bareRows, ...rows];
}

function callsOf({ perSecond }: Scenario, { count }: Contender): number {
  return perSecond === null ? count : Math.min(count, perSecond * PACED_SECONDS);
}

function scenarioRows(
  { name, unit, what }: Scenario,
  found: ReadonlyMap<Contender, readonly LoopFigures[]>,
  bare: Readonly<Record<Durability, number>>,
): BenchRow[] {
  const middle = (figures: readonly LoopFigures[], key: keyof LoopFigures) =>
    median(figures.map((one) => one[key]));
  const rows: BenchRow[] = [];
  for (const [contender, figures] of found) {
    const peer = [...found].find(
      ([other]) => other !== contender && other.durability === contender.durability,
    );
    const isColibri = contender.name.startsWith('colibri');
    for (const [key, of] of [
      ['perSecond', unit],
      ['p50Ms', 'ms p50'],
      ['p99Ms', 'ms p99'],
    ] as const) {
      const value = middle(figures, key);
      const share = Math.round((100 * value) / bare[contender.durability]);
      rows.push({
        name: `${contender.name}: ${name}`,
        unit: of,
        value: rounded(value),
        ...(isColibri && peer !== undefined ? { ratio: value / middle(peer[1], key) } : {}),
        ...(isColibri && what === 'run' && key === 'perSecond' ? { note: `${share} % of bare SQLite` } : {}),
      });
    }
  }
  return rows;
}

function memoryRows(peer: BullMq, index: number): BenchRow[] {
  const { client, redis } = peer.peakRss;
  const name = `BullMQ, ${FSYNC[DURABILITIES[index]!]}`;
  return [
    { name: `${name}: most RSS of queue and worker`, unit: 'MB', value: rounded(client / MB) },
    { name: `${name}: most RSS of Redis`, unit: 'MB', value: rounded(redis / MB) },
  ];
}
