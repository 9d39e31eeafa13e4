/** `mixed-child.ts ORDER`: the load of one contender of `mixed`, in a process of its own; ORDER and the answer are JSON. */
import { type ContenderName, createContender, IN_FLIGHT, type MixedContender } from './mixed-contenders.ts';
import { ProcessSampler, type ProcessSummary, summarise } from './sample-process.ts';

export interface MixedOrder {
  readonly name: ContenderName;
  /** What is hashed. */
  readonly path: string;
  readonly seconds: number;
  readonly wait: { readonly fromMs: number; readonly toMs: number };
}

export interface Quantiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface KindFigures {
  readonly count: number;
  /** From the call to the answer. */
  readonly total: Quantiles;
  /** Of that, the work itself. */
  readonly run: Quantiles;
  /** And the rest: waiting for a slot, and the way there and back. */
  readonly queued: Quantiles;
}

export interface MixedFigures {
  readonly perMinute: number;
  readonly io: KindFigures;
  readonly cpu: KindFigures;
  readonly process: ProcessSummary;
  readonly threads: number;
}

/** Until threads have started and what is hot is compiled. */
const WARM_UP_MS = 3000;

interface Sample {
  readonly totalMs: number;
  readonly runMs: number;
}

async function measure(order: MixedOrder): Promise<MixedFigures> {
  const contender = await createContender(order.name);
  try {
    return await load(contender, order);
  } finally {
    await contender.close();
  }
}

async function load(contender: MixedContender, order: MixedOrder): Promise<MixedFigures> {
  const { path, seconds, wait } = order;
  const random = randomFrom(1);
  const beganMono = performance.now();
  const fromMono = beganMono + WARM_UP_MS;
  const toMono = fromMono + seconds * 1000;
  const samples = { io: [] as Sample[], cpu: [] as Sample[] };
  let calls = 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      const startMono = performance.now();
      if (startMono >= toMono) return;
      const kind = calls++ % 2 === 0 ? 'io' : 'cpu';
      const waitMs = Math.round(wait.fromMs + random() * (wait.toMs - wait.fromMs));
      const runMs = await (kind === 'io' ? contender.wait(waitMs) : contender.hash(path));
      const endMono = performance.now();
      if (endMono >= fromMono && endMono < toMono)
        samples[kind].push({ totalMs: endMono - startMono, runMs });
    }
  };
  const lanes = Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  const sampler = new ProcessSampler(contender.pid);
  // It is asked while there is work: threads come and go with it.
  const asking = new Promise<number>((resolve, reject) => {
    setTimeout(() => void contender.threads().then(resolve, reject), WARM_UP_MS + 500 * seconds);
  });
  const [threads] = await Promise.all([asking, lanes]);
  sampler.stop();
  const ended = samples.io.length + samples.cpu.length;
  return {
    perMinute: (60 * ended) / seconds,
    io: figuresOf(samples.io),
    cpu: figuresOf(samples.cpu),
    process: summarise(sampler.since(fromMono)),
    threads,
  };
}

function figuresOf(samples: readonly Sample[]): KindFigures {
  return {
    count: samples.length,
    total: quantiles(samples.map(({ totalMs }) => totalMs)),
    run: quantiles(samples.map(({ runMs }) => runMs)),
    queued: quantiles(samples.map(({ totalMs, runMs }) => totalMs - runMs)),
  };
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** The same waits for each contender: a linear congruential generator (Numerical Recipes, 7.1). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const answer = await measure(JSON.parse(process.argv[2]!) as MixedOrder);
process.stdout.write(JSON.stringify(answer), () => process.exit(0));
