/**
 * Bounds in bytes are shares of the memory budget, and what they bound lies in the heap of a thread, which ends at 1 GB
 * whatever the budget is: shares of more could not be held. The process would end of it, and again after each start with
 * what the journal has kept.
 */

/** The old generation at most, of main (scripts/runtime-flags.ts) and of each thread with actors. */
export const HEAP_BYTES = 2 ** 30;

/** The `part`th part of the budget, of 1 GB at most. */
export function budgetShare(budgetBytes: number, part: number): number {
  return Math.floor(Math.min(budgetBytes, HEAP_BYTES) / part);
}
