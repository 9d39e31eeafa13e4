/**
 * What the templates of each step may name. It follows from the graph; where the steps make none it follows from what they say as
 * far as that can be told, so that a problem elsewhere hides no problem here, and is the cause of none. Pure.
 */
import type { FlowGraph, StepSpec } from './flow-graph.ts';
import type { TemplateScope } from './template-text.ts';

export type StepScope = Omit<TemplateScope, 'hasItem'>;

export function scopesOf(graph: FlowGraph): readonly StepScope[] {
  const steps = new Set(graph.steps.map(({ task }) => task));
  const names = (indexes: Iterable<number>) => new Set([...indexes].map((one) => graph.nameOf(one)));
  return graph.steps.map(({ task }, index) => ({
    steps,
    upstream: names(graph.ancestorsOf(index)),
    own: task,
    behind: names(graph.descendantsOf(index)),
  }));
}

/** Undefined in the place of a step that is a problem by itself: it may have any name. */
export function scopesWithoutGraph(steps: readonly (StepSpec | undefined)[]): readonly (StepScope | null)[] {
  const byName = new Map<string, StepSpec>();
  for (const step of steps) {
    if (step === undefined) continue;
    // Of two of a name, which is a problem by itself, each may stand for what the other says.
    const same = byName.get(step.task);
    const dependsOn = [...(same?.dependsOn ?? []), ...step.dependsOn];
    byName.set(step.task, { ...step, dependsOn });
  }
  const names: ReadonlySet<string> = new Set(byName.keys());
  const upstreams = new Map([...byName].map(([name, step]) => [name, upstreamOf(step, byName)]));
  const mayLackNames = steps.includes(undefined);
  return steps.map((step) => {
    if (step === undefined) return null;
    const own = step.task;
    const behind = new Set([...names].filter((name) => upstreams.get(name)?.has(own) === true));
    return { steps: names, mayLackNames, upstream: upstreams.get(own) ?? names, own, behind };
  });
}

/** Null: it is behind a step that is not known. On a cycle all are before each other; one of them will be. */
function upstreamOf(step: StepSpec, byName: ReadonlyMap<string, StepSpec>): ReadonlySet<string> | null {
  const found = new Set(step.dependsOn);
  // What is added on the way is come to in its turn.
  for (const name of found) {
    const before = byName.get(name);
    if (before === undefined) return null;
    for (const one of before.dependsOn) found.add(one);
  }
  found.delete(step.task);
  return found;
}
