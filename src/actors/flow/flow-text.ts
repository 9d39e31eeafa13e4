/**
 * A flow for people: what its steps are, how they did, how long they took. In the terminal a line a step, stage by stage: a
 * stage holds what may run side by side. As a graph for Graphviz and Mermaid. Names and texts are escaped for each. Pure.
 */
import { printable } from '../kernel/index.ts';
import { forgottenText } from '../views/forgotten-text.ts';
import type { ItemsView } from '../views/run-view.ts';
import type { FlowEnd, StepReason } from './flow-events.ts';
import type { FlowGraph } from './flow-graph.ts';
import type { FlowRun } from './flow-run.ts';
import type { StepState } from './step-states.ts';

/** One step as it is shown. */
export interface StepShown {
  readonly state: StepState;
  /** Null: it is not over. */
  readonly reason: StepReason | null;
  /** The step before it that is to blame. */
  readonly cause: number | null;
  readonly detail: string | null;
  /** Null: it has not begun. */
  readonly durationMs: number | null;
  readonly items: Omit<ItemsView, 'takenOver'> | null;
  /** Of the items that succeeded: in an earlier run of the flow. */
  readonly takenOver?: number;
  /** Results that are made anew, as they were not kept any more. */
  readonly forgotten?: number;
  /** The step before it that is made anew, so that this one runs again though it had succeeded. */
  readonly againBehind?: string | null;
}

type ReasonShown = Pick<StepShown, 'reason' | 'cause' | 'detail'>;

export interface EndedFlow {
  readonly graph: FlowGraph;
  readonly run: Pick<FlowRun, 'stateOf' | 'reasonOf' | 'causeOf' | 'detailOf'>;
}

/** A flow run, or with no steps the flow as the config has it. */
export interface FlowShown {
  readonly name: string;
  readonly graph: FlowGraph;
  readonly steps: readonly StepShown[] | null;
}

export interface FlowTextOptions {
  /** Colours, or none. */
  readonly paint?: (state: StepState, text: string) => string;
  readonly durationText: (ms: number) => string;
}

const SIGNS: Readonly<Record<StepState, string>> = {
  pending: '·',
  ready: '○',
  running: '▶',
  success: '✓',
  failed: '✗',
  skipped: '-',
  cancelled: '⊘',
};

/** Steps named on one line; of more, the number. */
const MAX_NAMED = 4;
/** A column of names is no wider: longer ones push their line. */
const WIDEST_NAME = 40;

export function flowLines(flow: FlowShown, options: FlowTextOptions): string[] {
  const { graph, steps } = flow;
  const nameWidth = Math.min(WIDEST_NAME, Math.max(...graph.steps.map(({ task }) => printable(task).length)));
  const durations = (steps ?? []).map(({ durationMs }) =>
    durationMs === null ? '-' : options.durationText(durationMs),
  );
  const durationWidth = Math.max(0, ...durations.map((text) => text.length));
  const stageWidth = String(depthOf(graph)).length;
  let last = -1;
  return stepsByStage(graph).map((step) => {
    const level = graph.level[step]!;
    const stage = level === last ? '' : String(level + 1);
    last = level;
    const cells = [stage.padStart(stageWidth), ...stepCells(flow, step, { nameWidth, options })];
    if (steps !== null) cells.push(durations[step]!.padStart(durationWidth));
    cells.push(notesOf(flow, step));
    return cells.join('  ').trimEnd();
  });
}

/** How a flow run ended: `failed: step check_orders failed: not as expected: …`. */
export function flowEndText(end: FlowEnd, flow: EndedFlow): string {
  const why = flowEndReason(end, flow);
  return why === '' ? end.state : `${end.state}: ${why}`;
}

/** Why it ended so; nothing where the state says all. */
export function flowEndReason({ reason, step }: FlowEnd, { graph, run }: EndedFlow): string {
  const name = step === null ? '' : printable(graph.nameOf(step));
  const said = step === null ? '' : stepReasonText(reasonShown(run, step), graph);
  const why = said === '' ? '' : `: ${said}`;
  switch (reason) {
    case 'done':
    case 'cancelled':
      return '';
    case 'timed-out':
      return `the flow took longer than its timeout${step === null ? '' : `, with step ${name} not over`}`;
    case 'step-failed':
      return `step ${name} failed${why}${othersText(step, { graph, run })}`;
    case 'step-cancelled':
      return `the run of step ${name} was cancelled`;
    case 'step-skipped':
      return `step ${name} did not run${why}`;
  }
}

/** Steps that failed of themselves as well; those that failed as one before them did are no news. */
function othersText(step: number | null, { graph, run }: EndedFlow): string {
  const others = [...graph.steps.keys()].filter(
    (one) => one !== step && run.stateOf(one) === 'failed' && run.reasonOf(one) !== 'upstream',
  );
  return others.length === 0 ? '' : `; also failed: ${namesText(graph, others)}`;
}

