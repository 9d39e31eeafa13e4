/**
 * Bytes that the queues may hold: shares of the memory budget. Pure arithmetic. Bounds are not use; how they add up
 * beside all the others is shown by `colibri size`.
 */
import { budgetShare } from '../kernel/index.ts';

export interface RunsByteLimits {
  /** Above it no newcomer becomes ready: all runs that were accepted and are not over, on a slot or not. */
  readonly ready: number;
  /** Above it a failed run is not kept for a retry: the same runs. More than `ready`, so that work goes before news. */
  readonly retry: number;
  /** Runs that wait for room, or for the run before them. */
  readonly delayed: number;
  readonly deadLetters: number;
  /** Transitions that the store has not answered for; above it no slot takes work. */
  readonly journal: number;
}

/** `budgetBytes`: what the whole process may hold. A quarter of it for live runs, a twentieth for dead letters. */
export function runsByteLimits(budgetBytes: number): RunsByteLimits {
  const share = (part: number): number => budgetShare(budgetBytes, part);
  return {
    ready: share(5),
    retry: share(5) + share(40),
    delayed: share(40),
    deadLetters: share(20),
    journal: share(10),
  };
}

/** Where nobody says otherwise: those of a budget of 40 MB. */
export const DEFAULT_BYTE_LIMITS = runsByteLimits(40 * 2 ** 20);
