/**
 * The steps of one flow run that run over a list: their items begin so many at a time, and the step is over when no item runs and
 * none is going to.
 *
 *   list ─▶ listed ─▶ items start, as places get free ─▶ all succeeded: success; one did not: failed; stopped: cancelled
 */
import { assertNever } from '../kernel/errors.ts';
import { FanOut, type ItemEnd, MAX_FLOW_ITEMS } from './fan-out.ts';
import {
  eventOfSeen,
  type FlowEffect,
  type FlowEvent,
  type SeenRun,
  type SeenRuns,
  type StopReason,
} from './flow-events.ts';
import type { EachItem, FlowGraph } from './flow-graph.ts';
import type { StepEnding, StepTable } from './step-table.ts';

export interface ListStepsPorts {
  readonly emit: (effect: FlowEffect) => void;
  readonly over: (ending: StepEnding) => void;
  /** Its list is not known: asks for it, or ends it where nothing begins any more. */
  readonly start: (step: number) => void;
  readonly stopping: () => StopReason | null;
  /** It was at work when the timeout of the flow came. */
  readonly isLate: (step: number) => boolean;
  readonly takenItems: (step: number) => ItemSet | undefined;
}

type ItemEnding = Exclude<FlowEvent, { kind: 'stop' | 'listed' | 'began' }>;

export type ListCounts = Pick<
  FanOut,
  'size' | 'active' | 'succeeded' | 'taken' | 'failed' | 'cancelled' | 'succeededBy'
>;

/** Items that are taken over from an earlier run of the flow. */
export interface ItemSet {
  readonly size: number;
  has(item: number): boolean;
}

const NOT_OVER = { reason: null, detail: null } as const;

export class ListSteps {
  readonly #graph: FlowGraph;
  readonly #steps: StepTable;
  readonly #ports: ListStepsPorts;
  /** Also of steps that are over. */
  readonly #fans = new Map<number, FanOut>();

  constructor(graph: FlowGraph, steps: StepTable, ports: ListStepsPorts) {
    this.#graph = graph;
    this.#steps = steps;
    this.#ports = ports;
  }

  countsOf(step: number): ListCounts | null {
    return this.#fans.get(step) ?? null;
  }

  activeItemsOf(step: number): readonly number[] {
    return this.#fans.get(step)?.activeItems() ?? [];
  }

  listed(step: number, items: number): void {
    const { each } = this.#graph.steps[step]!;
    if (each === null || this.#fans.has(step)) return;
    const fan = this.#fanOut(step, items, each);
    if (fan !== null) this.#goOn(step, fan);
  }

  /** Of an item; or, as long as there are none, of the step: its list could not be found, or its task is gone. */
  take(event: Exclude<FlowEvent, { kind: 'stop' | 'listed' }>): void {
    const { step, item, kind } = event;
    const fan = this.#fans.get(step);
    if (fan === undefined) {
      if (kind === 'failed' && item === null) {
        this.#steps.keepDetail(step, event.detail);
        this.#over({ step, state: 'failed', reason: event.reason });
      } else if (kind === 'orphaned' && item === null) {
        this.#over({ step, state: 'failed', reason: 'task-removed' });
      }
      return;
    }
    if (item === null || event.kind === 'began') return;
    this.#ended(step, item, event);
    this.#goOn(step, fan);
  }

  /** Nothing more begins. */
  stop(step: number): void {
    const fan = this.#fans.get(step);
    if (fan === undefined) return this.#ports.start(step);
    fan.close();
    this.#cancelActive(step, fan);
    this.#goOn(step, fan);
  }

  sweep(step: number, seen: SeenRuns): void {
    const fan = this.#fans.get(step) ?? this.#takeUp(step, seen);
    if (fan === null) return;
    const lost: number[] = [];
    for (const item of fan.activeItems()) {
      const run = seen.run(step, item);
      if (run === null) lost.push(item);
      else this.#saw(step, item, run);
    }
    // Only now it is known whether more of them may begin.
    for (const item of lost) {
      if (fan.isClosed) fan.end(item, 'cancelled');
      else this.#ports.emit({ kind: 'start', step, item });
    }
    this.#goOn(step, fan);
  }

  /** Of a flow run of before, or one whose `listed` was lost; those of its items that have a run are active. */
  #takeUp(step: number, seen: SeenRuns): FanOut | null {
    const { reason, detail } = seen.run(step, null) ?? NOT_OVER;
    const items = seen.items(step);
    if (reason !== null) {
      this.take({ kind: 'failed', step, item: null, reason, detail });
      if (reason === 'item-failed' && items !== null) this.#fans.set(step, this.#pastFan(step, items, seen));
      return null;
    }
    if (items === null) {
      this.#ports.start(step);
      return null;
    }
    const fan = this.#fanOut(step, items, this.#graph.steps[step]!.each!);
    if (fan === null) return null;
    if (this.#ports.stopping() !== null) fan.close();
    for (let item = 0; item < items; item++) if (seen.run(step, item) !== null) fan.adopt(item);
    return fan;
  }

  #fanOut(step: number, items: number, each: EachItem): FanOut | null {
    if (!(items >= 0 && items <= MAX_FLOW_ITEMS)) {
      this.#steps.keepDetail(step, `expected a list of at most ${MAX_FLOW_ITEMS} items, got ${items}`);
      this.#over({ step, state: 'failed', reason: 'no-input' });
      return null;
    }
    const fan = this.#newFan(step, items, each);
    this.#fans.set(step, fan);
    this.#steps.move(step, 'running');
    return fan;
  }

