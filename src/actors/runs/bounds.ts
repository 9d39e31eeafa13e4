/** How many runs may be on slots at once, and begin within a time: what a config says of it. */

/** At most `count` begin within `perMs` in the long run; `burst`: so many at once after a pause. */
export interface RateSpec {
  readonly count: number;
  readonly perMs: number;
  readonly burst: number;
}

/** What tasks share; at least one of both. */
export interface GroupBounds {
  readonly concurrency?: number;
  readonly rate?: RateSpec;
}

/** Of one task alone. */
export interface TaskBounds {
  /** Null: no bound. */
  readonly concurrency: number | null;
  /** Null: its runs have no keys. */
  readonly key: KeyBound | null;
}

/** At most `concurrency` runs of one key at once. */
export interface KeyBound {
  readonly concurrency: number;
  /** The key of a run, from its input (JSON text). Never throws. */
  readonly keyOf: (input: string) => string;
}

/** All that can be set anew while runs wait and run. */
export interface Bounds {
  /** Runs on slots over all pools; null: no bound but the slots. */
  readonly concurrency: number | null;
  readonly groups: Readonly<Record<string, GroupBounds>>;
  /** How much waiting one step of priority is worth. */
  readonly ageingMs: number;
}

export const BoundKind = { All: 'all', Group: 'group', Task: 'task', Key: 'key' } as const;
export type BoundKind = (typeof BoundKind)[keyof typeof BoundKind];
