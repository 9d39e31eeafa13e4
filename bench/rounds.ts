/** Two or more ways of doing the same, in turn, so that a drift of the machine meets all alike. */
import { median } from './bench-row.ts';

export interface Contender {
  readonly name: string;
  readonly run: () => Promise<void>;
  /** Undoes what a run left, outside the measured time. */
  readonly reset?: () => void;
}

/** Median seconds of each contender, by name. The first round warms up and is not counted. */
export async function alternate(
  contenders: readonly Contender[],
  rounds: number,
): Promise<Map<string, number>> {
  const seconds = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, run, reset } of contenders) {
      const startMono = performance.now();
      await run();
      if (round > 0) seconds.get(name)!.push((performance.now() - startMono) / 1000);
      reset?.();
    }
  }
  return new Map([...seconds].map(([name, values]) => [name, median(values)]));
}
