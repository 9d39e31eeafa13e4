/** The small parts of the core one by one, by tinybench: each beside what the runtime offers for the same. */
import { CronExpressionParser } from 'cron-parser';
import { Bench } from 'tinybench';
import { EntrySlots, TimerHeap } from '../src/actors/delay/index.ts';
import type { Envelope } from '../src/actors/kernel/index.ts';
import { encodeEnvelope } from '../src/actors/kernel/index.ts';
import { backoffMs } from '../src/actors/runs/index.ts';
import { CronOccurrences, TimeZones } from '../src/main/schedule/index.ts';
import { parseCron } from '../src/main/schedule/parse/index.ts';
import { type BenchRow, rounded } from './bench-row.ts';

/** Entries that stand in the heap while one is put in and one is taken. */
const PENDING = 100_000;

export async function benchCore(options: { readonly quick: boolean }): Promise<BenchRow[]> {
  const bench = new Bench({ time: options.quick ? 100 : 1000, warmupTime: options.quick ? 20 : 200 });
  const slots = new EntrySlots(PENDING + 1);
  const heap = new TimerHeap(slots);
  for (let index = 0; index < PENDING; index++) heap.insert(slots.take(), Math.random() * 1e6);
  const envelope: Envelope = {
    id: 1,
    kind: 'execute',
    from: 'main',
    to: 'io',
    thread: 'main',
    deadlineAtMs: null,
    attempt: 1,
    question: false,
    body: {
      run: 'noop@2026-11-29T12:00:00.123Z.1',
      task: 'noop',
      attempt: 1,
      input: '{}',
      timeoutMs: 30_000,
    },
  };
  const text = encodeEnvelope(envelope);
  const parsed = parseCron('*/5 * * * *');
  if ('problem' in parsed) throw new Error(parsed.problem);
  const cron = new CronOccurrences(parsed.fields, new TimeZones().zone('Europe/Berlin'), {
    gap: 'shift',
    repeat: 'first',
  });
  const peer = CronExpressionParser.parse('*/5 * * * *', { tz: 'Europe/Berlin' });
  const nowMs = Date.now();
  bench
    .add(`timer heap: insert and pop among ${PENDING}`, () => {
      heap.insert(slots.take(), Math.random() * 1e6);
      slots.release(heap.pop());
    })
    .add('beside it: setTimeout and clearTimeout', () => clearTimeout(setTimeout(() => {}, 1e6)))
    .add('envelope to text', () => encodeEnvelope(envelope))
    .add('envelope from text', () => JSON.parse(text) as unknown)
    .add('beside both: structuredClone', () => structuredClone(envelope))
    .add('backoff', () => backoffMs({ kind: 'scaled', baseMs: 1000, capMs: 60_000 }, 5, Math.random))
    .add('next occurrence of a cron expression', () => cron.next(nowMs))
    .add('beside it: cron-parser', () => {
      peer.reset(new Date(nowMs));
      peer.next();
    });
  await bench.run();
  return bench.tasks.map((task) => ({
    name: task.name,
    unit: 'a second',
    value: task.result.state === 'completed' ? rounded(task.result.throughput.mean) : Number.NaN,
  }));
}
