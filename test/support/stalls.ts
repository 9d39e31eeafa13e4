/**
 * How long the whole machine stood still: stopped, held back by a quota, or its cores given to another guest of the
 * host. The kernel accounts none of it to a thread that sleeps meanwhile. So a thread of its own sleeps for 10 ms again
 * and again: a gap beyond that was taken from everybody, and nothing that the tested part does to its own threads makes
 * one.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { MachinePressure } from './process-facts.ts';
import type { HasAfter } from './temp-dir.ts';

/** In nanoseconds of `process.hrtime`, which is the same in all threads. */
const LAST = 0;
const TAKEN = 1;

/** A gap up to this is what threads wait for a core at any time. */
const GAP_NS = 50_000_000n;

const METER = `
  const { parentPort, workerData: cells } = require('node:worker_threads');
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  let lastNs = process.hrtime.bigint();
  Atomics.store(cells, ${LAST}, lastNs);
  parentPort.postMessage('measures');
  for (;;) {
    Atomics.wait(sleeper, 0, 0, 10);
    const nowNs = process.hrtime.bigint();
    if (nowNs - lastNs > ${GAP_NS}n) Atomics.add(cells, ${TAKEN}, nowNs - lastNs);
    Atomics.store(cells, ${LAST}, nowNs);
    lastNs = nowNs;
  }`;

export class StallMeter {
  readonly #cells: BigInt64Array;

  private constructor(cells: BigInt64Array) {
    this.#cells = cells;
  }

  /** Measures from when it resolves until the test ends. */
  static async start(t: HasAfter): Promise<StallMeter> {
    const cells = new BigInt64Array(new SharedArrayBuffer(16));
    const thread = new Worker(METER, { eval: true, workerData: cells });
    t.after(async () => void (await thread.terminate()));
    await once(thread, 'message');
    thread.unref();
    return new StallMeter(cells);
  }

  /** The gap that has not ended is in it: after a stall the meter may get its core later than who asks. */
  takenMs(): number {
    const openNs = process.hrtime.bigint() - Atomics.load(this.#cells, LAST);
    const takenNs = Atomics.load(this.#cells, TAKEN) + (openNs > GAP_NS ? openNs : 0n);
    return Number(takenNs) / 1e6;
  }
}

const TRIES = 3;
/** Less than this spoils no bound of a test. */
const SPOILS_MS = 50;

/**
 * For what a stall in the wrong moment may spoil, a limit of the daemon itself for one: does it again if it failed and
 * the machine took time from it, up to three times. What is broken fails each time, and on an idle machine at once.
 */
export async function unlessStalled(
  t: HasAfter,
  attempt: (stalls: StallMeter) => Promise<void>,
): Promise<void> {
  const stalls = await StallMeter.start(t);
  for (let left = TRIES; ; left--) {
    const pressure = new MachinePressure();
    const before = stalls.takenMs();
    try {
      return await attempt(stalls);
    } catch (error) {
      const takenMs = stalls.takenMs() - before + pressure.takenMs();
      if (left === 1 || takenMs < SPOILS_MS) throw error;
      t.diagnostic?.(`tried again: the machine took ${Math.round(takenMs)} ms: ${error}`.slice(0, 300));
    }
  }
}