function reasonShown(run: EndedFlow['run'], step: number): ReasonShown {
  return { reason: run.reasonOf(step), cause: run.causeOf(step), detail: run.detailOf(step) };
}

/** Why a step ended as it did; nothing for one that did what it should. */
export function stepReasonText(shown: ReasonShown, graph: FlowGraph): string {
  const { reason, cause, detail } = shown;
  const said = detail === null ? '' : `: ${printable(detail)}`;
  switch (reason) {
    case null:
    case 'done':
      return '';
    case 'taken-over':
      return 'result taken over from an earlier run';
    case 'run-failed':
      return detail === null ? 'its run failed' : printable(detail);
    case 'not-expected':
      return `not as expected${said}`;
    case 'no-input':
      return `no input${said}`;
    case 'task-removed':
      return 'its task is gone from the config';
    case 'run-lost':
      return 'its run is not known any more';
    case 'item-failed':
      return detail === null ? 'an item did not succeed' : printable(detail);
    case 'run-skipped':
      return `its run was skipped${said}`;
    case 'run-cancelled':
      return 'its run was cancelled';
    case 'upstream':
      return cause === null
        ? 'a step before it did not succeed'
        : `${printable(graph.nameOf(cause))} did not succeed`;
    case 'flow-cancelled':
      return 'the flow was cancelled';
    case 'flow-timed-out':
      return 'the flow took longer than its timeout';
  }
}

interface Cells {
  readonly nameWidth: number;
  readonly options: FlowTextOptions;
}

function stepCells({ graph, steps }: FlowShown, step: number, { nameWidth, options }: Cells): string[] {
  const name = printable(graph.nameOf(step)).padEnd(nameWidth);
  const shown = steps?.[step];
  if (shown === undefined) return [name];
  const { state } = shown;
  const paint = options.paint ?? ((_: StepState, text: string) => text);
  return [`${paint(state, SIGNS[state])} ${name}`, paint(state, state.padEnd('cancelled'.length))];
}

function notesOf({ graph, steps }: FlowShown, step: number): string {
  const notes: string[] = [];
  const ups = graph.upstreamOf(step);
  if (ups.length > 0) notes.push(`← ${namesText(graph, ups)}`);
  const { each } = graph.steps[step]!;
  const shown = steps?.[step];
  const told = shown === undefined ? null : itemsReason(shown);
  if (told !== null) notes.push(told);
  else if (shown?.items != null) {
    const { size, succeeded, failed, cancelled = 0 } = shown.items;
    const { takenOver = 0 } = shown;
    const before = takenOver === 0 ? '' : ` (${takenOver} in an earlier run)`;
    const cut = cancelled === 0 ? '' : `, ${cancelled} cancelled`;
    notes.push(`${succeeded} of ${size} items${before}${failed === 0 ? '' : `, ${failed} failed`}${cut}`);
  } else if (each !== null && (shown?.reason ?? null) === null)
    notes.push(`each, ${each.concurrency} at a time`);
  if ((shown?.forgotten ?? 0) > 0) notes.push(forgottenText(shown!.forgotten!));
  const behind = shown?.againBehind ?? null;
  if (behind !== null) notes.push(`runs again, as ${printable(behind)} is made anew`);
  const reason = shown === undefined || told !== null ? '' : stepReasonText(shown, graph);
  if (reason !== '') notes.push(reason);
  return notes.join('  · ');
}

/** `5 of 7 items, 2 failed; the first is mail[3]: no luck`: the reason goes on where the number of items ends. Null: it has none of these. */
function itemsReason({ reason, detail, items, takenOver = 0 }: StepShown): string | null {
  if (reason !== 'item-failed' || detail === null || items === null) return null;
  const head = `of ${items.size} items `;
  if (!detail.startsWith(head)) return null;
  const before = takenOver === 0 ? '' : ` (${takenOver} in an earlier run)`;
  return `${items.succeeded} of ${items.size} items${before}, ${printable(detail.slice(head.length))}`;
}

function namesText(graph: FlowGraph, steps: readonly number[]): string {
  const names = steps.slice(0, MAX_NAMED).map((step) => printable(graph.nameOf(step)));
  const more = steps.length - names.length;
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
}

/** Steps by the stage they stand in, and as they were written within it. */
export function stepsByStage(graph: FlowGraph): number[] {
  return [...graph.steps.keys()].sort((a, b) => graph.level[a]! - graph.level[b]! || a - b);
}

function depthOf(graph: FlowGraph): number {
  return 1 + Math.max(...Array.from(graph.level));
}
