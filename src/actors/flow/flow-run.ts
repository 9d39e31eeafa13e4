/**
 * One run of a flow: takes events, gives back what is to be done. It starts nothing itself and knows no clock, so the same
 * events lead to the same effects; and what an event costs is the edges behind its step, whatever else waits.
 *
 *   event ─▶ step over ─▶ direct downstream: one open upstream less ─ none left ─▶ start | skip | fail
 *
 * Always holds:
 * - a step is decided when all before it are over, never sooner, so a step with `run` may clean up after the others
 * - an event that comes twice, late or out of order changes nothing: a state is left once, and only for a later one
 * - what a lost event would leave is settled by `sweep`, from the runs as they are; a new one begins, and one of a daemon
 *   before is taken up, by the same sweep
 * - every step ends with a reason, and the flow when the last one has
 */
import { assertNever } from '../kernel/errors.ts';
import { endOfFlow } from './flow-end.ts';
import {
  eventOfSeen,
  type FlowEffect,
  type FlowEnd,
  type FlowEvent,
  NOTHING_SEEN,
  type SeenRun,
  type SeenRuns,
  type StepReason,
  type StopReason,
} from './flow-events.ts';
import type { FlowGraph } from './flow-graph.ts';
import { type ItemSet, type ListCounts, ListSteps } from './list-steps.ts';
import { isStepOver, type StepState } from './step-states.ts';
import { type StepEnding, StepTable } from './step-table.ts';

export interface FlowRunOptions {
  /** Step → where its result of an earlier run of the flow is: such a step is not run again. */
  readonly takenOver?: ReadonlyMap<number, string>;
  /** Step → items of its list that are not run again either. */
  readonly takenItems?: ReadonlyMap<number, ItemSet>;
  /** It was being stopped when the daemon before ended. */
  readonly stopping?: StopReason | null;
  /** Steps that were at work when its timeout came. */
  readonly late?: Iterable<number> | undefined;
}

export class FlowRun {
  readonly graph: FlowGraph;
  readonly #steps: StepTable;
  /** Null while no step has a list. */
  #lists: ListSteps | null = null;
  #stopping: StopReason | null;
  readonly #takenItems: ReadonlyMap<number, ItemSet> | null;
  /** Steps that were at work when the timeout came: what comes of them came too late. Null: it has not come. */
  #late: Set<number> | null;
  #end: FlowEnd | null = null;
  /** Steps that have ended within this event and whose downstream is still to be told. */
  readonly #told: number[] = [];
  /** A sweep comes by every step itself, in order. */
  #sweeping = false;
  #effects: FlowEffect[] = [];

  constructor(graph: FlowGraph, { takenOver, takenItems, stopping = null, late }: FlowRunOptions = {}) {
    this.graph = graph;
    this.#steps = new StepTable(graph);
    this.#takenItems = takenItems ?? null;
    this.#stopping = stopping;
    this.#late = late === undefined ? null : new Set(late);
    for (const [step, result] of takenOver ?? []) {
      this.#steps.keepResult(step, result);
      this.#steps.end({ step, state: 'success', reason: 'taken-over' });
      for (const next of graph.downstreamOf(step)) this.#steps.countDown(next);
    }
  }

  stateOf(step: number): StepState {
    return this.#steps.stateOf(step);
  }

  /** Null: it is not over. */
  reasonOf(step: number): StepReason | null {
    return this.#steps.reasonOf(step);
  }

  /** The step before it that did not succeed, where that is the reason; else null. */
  causeOf(step: number): number | null {
    return this.#steps.causeOf(step);
  }

  /** What was said of its end beside the reason. */
  detailOf(step: number): string | null {
    return this.#steps.detailOf(step);
  }

  /** Where its result is; null: with its own run, or there is none. */
  resultOf(step: number): string | null {
    return this.#steps.resultOf(step);
  }

  /** Null: the step has no list, or it is not known yet. */
  itemsOf(step: number): ListCounts | null {
    return this.#lists?.countsOf(step) ?? null;
  }

  /** Items of the step that are to have a run which is not over. */
  activeItemsOf(step: number): readonly number[] {
    return this.#lists?.activeItemsOf(step) ?? [];
  }

  /** Null: it is not over. */
  get end(): FlowEnd | null {
    return this.#end;
  }

  get stopping(): StopReason | null {
    return this.#stopping;
  }

