/** One line of a benchmark's table. */
export interface BenchRow {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  /** This value over the peer's of the same name, where there is a peer. */
  readonly ratio?: number;
  readonly note?: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Three significant digits and more: enough for a table. */
export function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
