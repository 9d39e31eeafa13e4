/** How much of `mixed` any machine could do. */
export interface MixedBound {
  readonly inFlight: number;
  readonly cores: number;
  /** Mean. */
  readonly waitMs: number;
  readonly hashMs: number;
}

/**
 * Tasks a minute. By Little's law (Little, *A Proof for the Queuing Formula L = λW*, 1961) so many in flight, half of each
 * kind, end at inFlight / mean time where none waits for anything; and hashes cannot take more than all cores.
 */
export function boundPerMinute({ inFlight, cores, waitMs, hashMs }: MixedBound): number {
  return 60_000 * Math.min(inFlight / ((waitMs + hashMs) / 2), (2 * cores) / hashMs);
}
