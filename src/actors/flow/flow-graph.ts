/**
 * The graph of a flow, checked: which step waits for which. One graph is shared by all runs of a flow, and no edge is an object:
 * neighbours are index ranges of flat arrays, so that ten thousand runs of a flow cost what their own states cost.
 *
 *   downstream of step s:  down[downFrom[s]] … down[downFrom[s + 1] − 1]        upstream alike
 *
 * Always holds: no cycles, no step twice, at most `MAX_FLOW_STEPS` steps and `MAX_FLOW_DEPTH` of them in a row. Pure.
 */

/** What a step does where one before it did not succeed. */
export const UpstreamFailurePolicy = {
  /** It is skipped. */
  Skip: 'skip',
  /** It runs all the same, once all that is before it is over. */
  Run: 'run',
  /** It fails without running. */
  Fail: 'fail',
} as const;
export type UpstreamFailurePolicy = (typeof UpstreamFailurePolicy)[keyof typeof UpstreamFailurePolicy];

/** What becomes of the other items of an `each:` step when one did not succeed. */
export const ItemFailurePolicy = {
  /** Those that run are cancelled, the others do not begin. */
  Stop: 'stop',
  /** All of them run; then the step fails. */
  Continue: 'continue',
} as const;
export type ItemFailurePolicy = (typeof ItemFailurePolicy)[keyof typeof ItemFailurePolicy];

/** One run of the step's task for each item of a list. */
export interface EachItem {
  /** Items that run at a time, at most. */
  readonly concurrency: number;
  readonly onFailure: ItemFailurePolicy;
}

/** A step as it is written. Its name is that of its task. */
export interface StepSpec {
  readonly task: string;
  readonly dependsOn: readonly string[];
  readonly onUpstreamFailure: UpstreamFailurePolicy;
  /** Null: one run. */
  readonly each: EachItem | null;
}

/** Small enough for a byte to count and to name steps; 255 names none. */
export const MAX_FLOW_STEPS = 250;
/** Steps in a row. */
export const MAX_FLOW_DEPTH = 100;

export interface FlowGraphParts {
  readonly steps: readonly StepSpec[];
  /** Every step after all that are before it; of several, in the order they were written. */
  readonly order: ArrayLike<number>;
  /** By step: steps before it in the longest row that leads to it; 0: it waits for none. */
  readonly level: ArrayLike<number>;
  readonly upFrom: ArrayLike<number>;
  readonly up: ArrayLike<number>;
  readonly downFrom: ArrayLike<number>;
  readonly down: ArrayLike<number>;
}

export class FlowGraph implements FlowGraphParts {
  readonly steps: readonly StepSpec[];
  readonly order: ArrayLike<number>;
  readonly level: ArrayLike<number>;
  readonly upFrom: ArrayLike<number>;
  readonly up: ArrayLike<number>;
  readonly downFrom: ArrayLike<number>;
  readonly down: ArrayLike<number>;

  /** Of parts that fit together: `checkFlow` makes them. */
  constructor(parts: FlowGraphParts) {
    this.steps = parts.steps;
    this.order = parts.order;
    this.level = parts.level;
    this.upFrom = parts.upFrom;
    this.up = parts.up;
    this.downFrom = parts.downFrom;
    this.down = parts.down;
  }

  get size(): number {
    return this.steps.length;
  }

  nameOf(step: number): string {
    return this.steps[step]!.task;
  }

  /** −1: there is none of this name. */
  indexOf(name: string): number {
    return this.steps.findIndex(({ task }) => task === name);
  }

  upstreamCount(step: number): number {
    return this.upFrom[step + 1]! - this.upFrom[step]!;
  }

  /** Steps that this one waits for itself, in the order they were written. */
  upstreamOf(step: number): number[] {
    return rangeOf(this.up, this.upFrom, step);
  }

  /** Steps that wait for this one themselves. */
  downstreamOf(step: number): number[] {
    return rangeOf(this.down, this.downFrom, step);
  }

  /** All that is before the step, however far. */
  ancestorsOf(step: number): ReadonlySet<number> {
    return reach(step, (one) => this.upstreamOf(one));
  }

  /** All that is behind the step, however far. */
  descendantsOf(step: number): ReadonlySet<number> {
    return reach(step, (one) => this.downstreamOf(one));
  }
}

function rangeOf(list: ArrayLike<number>, from: ArrayLike<number>, step: number): number[] {
  const found: number[] = [];
  for (let at = from[step]!; at < from[step + 1]!; at++) found.push(list[at]!);
  return found;
}

function reach(step: number, next: (step: number) => readonly number[]): ReadonlySet<number> {
  const seen = new Set<number>(next(step));
  for (const one of seen) for (const further of next(one)) seen.add(further);
  return seen;
}
