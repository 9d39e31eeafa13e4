/** Counts by upper bound, as Prometheus reads them. The bounds are fixed, so its size is. */
export class Histogram {
  readonly bounds: readonly number[];
  /** One more than the bounds: the last is +Inf. Not cumulated. */
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > this.bounds[index]!) index++;
    this.counts[index]!++;
    this.sum += value;
    this.count++;
  }
}

/** Seconds. From a tiny run to one at the default longest timeout. */
export const DURATION_BOUNDS: readonly number[] = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120, 600];

/** Seconds. Lateness of a start against its due time: a good timer stays in the first three. */
export const LAG_BOUNDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 5, 30, 300];
