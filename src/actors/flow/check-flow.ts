/**
 * From the steps of a flow as they are written to its graph, or to all that is wrong with them. Each problem has the path of its
 * place below the steps (`2`, `depends_on`, 0), for the config to say file, line and column. Pure; linear in steps and edges.
 */
import { describeValue, didYouMean } from '../kernel/check-schema.ts';
import { FlowGraph, MAX_FLOW_DEPTH, MAX_FLOW_STEPS, type StepSpec } from './flow-graph.ts';
import type { FlowProblem } from './flow-problem.ts';

export interface CheckedFlow {
  /** Null: there are problems. */
  readonly graph: FlowGraph | null;
  readonly problems: readonly FlowProblem[];
}

/**
 * `steps` as they were written, with undefined in the place of one that is a problem by itself. `tasks`: names of all tasks
 * there are.
 */
export function checkFlow(steps: readonly (StepSpec | undefined)[], tasks: ReadonlySet<string>): CheckedFlow {
  const problems: FlowProblem[] = [];
  if (steps.length === 0) {
    problems.push({ path: [], message: 'expected at least one step, got none' });
  } else if (steps.length > MAX_FLOW_STEPS) {
    const message = `expected at most ${MAX_FLOW_STEPS} steps, got ${steps.length}; make several flows of it, or use each`;
    problems.push({ path: [MAX_FLOW_STEPS], message });
  }
  if (problems.length > 0) return { graph: null, problems };
  const places = placesOf(steps, tasks, problems);
  const upstreams = upstreamsOf({ steps, places, tasks, problems });
  const rows = downstreamsOf(upstreams);
  const { order, level } = inOrder(upstreams, rows.down, rows.downFrom);
  if (order.length < steps.length) addCycles(steps, upstreams, order, problems);
  for (const step of order) {
    if (level[step] !== MAX_FLOW_DEPTH) continue;
    const message = `expected at most ${MAX_FLOW_DEPTH} steps in a row, got more before ${nameAt(steps, step)}; let some run side by side`;
    problems.push({ path: [step], message });
  }
  if (problems.length > 0) return { graph: null, problems };
  const whole = steps as readonly StepSpec[];
  const ups = flat(upstreams);
  const parts = { up: ups.list, upFrom: ups.from, down: rows.down, downFrom: rows.downFrom };
  return { graph: new FlowGraph({ steps: whole, order: Uint8Array.from(order), level, ...parts }), problems };
}

/** Name → step, for names that stand there once or more: the first counts. */
function placesOf(
  steps: readonly (StepSpec | undefined)[],
  tasks: ReadonlySet<string>,
  problems: FlowProblem[],
): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const isStep = new Set(steps.map((step) => step?.task));
  for (const [index, step] of steps.entries()) {
    if (step === undefined) continue;
    const first = places.get(step.task);
    if (first === undefined) places.set(step.task, index);
    else {
      const message = `expected a task that the flow does not have yet, got ${describeValue(step.task)}, which is step ${first + 1} already`;
      problems.push({ path: [index, 'task'], message });
    }
    if (tasks.has(step.task)) continue;
    const others = [...tasks].filter((name) => !isStep.has(name));
    const remedy = didYouMean(step.task, others) || '; add it under tasks';
    const message = `expected the name of a task, got ${describeValue(step.task)}${remedy}`;
    problems.push({ path: [index, 'task'], message });
  }
  return places;
}

interface DependenciesSought {
  readonly steps: readonly (StepSpec | undefined)[];
  readonly places: ReadonlyMap<string, number>;
  readonly tasks: ReadonlySet<string>;
  readonly problems: FlowProblem[];
}

