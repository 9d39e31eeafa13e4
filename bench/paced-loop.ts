/**
 * Calls at a fixed rate, however long they take, as users make them who do not wait for each other. The time of a call
 * counts from when it was to be made: what holds up the caller is not left out.
 */
import { type LoopFigures, loopFigures } from './closed-loop.ts';

/** Between two looks at what is to be called. */
const TICK_MS = 1;

export async function pacedLoop(options: {
  readonly perSecond: number;
  readonly count: number;
  readonly call: () => Promise<unknown>;
}): Promise<LoopFigures> {
  const { perSecond, count, call } = options;
  const everyMs = 1000 / perSecond;
  const latencies = new Float64Array(count);
  const startMono = performance.now();
  const one = async (index: number): Promise<void> => {
    await call();
    latencies[index] = performance.now() - (startMono + index * everyMs);
  };
  const calls: Promise<void>[] = [];
  while (calls.length < count) {
    const dueNow = Math.min(count, Math.floor((performance.now() - startMono) / everyMs) + 1);
    while (calls.length < dueNow) calls.push(one(calls.length));
    await new Promise((next) => setTimeout(next, TICK_MS));
  }
  await Promise.all(calls);
  return loopFigures(latencies, performance.now() - startMono);
}
