/** A flow as a graph for other programs: `--dot` for Graphviz, `--mermaid` for Mermaid. Names are escaped for each. Pure. */
import { printable } from '../kernel/index.ts';
import type { FlowGraph } from './flow-graph.ts';
import type { FlowShown, FlowTextOptions } from './flow-text.ts';
import type { StepState } from './step-states.ts';

/** Fill and line; the same in both drawings. */
const COLOURS: Readonly<Record<StepState, readonly [string, string]>> = {
  pending: ['#ffffff', '#8a8a8a'],
  ready: ['#fff7d6', '#b08900'],
  running: ['#dbeafe', '#1d4ed8'],
  success: ['#dcfce7', '#15803d'],
  failed: ['#fee2e2', '#b91c1c'],
  skipped: ['#f1f1f1', '#8a8a8a'],
  cancelled: ['#f1f1f1', '#57534e'],
};

type DrawingOptions = Pick<FlowTextOptions, 'durationText'>;

/** https://graphviz.org/doc/info/lang.html: within quotes only a quote and a backslash are special. */
export function flowDot(flow: FlowShown, options: DrawingOptions): string {
  const { graph, name } = flow;
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const lines = [
    `digraph ${quoted(printable(name))} {`,
    '  rankdir=LR;',
    '  node [shape=box, style="rounded,filled", fillcolor="#ffffff"];',
  ];
  for (const step of graph.steps.keys()) {
    const label = labelOf(flow, step, options).map((line) => quoted(line).slice(1, -1));
    const state = flow.steps?.[step]?.state;
    const look =
      state === undefined ? '' : `, fillcolor="${COLOURS[state][0]}", color="${COLOURS[state][1]}"`;
    lines.push(`  s${step} [label="${label.join('\\n')}"${look}];`);
  }
  for (const [from, to] of edgesOf(graph)) lines.push(`  s${from} -> s${to};`);
  return `${[...lines, '}'].join('\n')}\n`;
}

/** https://mermaid.js.org/syntax/flowchart.html: a text in quotes, with entity codes for what is special in it. */
export function flowMermaid(flow: FlowShown, options: DrawingOptions): string {
  const { graph } = flow;
  const lines = ['flowchart LR'];
  const classes = new Map<StepState, number[]>();
  for (const step of graph.steps.keys()) {
    const label = labelOf(flow, step, options).map(mermaidText).join('<br/>');
    lines.push(`  s${step}["${label}"]`);
    const state = flow.steps?.[step]?.state;
    if (state !== undefined) classes.set(state, [...(classes.get(state) ?? []), step]);
  }
  for (const [from, to] of edgesOf(graph)) lines.push(`  s${from} --> s${to}`);
  for (const [state, steps] of classes) {
    const [fill, stroke] = COLOURS[state];
    lines.push(`  classDef ${state} fill:${fill},stroke:${stroke}`);
    lines.push(`  class ${steps.map((step) => `s${step}`).join(',')} ${state}`);
  }
  return `${lines.join('\n')}\n`;
}

function mermaidText(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,:()/+-]/gu, (character) => `#${character.codePointAt(0)};`);
}

function labelOf({ graph, steps }: FlowShown, step: number, { durationText }: DrawingOptions): string[] {
  const name = printable(graph.nameOf(step));
  const shown = steps?.[step];
  if (shown === undefined) return [name];
  const { state, durationMs } = shown;
  return [name, durationMs === null ? state : `${state}, ${durationText(durationMs)}`];
}

function* edgesOf(graph: FlowGraph): Iterable<readonly [number, number]> {
  for (const step of graph.steps.keys()) for (const next of graph.downstreamOf(step)) yield [step, next];
}
