/**
 * How the steps of one flow run stand: four bytes a step in one small array, and texts only for steps that have some. The one
 * way through `stepTransition`.
 */
import { STEP_REASONS, type StepReason } from './flow-events.ts';
import type { FlowGraph } from './flow-graph.ts';
import { isStepOver, STEP_STATES, type StepEnd, type StepState, stepTransition } from './step-states.ts';

/** The longest detail that is kept of a step, in UTF-16 code units: a sentence with its remedy. The whole is with its run, if it has one. */
const LONGEST_DETAIL = 300;

/** What is kept of it; a mark says where it was cut. */
export function cutDetail(detail: string): string {
  return detail.length <= LONGEST_DETAIL ? detail : `${detail.slice(0, LONGEST_DETAIL - 1)}…`;
}

const NO_STEP = 255;

/** What is told of the end of a step. */
export interface StepEnding {
  readonly step: number;
  readonly state: StepEnd;
  readonly reason: StepReason;
  /** The step before it that did not succeed, where that is the reason. */
  readonly cause?: number | undefined;
}

export class StepTable {
  readonly #graph: FlowGraph;
  /** By step, one after the other: state, open upstreams, reason, cause. */
  readonly #bytes: Uint8Array;
  #left: number;
  #details: Map<number, string> | null = null;
  #results: Map<number, string> | null = null;

  constructor(graph: FlowGraph) {
    const { size } = graph;
    this.#graph = graph;
    this.#bytes = new Uint8Array(size * 4);
    this.#left = size;
    for (let step = 0; step < size; step++) this.#bytes[size + step] = graph.upstreamCount(step);
  }

  /** Steps that are not over. */
  get left(): number {
    return this.#left;
  }

  stateOf(step: number): StepState {
    return STEP_STATES[this.#bytes[step]!]!;
  }

  /** It was told to start, and is not over. */
  isOpen(step: number): boolean {
    if (step >= this.#graph.size) return false;
    const state = this.stateOf(step);
    return state === 'ready' || state === 'running';
  }

  /** Steps right before it that are not over. */
  openUpstreams(step: number): number {
    return this.#bytes[this.#graph.size + step]!;
  }

  reasonOf(step: number): StepReason | null {
    if (!isStepOver(this.stateOf(step))) return null;
    return STEP_REASONS[this.#bytes[this.#graph.size * 2 + step]!]!;
  }

  causeOf(step: number): number | null {
    const cause = this.#bytes[this.#graph.size * 3 + step]!;
    return this.reasonOf(step) === null || cause === NO_STEP ? null : cause;
  }

  detailOf(step: number): string | null {
    return this.#details?.get(step) ?? null;
  }

  resultOf(step: number): string | null {
    return this.#results?.get(step) ?? null;
  }

  move(step: number, to: StepState): void {
    const next = stepTransition(this.#graph.nameOf(step), this.stateOf(step), to);
    this.#bytes[step] = STEP_STATES.indexOf(next);
  }

  end({ step, state, reason, cause = NO_STEP }: StepEnding): void {
    this.move(step, state);
    this.#bytes[this.#graph.size * 2 + step] = STEP_REASONS.indexOf(reason);
    this.#bytes[this.#graph.size * 3 + step] = cause;
    this.#left--;
  }

  /** One that is right before it is over. True: that was the last one it waited for. */
  countDown(step: number): boolean {
    const open = --this.#bytes[this.#graph.size + step]!;
    return open === 0 && this.stateOf(step) === 'pending';
  }

  /** The first of those right before it, as they were written, that did not succeed; undefined: all did. */
  failedUpstream(step: number): number | undefined {
    const { up, upFrom } = this.#graph;
    for (let at = upFrom[step]!; at < upFrom[step + 1]!; at++) {
      if (this.stateOf(up[at]!) !== 'success') return up[at]!;
    }
    return undefined;
  }

  keepDetail(step: number, detail: string | null): void {
    if (detail === null) return;
    this.#details ??= new Map();
    this.#details.set(step, cutDetail(detail));
  }

  keepResult(step: number, result: string | null): void {
    if (result === null) return;
    this.#results ??= new Map();
    this.#results.set(step, result);
  }
}
