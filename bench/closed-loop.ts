/** Keeps a fixed number of calls in flight and measures how many end in a second and how long each takes. */
export interface LoopFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function closedLoop(options: {
  readonly inFlight: number;
  readonly count: number;
  readonly call: () => Promise<unknown>;
}): Promise<LoopFigures> {
  const { inFlight, count, call } = options;
  const latencies = new Float64Array(count);
  let begun = 0;
  let ended = 0;
  const one = async (): Promise<void> => {
    while (begun < count) {
      begun++;
      const start = performance.now();
      await call();
      latencies[ended++] = performance.now() - start;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, one));
  return loopFigures(latencies, performance.now() - start);
}

/** Sorts the latencies. */
export function loopFigures(latencies: Float64Array, tookMs: number): LoopFigures {
  const { length } = latencies;
  latencies.sort();
  const at = (quantile: number) => latencies[Math.min(length - 1, Math.floor(length * quantile))]!;
  return { perSecond: (1000 * length) / tookMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}
