/** Which steps of an earlier run of a flow a new one takes over, and which run again. Pure. */
import { didYouMean } from '../kernel/check-schema.ts';
import { ColibriError } from '../kernel/errors.ts';
import type { RerunChoice } from '../protocol.ts';
import type { FlowGraph } from './flow-graph.ts';
import type { StepState } from './step-states.ts';
import type { TakenItems } from './taken-items.ts';

/** Of the steps of a flow, in an error. */
const MAX_NAMED = 20;

export interface EarlierStep {
  readonly state: StepState;
  /** Where its result is. */
  readonly result: string;
  /** Of its list, those that succeeded; null: it had none, or that is not known. */
  readonly items?: TakenItems | null;
}

/**
 * Step of the graph → where its result is, for `FlowRunOptions.takenOver`. Steps are matched by name, as the graph may be
 * another one by now: one that was not there then runs. What is behind a step that runs again would have a result of something
 * that is no more, and so runs too: a step that is taken over has only such steps before it. Throws `rerun-refused`, `usage`.
 */
export function stepsTakenOver(
  graph: FlowGraph,
  earlier: ReadonlyMap<string, EarlierStep>,
  choice: RerunChoice,
): ReadonlyMap<number, string> {
  const takenOver = new Map<number, string>();
  if (choice.kind === 'whole') return takenOver;
  const from = choice.kind === 'step' ? stepNamed(graph, choice.step) : -1;
  for (let at = 0; at < graph.order.length; at++) {
    const step = graph.order[at]!;
    const before = earlier.get(graph.nameOf(step));
    if (step === from || before?.state !== 'success') continue;
    if (graph.upstreamOf(step).every((up) => takenOver.has(up))) takenOver.set(step, before.result);
  }
  if (takenOver.size === graph.size) {
    throw new ColibriError(
      'rerun-refused',
      'expected a step that did not succeed, got none; run the whole flow again, or from a step',
    );
  }
  return takenOver;
}

/**
 * Step of the graph → items of its list that are not run again: of a step that runs again, is not the one that was named, and
 * whose list is the same as then, as all before it is taken over.
 */
export function itemsTakenOver(
  graph: FlowGraph,
  earlier: ReadonlyMap<string, EarlierStep>,
  { choice, takenOver }: { readonly choice: RerunChoice; readonly takenOver: ReadonlyMap<number, string> },
): ReadonlyMap<number, TakenItems> {
  const items = new Map<number, TakenItems>();
  if (choice.kind === 'whole') return items;
  for (const [step, { task, each }] of graph.steps.entries()) {
    const found = earlier.get(task)?.items ?? null;
    if (found === null || found.count === 0 || each === null || takenOver.has(step)) continue;
    if (choice.kind === 'step' && choice.step === task) continue;
    if (graph.upstreamOf(step).every((up) => takenOver.has(up))) items.set(step, found);
  }
  return items;
}

function stepNamed(graph: FlowGraph, name: string): number {
  const step = graph.indexOf(name);
  if (step >= 0) return step;
  const names = graph.steps.map(({ task }) => task);
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const hint = didYouMean(name, names) || `; its steps are ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  throw new ColibriError('usage', `expected a step of the flow, got ${JSON.stringify(name)}${hint}`);
}
