/**
 * What messages cost: in a mailbox, between actors of one thread, and across threads; beside them, in the same
 * run, a bare `postMessage` of the same envelopes as the runtime clones them.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  type ActorRef,
  ActorSystem,
  type Envelope,
  Mailbox,
  ThreadLink,
} from '../src/actors/kernel/index.ts';
import { type BenchRow, rounded } from './bench-row.ts';
import { FAR_ACTOR, type FarMessages, farActor } from './mailbox-thread.ts';

const FAR_FILE = new URL('./mailbox-thread.ts', import.meta.url);
/** 64 bytes as JSON. */
const BODY = { run: 'hash-inbox@2026-11-01T00:00:00.000Z', at: 1_790_000_000 };
const BATCH = 200;

interface Counts {
  readonly local: number;
  readonly far: number;
  readonly trips: number;
}

/** Five rounds of each, the median. Rates in messages a second, trips in microseconds. */
export async function benchMailbox(options: { quick?: boolean } = {}): Promise<BenchRow[]> {
  const counts: Counts = options.quick
    ? { local: 50_000, far: 20_000, trips: 500 }
    : { local: 1_000_000, far: 200_000, trips: 5000 };
  const rows: BenchRow[] = [];
  const add = (name: string, unit: string, value: number) => rows.push({ name, unit, value });
  add('mailbox trySend + take', 'messages/s', await median(() => mailboxRate(counts.local)));
  const near = nearSystem();
  add('local tell to receive', 'messages/s', await median(() => tellRate(near.ref, counts.local)));
  add('local ask', 'asks/s', await median(() => askRate(near.ref, counts.local / 10)));
  await near.system.close();
  const far = await farSystem();
  add('cross-thread tell', 'messages/s', await median(() => tellRate(far.ref, counts.far)));
  const trips = await askTrips(far.ref, counts.trips);
  add('cross-thread ask p50', 'µs', quantile(trips, 0.5));
  add('cross-thread ask p99', 'µs', quantile(trips, 0.99));
  await far.close();
  const bare = new BarePort();
  add('bare postMessage, cloned', 'messages/s', await median(() => bare.rate(counts.far)));
  const bareTrips = await bare.trips(counts.trips);
  add('bare postMessage round trip p50', 'µs', quantile(bareTrips, 0.5));
  add('bare postMessage round trip p99', 'µs', quantile(bareTrips, 0.99));
  await bare.close();
  return rows;
}

function nearSystem(): { system: ActorSystem; ref: ActorRef<FarMessages> } {
  const system = new ActorSystem({ thread: 'main', placement: { [FAR_ACTOR]: 'main' }, onEscalate: fail });
  return { system, ref: system.spawn(farActor) };
}

async function farSystem(): Promise<{ ref: ActorRef<FarMessages>; close: () => Promise<void> }> {
  const system: ActorSystem = new ActorSystem({
    thread: 'main',
    placement: { [FAR_ACTOR]: 'service' },
    remote: { trySend: (_thread, text) => link.trySend(text), send: (_thread, text) => link.send(text) },
    onEscalate: fail,
  });
  const link = new ThreadLink({
    name: 'service',
    file: FAR_FILE,
    system,
    route: () => Promise.reject(new Error('expected no third thread')),
    onEscalate: (error) => fail('service', error),
  });
  await link.start();
  const close = async () => {
    await link.stop(1000);
    await system.close();
  };
  return { ref: system.ref<FarMessages>(FAR_ACTOR), close };
}

function mailboxRate(count: number): number {
  const mailbox = new Mailbox<typeof BODY>({ capacity: BATCH, capacityBytes: 1 << 20, whenFull: 'reject' });
  const start = performance.now();
  for (let done = 0; done < count; done += BATCH) {
    for (let i = 0; i < BATCH; i++) mailbox.trySend(BODY, 64);
    for (let i = 0; i < BATCH; i++) mailbox.take();
  }
  return rate(count, start);
}

/** Tells in batches, waits where it is told to, and stops the time when the last one is handled. */
async function tellRate(ref: ActorRef<FarMessages>, count: number): Promise<number> {
  const start = performance.now();
  for (let done = 0; done < count; done += BATCH) {
    for (let i = 1; i < BATCH; i++) void ref.tell('item', BODY);
    await ref.tell('item', BODY);
  }
  await ref.ask('count', null, { timeoutMs: 60_000 });
  return rate(count, start);
}

async function askRate(ref: ActorRef<FarMessages>, count: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < count; i++) await ref.ask('echo', BODY);
  return rate(count, start);
}

async function askTrips(ref: ActorRef<FarMessages>, count: number): Promise<number[]> {
  const trips: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await ref.ask('echo', BODY);
    trips.push((performance.now() - start) * 1000);
  }
  return trips;
}

class BarePort {
  readonly #worker = new Worker(FAR_FILE, { workerData: { bare: true } });
  #id = 0;

  async rate(count: number): Promise<number> {
    const start = performance.now();
    for (let i = 0; i < count; i++) this.#worker.postMessage(this.#envelope(false));
    await this.#trip();
    return rate(count, start);
  }

  async trips(count: number): Promise<number[]> {
    const trips: number[] = [];
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await this.#trip();
      trips.push((performance.now() - start) * 1000);
    }
    return trips;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #trip(): Promise<void> {
    this.#worker.postMessage(this.#envelope(true));
    await once(this.#worker, 'message');
  }

  #envelope(question: boolean): Envelope {
    const id = ++this.#id;
    return {
      id,
      kind: question ? 'echo' : 'item',
      from: 'main',
      to: FAR_ACTOR,
      thread: 'main',
      deadlineAtMs: null,
      attempt: 1,
      question,
      body: BODY,
    };
  }
}

function rate(count: number, startMono: number): number {
  return Math.round((count * 1000) / (performance.now() - startMono));
}

async function median(measure: () => number | Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < 5; round++) values.push(await measure());
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return rounded(value);
}

function fail(actor: string, error: unknown): never {
  throw new Error(`expected the benchmark to run, got the end of ${actor}`, { cause: error });
}