  /** Of another list nothing is taken over. */
  #newFan(step: number, items: number, each: EachItem): FanOut {
    const fan = new FanOut(items, each);
    const taken = this.#ports.takenItems(step);
    if (taken?.size !== items) return fan;
    for (let item = 0; item < items; item++) if (taken.has(item)) fan.take(item);
    return fan;
  }

  /** Of a step that is over: which of its items succeeded. */
  #pastFan(step: number, items: number, seen: SeenRuns): FanOut {
    const fan = this.#newFan(step, items, this.#graph.steps[step]!.each!);
    for (let item = 0; item < items; item++) {
      const run = seen.run(step, item);
      if (run === null || fan.succeededBy(item) !== null) continue;
      fan.adopt(item);
      fan.end(item, endOfPast(run.state), run.detail);
    }
    fan.close();
    return fan;
  }

  #saw(step: number, item: number, run: SeenRun): void {
    const event = eventOfSeen(run, { step, item });
    if (event !== null && event.kind !== 'began') this.#ended(step, item, event);
    else if (this.#fans.get(step)!.isClosed) this.#ports.emit({ kind: 'cancel', step, item });
  }

  #ended(step: number, item: number, event: ItemEnding): void {
    const fan = this.#fans.get(step)!;
    const wasClosed = fan.isClosed;
    // As of a single step: what a handler returns that was told to stop may be half of its work.
    const isTooLate = event.kind === 'succeeded' && this.#ports.isLate(step);
    const { end, detail } = isTooLate ? TOO_LATE : endOf(event);
    if (!fan.end(item, end, detail)) return;
    // It would wait for its task to come back.
    if (event.kind === 'orphaned') this.#ports.emit({ kind: 'cancel', step, item });
    if (fan.isClosed && !wasClosed) this.#cancelActive(step, fan);
  }

  #goOn(step: number, fan: FanOut): void {
    for (let item = fan.begin(); item >= 0; item = fan.begin()) {
      this.#ports.emit({ kind: 'start', step, item });
    }
    if (!fan.isOver) return;
    const stopping = this.#ports.stopping();
    if (fan.succeeded === fan.size && !this.#ports.isLate(step))
      return this.#over({ step, state: 'success', reason: 'done' });
    if (stopping !== null) return this.#over({ step, state: 'cancelled', reason: stopping });
    this.#steps.keepDetail(step, failureText(this.#graph.nameOf(step), fan));
    this.#over({ step, state: 'failed', reason: 'item-failed' });
  }

  #cancelActive(step: number, fan: FanOut): void {
    for (const item of fan.activeItems()) this.#ports.emit({ kind: 'cancel', step, item });
  }

  #over(ending: StepEnding): void {
    this.#ports.over(ending);
  }
}

function endOfPast(state: SeenRun['state']): ItemEnd {
  return state === 'success' || state === 'cancelled' ? state : 'failed';
}

interface EndedItem {
  readonly end: ItemEnd;
  readonly detail: string | null;
}

const TOO_LATE: EndedItem = { end: 'cancelled', detail: null };

function endOf(event: ItemEnding): EndedItem {
  switch (event.kind) {
    case 'succeeded':
      return { end: 'success', detail: null };
    case 'failed':
      return {
        end: 'failed',
        detail: event.reason === 'no-input' ? `no input: ${event.detail}` : event.detail,
      };
    case 'skipped':
      return { end: 'failed', detail: event.detail };
    case 'orphaned':
      return { end: 'failed', detail: 'its task is gone from the config' };
    case 'cancelled':
      return { end: 'cancelled', detail: null };
    default:
      return assertNever(event, 'end of an item');
  }
}

/** `of 30 items 1 failed, 1 was cancelled, 26 did not begin; the first is mail[3]: no luck`: an item has the name of its run. */
function failureText(step: string, fan: FanOut): string {
  const { failed, cancelled } = fan;
  const waiting = fan.size - fan.succeeded - failed - cancelled;
  const counts = [
    failed === 0 ? '' : `${failed} failed`,
    cancelled === 0 ? '' : `${cancelled} ${cancelled === 1 ? 'was' : 'were'} cancelled`,
    waiting === 0 ? '' : `${waiting} did not begin`,
  ];
  const { firstFailed: first } = fan;
  const said =
    first === null
      ? ''
      : `; the first is ${step}[${first.item}]${first.detail === null ? '' : `: ${first.detail}`}`;
  return `of ${fan.size} items ${counts.filter((count) => count !== '').join(', ')}${said}`;
}
