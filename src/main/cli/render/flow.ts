/** A flow, or one of its runs, drawn for the terminal and for other programs. */
import type { FlowDocument } from '../../../actors/control/index.ts';
import type { StepShown, StepSpec } from '../../../actors/flow/index.ts';
import type { FlowSpec } from '../../config/config.ts';
import { type Paint, stateColour } from './paint.ts';
import { durationText } from './time.ts';

export interface DrawnFlow {
  readonly name: string;
  readonly steps: readonly StepSpec[];
  /** Null: of the config, nothing has begun. */
  readonly shown: readonly StepShown[] | null;
  /** Said above the steps, and below. */
  readonly head: readonly string[];
}

export function drawnOfConfig({ name, steps }: FlowSpec): DrawnFlow {
  return { name, steps, shown: null, head: [] };
}

export function drawnOf(flow: FlowDocument, nowMs: number): DrawnFlow {
  const documents = flow.steps ?? [];
  const indexOf = new Map(documents.map(({ step }, index) => [step, index]));
  const durationMs = durationOf(flow, nowMs);
  const took = durationMs === null ? '' : `  ${durationText(durationMs)}`;
  return {
    name: flow.task,
    head: [`${flow.run}  ${flow.end ?? flow.state}${took}`],
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
    })),
  };
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
    'checkFlow' | 'flowLines' | 'flowDot' | 'flowMermaid'
  >;
  readonly paint: Paint;
}

export function flowText(
  { name, steps, shown, head }: DrawnFlow,
  form: 'lines' | 'dot' | 'mermaid',
  { part, paint }: FlowTextParts,
): string {
  const { graph } = part.checkFlow(steps, new Set(steps.map(({ task }) => task)));
  if (graph === null) return `${head.join('\n')}\n`;
  const flow = { name, graph, steps: shown };
  if (form === 'dot') return part.flowDot(flow, { durationText });
  if (form === 'mermaid') return part.flowMermaid(flow, { durationText });
  const lines = part.flowLines(flow, {
    durationText,
    paint: (state, text) => paint.paint(stateColour(state), text),
  });
  return `${[...head, ...lines].join('\n')}\n`;
}
