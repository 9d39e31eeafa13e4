/** A flow, or one of its runs, drawn for the terminal and for other programs. */
import type { FlowDocument, RunDocument } from '../../../actors/control/index.ts';
import type { FlowGraph, StepShown, StepSpec } from '../../../actors/flow/index.ts';
import type { FlowSpec } from '../../config/config.ts';
import { cutPainted, type Paint, stateColour } from './paint.ts';
import { lastErrorText } from './run.ts';
import { oneLine, wrap } from './text.ts';
import { durationText } from './time.ts';

export interface DrawnFlow {
  readonly name: string;
  readonly steps: readonly StepSpec[];
  /** Null: of the config, nothing has begun. */
  readonly shown: readonly StepShown[] | null;
  /** In a pipe: the cells of the run itself; null: of the config. */
  readonly row: readonly string[] | null;
  /** Said above the steps. */
  readonly head: readonly string[];
  /** By step: when it began and ended, ISO 8601; null: it has not. */
  readonly times: readonly { readonly started: string | null; readonly ended: string | null }[];
  /** The run of the task of `on_failure`; null: there is none. */
  readonly onFailure: RunDocument | null;
}

export function drawnOfConfig({ name, steps }: FlowSpec): DrawnFlow {
  return { name, steps, shown: null, row: null, head: [], times: [], onFailure: null };
}

export function drawnOf(flow: FlowDocument, nowMs: number): DrawnFlow {
  const documents = flow.steps ?? [];
  const indexOf = new Map(documents.map(({ step }, index) => [step, index]));
  const durationMs = durationOf(flow, nowMs);
  const took = durationMs === null ? '' : `  ${durationText(durationMs)}`;
  return {
    name: flow.task,
    onFailure: flow.on_failure,
    row: [
      'flow',
      flow.run,
      flow.state,
      flow.started_at ?? '',
      flow.ended_at ?? '',
      '',
      '',
      reasonOf(flow).join(''),
    ],
    times: documents.map(({ started_at: started, ended_at: ended }) => ({ started, ended })),
    head: [
      `${flow.run}  ${flow.state}${took}`,
      ...(flow.again_of === null ? [] : [`again of ${oneLine(flow.again_of)}`]),
      ...reasonOf(flow),
    ],
    steps: documents.map(({ step, depends_on: dependsOn, each }) => ({
      task: step,
      dependsOn,
      onUpstreamFailure: 'skip',
      each: each === null ? null : { concurrency: each, onFailure: 'stop' },
    })),
    shown: documents.map((step) => ({
      state: step.state as StepShown['state'],
      reason: step.reason as StepShown['reason'],
      cause: step.cause === null ? null : (indexOf.get(step.cause) ?? null),
      detail: step.detail,
      durationMs: durationOf(step, nowMs),
      items: step.items,
      takenOver: step.items?.taken_over ?? 0,
      forgotten: step.forgotten,
      againBehind: step.again_behind,
    })),
  };
}

/** Why it ended so, where the state does not say all: `end` without it. */
function reasonOf({ end, state }: FlowDocument): string[] {
  if (end === null || end === state) return [];
  return [end.startsWith(`${state}: `) ? end.slice(state.length + 2) : end];
}

function durationOf(
  { started_at: started, ended_at: ended }: Pick<FlowDocument, 'started_at' | 'ended_at'>,
  nowMs: number,
): number | null {
  if (started === null) return null;
  return Math.max(0, (ended === null ? nowMs : Date.parse(ended)) - Date.parse(started));
}

export interface FlowTextParts {
  readonly part: Pick<
    typeof import('../../flows-part.ts'),
    'checkFlow' | 'flowLines' | 'flowDot' | 'flowMermaid' | 'stepsByStage' | 'stepReasonText'
  >;
  readonly paint: Paint;
  /** Of the terminal. */
  readonly columns: number;
}

export function flowText(
  drawn: DrawnFlow,
  form: 'lines' | 'rows' | 'dot' | 'mermaid',
  { part, paint, columns }: FlowTextParts,
): string {
  const { name, steps, shown, head } = drawn;
  const { graph } = part.checkFlow(steps, new Set(steps.map(({ task }) => task)));
  if (graph === null)
    return form === 'rows' ? (drawn.row === null ? '' : rowText(drawn.row)) : `${head.join('\n')}\n`;
  const flow = { name, graph, steps: shown };
  if (form === 'rows') return flowRows(drawn, graph, part);
  if (form === 'dot') return part.flowDot(flow, { durationText });
  if (form === 'mermaid') return part.flowMermaid(flow, { durationText });
  const lines = part.flowLines(flow, {
    durationText,
    paint: (state, text) => paint.paint(stateColour(state), text),
  });
  const { onFailure } = drawn;
  if (onFailure !== null) lines.push(failureLine(onFailure, paint));
  // What is cut of a step is whole in its run; why the flow ended stands here alone.
  const top = head.flatMap((line) => wrap(line, columns));
  return `${[...top, ...lines].map((line) => cutPainted(line, columns)).join('\n')}\n`;
}

/** Below the steps: what an alarm came to is not to be looked for in the log. */
function failureLine(run: RunDocument, paint: Paint): string {
  const { task, state, duration_ms: took } = run;
  const cells = ['on_failure', oneLine(task), paint.paint(stateColour(state), state)];
  if (took !== null) cells.push(durationText(took));
  const error = lastErrorText(run);
  return `${cells.join('  ')}${error === null ? '' : `  · ${oneLine(error)}`}`;
}

/** For a pipe: a line for the run, a line a step, stage by stage, and one for the task of `on_failure`, with the same fields each. */
function flowRows(
  { shown, times, row, onFailure }: DrawnFlow,
  graph: FlowGraph,
  { stepsByStage, stepReasonText }: FlowTextParts['part'],
): string {
  const rows = stepsByStage(graph).map((step) => {
    const one = shown?.[step];
    const items = one?.items ?? null;
    const ups = graph.upstreamOf(step).map((up) => graph.nameOf(up));
    const cells = [
      String(graph.level[step]! + 1),
      graph.nameOf(step),
      one?.state ?? '',
      times[step]?.started ?? '',
      times[step]?.ended ?? '',
      items === null ? '' : `${items.succeeded}/${items.size}`,
      ups.join(','),
      one === undefined ? '' : stepReasonText(one, graph),
    ];
    return rowText(cells);
  });
  if (onFailure !== null) {
    const { task, state, started_at: started, ended_at: ended } = onFailure;
    const error = lastErrorText(onFailure) ?? '';
    rows.push(rowText(['on_failure', task, state, started ?? '', ended ?? '', '', '', error]));
  }
  return [...(row === null ? [] : [rowText(row)]), ...rows].join('');
}

function rowText(cells: readonly string[]): string {
  return `${cells.map((cell) => oneLine(cell === '' ? '-' : cell)).join('\t')}\n`;
}