  /** Steps that have begun, as far as it is known, or are about to. */
  get atWork(): readonly number[] {
    return [...this.graph.steps.keys()].filter((step) => this.#steps.isOpen(step));
  }

  apply(event: FlowEvent): readonly FlowEffect[] {
    if (this.#end === null) this.#take(event);
    return this.#done();
  }

  /** The first sweep of a new flow run: nothing is there yet. */
  begin(): readonly FlowEffect[] {
    return this.sweep(NOTHING_SEEN);
  }

  /**
   * Holds every step against its run as it is, in order. A step that is ready and has no run is started, whether for the first
   * time or because its start was lost; a run whose end was not heard of ends its step now.
   */
  sweep(seen: SeenRuns): readonly FlowEffect[] {
    if (this.#end !== null) return [];
    this.#sweeping = true;
    const { order } = this.graph;
    for (let at = 0; at < order.length; at++) this.#sweepStep(order[at]!, seen);
    this.#sweeping = false;
    return this.#done();
  }

  #done(): readonly FlowEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    if (this.#steps.left > 0 || this.#end !== null) return effects;
    this.#end = endOfFlow(this.graph, this);
    effects.push({ kind: 'over', end: this.#end });
    return effects;
  }

  #take(event: FlowEvent): void {
    if (event.kind === 'stop') this.#stop(event.reason);
    // Of a step that was not told to start nothing can be true, and of one that is over nothing is new.
    else if (!this.#steps.isOpen(event.step)) return;
    else if (event.kind === 'listed') this.#listsMade().listed(event.step, event.items);
    else if (this.graph.steps[event.step]!.each !== null) this.#listsMade().take(event);
    else if (event.item === null) this.#takeOfStep(event);
    for (let step = this.#told.pop(); step !== undefined; step = this.#told.pop()) this.#tellDownstream(step);
  }

  #takeOfStep(event: Exclude<FlowEvent, { kind: 'stop' | 'listed' }>): void {
    const { step } = event;
    switch (event.kind) {
      case 'began':
        return this.#began(step);
      case 'succeeded':
        this.#began(step);
        if (this.#isLate(step)) return this.#over({ step, state: 'cancelled', reason: 'flow-timed-out' });
        this.#steps.keepResult(step, event.result);
        return this.#over({ step, state: 'success', reason: 'done' });
      case 'failed':
        this.#steps.keepDetail(step, event.detail);
        return this.#over({ step, state: 'failed', reason: event.reason });
      case 'skipped':
        this.#steps.keepDetail(step, event.detail);
        return this.#over({ step, state: 'skipped', reason: 'run-skipped' });
      case 'cancelled':
        return this.#over({ step, state: 'cancelled', reason: this.#stopping ?? 'run-cancelled' });
      case 'orphaned':
        this.#effects.push({ kind: 'cancel', step, item: null });
        return this.#over({ step, state: 'failed', reason: 'task-removed' });
      default:
        return assertNever(event, 'event of a step');
    }
  }

  /** As with the timeout of a run, an end after it is no success: a handler that is told to stop may return what it has. */
  #isLate(step: number): boolean {
    return this.#late?.has(step) === true;
  }

  #began(step: number): void {
    if (this.stateOf(step) === 'ready') this.#steps.move(step, 'running');
  }

  #over(ending: StepEnding): void {
    const { step, state, reason } = ending;
    this.#steps.end(ending);
    this.#effects.push({ kind: 'step-ended', step, state, reason });
    if (this.#sweeping) this.#tellDownstream(step);
    else this.#told.push(step);
  }

  /** One open upstream less for each step behind this one; the last one decides. */
  #tellDownstream(step: number): void {
    const { down, downFrom } = this.graph;
    for (let at = downFrom[step]!; at < downFrom[step + 1]!; at++) {
      const next = down[at]!;
      if (this.#steps.countDown(next) && !this.#sweeping) this.#decide(next);
    }
  }

  /** All before the step are over: it starts, or it does not. */
  #decide(step: number): void {
    const { onUpstreamFailure } = this.graph.steps[step]!;
    const cause = onUpstreamFailure === 'run' ? undefined : this.#steps.failedUpstream(step);
    if (cause !== undefined) {
      const state = onUpstreamFailure === 'fail' ? 'failed' : 'skipped';
      return this.#over({ step, state, reason: 'upstream', cause });
    }
    this.#steps.move(step, 'ready');
    if (!this.#sweeping) this.#start(step);
  }

  /** It has not begun, as far as anybody knows. */
  #start(step: number): void {
    if (this.#stopping !== null) this.#over({ step, state: 'cancelled', reason: this.#stopping });
    else if (this.graph.steps[step]!.each !== null) this.#effects.push({ kind: 'list', step });
    else this.#effects.push({ kind: 'start', step, item: null });
  }

  #listsMade(): ListSteps {
    this.#lists ??= new ListSteps(this.graph, this.#steps, {
      emit: (effect) => this.#effects.push(effect),
      over: (ending) => this.#over(ending),
      start: (step) => this.#start(step),
      stopping: () => this.#stopping,
      isLate: (step) => this.#isLate(step),
      takenItems: (step) => this.#takenItems?.get(step),
    });
    return this.#lists;
  }

  /** The end of the flow before its time: what has not begun does not, what has ends by itself, as its run does. */
  #stop(reason: StopReason): void {
    if (this.#stopping !== null) return;
    this.#stopping = reason;
    if (reason === 'flow-timed-out') this.#late = new Set(this.atWork);
    for (let step = 0; step < this.graph.size; step++) {
      const state = this.stateOf(step);
      if (state === 'pending') this.#over({ step, state: 'cancelled', reason });
      else if (isStepOver(state)) continue;
      else if (this.graph.steps[step]!.each !== null) this.#listsMade().stop(step);
      else this.#effects.push({ kind: 'cancel', step, item: null });
    }
  }

  #sweepStep(step: number, seen: SeenRuns): void {
    if (this.stateOf(step) === 'pending') {
      if (this.#stopping !== null) this.#takeUpStopped(step, seen);
      else if (this.#steps.openUpstreams(step) === 0) this.#decide(step);
    }
    if (!this.#steps.isOpen(step)) return;
    if (this.graph.steps[step]!.each !== null) return this.#listsMade().sweep(step, seen);
    const run = seen.run(step, null);
    if (run !== null) this.#saw(step, run);
    else if (this.stateOf(step) === 'running') this.#over({ step, state: 'failed', reason: 'run-lost' });
    else this.#start(step);
  }

  /** A flow run of before was being stopped: what has no run does not get one, what has one is let end. */
  #takeUpStopped(step: number, seen: SeenRuns): void {
    const begun = seen.run(step, null) !== null || seen.items(step) !== null;
    if (begun) this.#steps.move(step, 'ready');
    else this.#over({ step, state: 'cancelled', reason: this.#stopping! });
  }

  #saw(step: number, run: SeenRun): void {
    const event = eventOfSeen(run, { step, item: null });
    if (event !== null) this.#takeOfStep(event);
    if (this.#stopping !== null && this.#steps.isOpen(step)) {
      this.#effects.push({ kind: 'cancel', step, item: null });
    }
  }
}
