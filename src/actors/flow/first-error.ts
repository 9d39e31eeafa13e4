/**
 * The error of the run that a failed flow is blamed on: of the first step that failed, in the order of the graph, or
 * else was skipped, and of its first item. One error is kept of a flow run, however many of its runs fail; without stacks, which have gone to the log.
 */
import { CAUSE_LIMIT, type ErrorData } from '../kernel/errors.ts';
import type { RunState } from '../runs/run-states.ts';
import type { FlowPlace } from './flow-events.ts';
import type { FlowGraph } from './flow-graph.ts';

export class FirstError {
  readonly #graph: FlowGraph;
  #place: FlowPlace | null = null;
  #error: ErrorData | null = null;
  /** Its step has failed; else it was skipped, which decides a flow only where no step failed. */
  #isFailure = false;

  constructor(graph: FlowGraph) {
    this.#graph = graph;
  }

  saw(place: FlowPlace, state: RunState, error: ErrorData | null): void {
    if (error === null || (state !== 'failed' && state !== 'skipped')) return;
    // To a step with a list, an item that was skipped is one that failed.
    const isFailure = state === 'failed' || place.item !== null;
    if (this.#place !== null) {
      const isFirst = isFailure === this.#isFailure ? this.#isBefore(place, this.#place) : isFailure;
      if (!isFirst) return;
    }
    this.#isFailure = isFailure;
    this.#place = { step: place.step, item: place.item };
    this.#error = kept(error, CAUSE_LIMIT);
  }

  /** Null: the run of the step did not fail, or the step is not the first. */
  of(step: number | null): ErrorData | null {
    return this.#place?.step === step ? this.#error : null;
  }

  #isBefore(a: FlowPlace, b: FlowPlace): boolean {
    if (a.step === b.step) return (a.item ?? 0) < (b.item ?? 0);
    const { order } = this.#graph;
    for (let at = 0; at < order.length; at++)
      if (order[at] === a.step || order[at] === b.step) return order[at] === a.step;
    return false;
  }
}

/** `levels`: the error of the flow lies above it. */
function kept({ code, message, cause }: ErrorData, levels: number): ErrorData {
  return cause === undefined || levels === 1
    ? { code, message }
    : { code, message, cause: kept(cause, levels - 1) };
}
