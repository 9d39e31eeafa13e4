/**
 * Flows of ten no-op steps in a row, end to end and durable: trigger → flow run → ten runs of steps, one after the other → its
 * end in the journal → answer. The same number of flows with 100, 1,000 and 10,000 of them waiting at a time: what a step costs
 * must not grow with that. Beside it a flow whose ten steps stand side by side between two others.
 */
import { startBenchDaemon } from './bench-daemon.ts';
import { type BenchRow, rounded } from './bench-row.ts';
import { closedLoop } from './closed-loop.ts';

const STEPS = 10;
const WAITING = [100, 1000, 10_000] as const;
/** Steps a second. */
const BOUND = 3000;

export async function benchFlows(options: { readonly quick: boolean }): Promise<BenchRow[]> {
  const count = options.quick ? 1000 : 10_000;
  const names = Array.from({ length: STEPS }, (_, index) => `step-${index}`);
  const row = names.map((task, index) => (index === 0 ? { task } : { task, depends_on: [names[index - 1]] }));
  const [first = '', ...others] = names;
  const last = others.pop();
  const fan = [
    { task: first },
    ...others.map((task) => ({ task, depends_on: [first] })),
    { task: last, depends_on: others },
  ];
  const { daemon, close } = await startBenchDaemon({
    store: { kind: 'sqlite' },
    defaults: { max_retry: 0 },
    pools: { io: { slots: 1000 } },
    tasks: names.map((name) => ({ name, kind: 'io', handler: 'noop' })),
    flows: [
      { name: 'row', overlap: 'allow', steps: row },
      { name: 'fan', overlap: 'allow', steps: fan },
    ],
  });
  const trigger = (task: string) => () =>
    daemon.runs.ask(
      'trigger',
      { task, payload: null, force: false, wait: true, dueAtMs: null },
      { timeoutMs: null },
    );
  const rows: BenchRow[] = [];
  try {
    await closedLoop({ inFlight: 100, count: count / 5, call: trigger('row') });
    for (const name of ['row', 'fan'] as const) {
      for (const inFlight of WAITING) {
        const cpu = process.cpuUsage();
        const { perSecond } = await closedLoop({ inFlight, count, call: trigger(name) });
        const { user, system } = process.cpuUsage(cpu);
        const label = `${name} of ${STEPS} steps, ${inFlight.toLocaleString('en')} flows waiting`;
        const value = perSecond * STEPS;
        rows.push(
          { name: label, unit: 'steps/s', value: rounded(value), note: `bound ${BOUND}` },
          { name: label, unit: 'µs CPU a step', value: rounded((user + system) / (count * STEPS)) },
        );
      }
    }
  } finally {
    await close();
  }
  return rows;
}
