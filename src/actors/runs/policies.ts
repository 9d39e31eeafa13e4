/** The closed choices that a task makes about its runs. */

/** What happens to an occurrence that comes while a run of the same task is not over. */
export const OverlapPolicy = {
  /** It is skipped. */
  Skip: 'skip',
  /** It waits; a second one that comes meanwhile is skipped. */
  QueueOne: 'queue-one',
  /** It waits its turn, however many wait before it. */
  QueueAll: 'queue-all',
  /** What runs is aborted, then it runs. */
  CancelRunning: 'cancel-running',
  /** It runs beside the others. */
  Allow: 'allow',
} as const;
export type OverlapPolicy = (typeof OverlapPolicy)[keyof typeof OverlapPolicy];

/** The declared answer of a bounded queue to one item more than it holds. */
export const WhenFull = {
  /** The source waits. */
  Block: 'block',
  /** The new item is refused and its source told. */
  Reject: 'reject',
  /** The oldest item makes room. */
  DropOldest: 'drop-oldest',
  /** The new item is dropped. */
  DropNewest: 'drop-newest',
} as const;
export type WhenFull = (typeof WhenFull)[keyof typeof WhenFull];

export type OverlapDecision = 'run' | 'wait' | 'skip' | 'cancel-then-wait';

/** What to do with a new run of a task of which `live` runs are not over and `waiting` of those wait already. */
export function decideOverlap(policy: OverlapPolicy, live: number, waiting: number): OverlapDecision {
  if (live === 0) return 'run';
  switch (policy) {
    case 'allow':
      return 'run';
    case 'skip':
      return 'skip';
    case 'queue-one':
      return waiting === 0 ? 'wait' : 'skip';
    case 'queue-all':
      return 'wait';
    case 'cancel-running':
      return waiting === 0 ? 'cancel-then-wait' : 'skip';
  }
}