/** By step: the steps it waits for; of what is a problem, nothing. */
function upstreamsOf({ steps, places, tasks, problems }: DependenciesSought): number[][] {
  return steps.map((step, index) => {
    const found = new Set<number>();
    for (const [at, name] of (step?.dependsOn ?? []).entries()) {
      const path = [index, 'depends_on', at];
      const upstream = places.get(name);
      if (upstream === undefined) {
        const remedy =
          didYouMean(name, otherSteps(places, step)) ||
          (tasks.has(name) ? `; add it to the steps: { task: ${name} }` : '');
        problems.push({ path, message: `expected a step of this flow, got ${describeValue(name)}${remedy}` });
      } else if (name === step?.task) {
        const message = `expected another step, got the step itself: ${name} → ${name}; remove it`;
        problems.push({ path, message });
      } else if (found.has(upstream)) {
        problems.push({
          path,
          message: `expected each step once, got ${describeValue(name)} again; remove it`,
        });
      } else found.add(upstream);
    }
    return [...found];
  });
}

/** Those that a step may name and does not name yet. */
function otherSteps(places: ReadonlyMap<string, number>, step: StepSpec | undefined): string[] {
  return [...places.keys()].filter((name) => name !== step?.task && !step?.dependsOn.includes(name));
}

function flat(lists: readonly (readonly number[])[]): { list: Uint8Array; from: Uint16Array } {
  const from = new Uint16Array(lists.length + 1);
  for (const [index, list] of lists.entries()) from[index + 1] = from[index]! + list.length;
  return { list: Uint8Array.from(lists.flat()), from };
}

function downstreamsOf(upstreams: readonly (readonly number[])[]): {
  down: Uint8Array;
  downFrom: Uint16Array;
} {
  const downstreams: number[][] = upstreams.map(() => []);
  for (const [step, ups] of upstreams.entries()) for (const up of ups) downstreams[up]!.push(step);
  const { list, from } = flat(downstreams);
  return { down: list, downFrom: from };
}

/** Kahn's algorithm (A. B. Kahn, *Topological sorting of large networks*, CACM 5:11, 1962). What is on a cycle, or behind one, is left out. */
function inOrder(
  upstreams: readonly (readonly number[])[],
  down: Uint8Array,
  downFrom: Uint16Array,
): { order: number[]; level: Uint8Array } {
  const open = upstreams.map((ups) => ups.length);
  const level = new Uint8Array(upstreams.length);
  const order = [...open.keys()].filter((step) => open[step] === 0);
  for (const step of order) {
    for (let at = downFrom[step]!; at < downFrom[step + 1]!; at++) {
      const next = down[at]!;
      level[next] = Math.max(level[next]!, level[step]! + 1);
      open[next]!--;
      if (open[next] === 0) order.push(next);
    }
  }
  return { order, level };
}

/**
 * Each cycle once, by its path from upstream to downstream. Every step that has no place in the order waits for another such
 * step, so going upstream from any of them ends on a cycle. Of cycles that share steps one is named: then the next is seen.
 */
function addCycles(
  steps: readonly (StepSpec | undefined)[],
  upstreams: readonly (readonly number[])[],
  order: readonly number[],
  problems: FlowProblem[],
): void {
  const placed = new Set(order);
  /** Step → the walk that came to it. */
  const walkOf = new Map<number, number>();
  for (const start of upstreams.keys()) {
    const way: number[] = [];
    let step = start;
    while (!placed.has(step) && !walkOf.has(step)) {
      walkOf.set(step, start);
      way.push(step);
      step = upstreams[step]!.find((up) => !placed.has(up))!;
    }
    if (placed.has(step) || walkOf.get(step) !== start || way.length === 0) continue;
    const cycle = way.slice(way.indexOf(step)).reverse();
    const first = cycle.indexOf(Math.min(...cycle));
    const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
    const path = [...turned, turned[0]!].map((one) => nameAt(steps, one)).join(' → ');
    const before = turned.at(-1)!;
    const at = steps[turned[0]!]!.dependsOn.indexOf(nameAt(steps, before));
    const message = `expected steps that do not wait for each other, got a cycle: ${path}; remove one of these dependencies`;
    problems.push({ path: [turned[0]!, 'depends_on', at], message });
  }
}

function nameAt(steps: readonly (StepSpec | undefined)[], step: number): string {
  return steps[step]?.task ?? `step ${step + 1}`;
}
