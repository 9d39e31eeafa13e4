/**
 * From a flow as it is written to what its runs work with, or to all that is wrong with it. Asked when the config is loaded, for
 * the problems, and when the daemon is wired, for the rest. Pure.
 */
import type { SchemaPath } from '../kernel/check-schema.ts';
import type { Expectation } from '../results/expectation.ts';
import type { StepLimits } from '../runs/index.ts';
import { checkFlow } from './check-flow.ts';
import { parseExpectation } from './expectations.ts';
import type { FlowDefinition, StepDefinition } from './flow-definition.ts';
import { type FlowGraph, MAX_FLOW_STEPS } from './flow-graph.ts';
import type { FlowProblem } from './flow-problem.ts';
import { scopesOf, scopesWithoutGraph } from './step-scopes.ts';
import { parseSource, type TemplateScope, type ValueSource } from './template-text.ts';
import { parseTemplate, sourcesOf, type Template } from './templates.ts';

export interface CompiledStep {
  /** Null: what the task has. */
  readonly input: Template | null;
  /** Of a step with `each`; else null. */
  readonly list: ValueSource | null;
  readonly expectation: Expectation | null;
  readonly limits: StepLimits | null;
  /** Steps whose results its input is made of. */
  readonly inputNeeds: readonly number[];
  /** Steps of which it may read the results by any way. */
  readonly mayRead: readonly number[];
}

export interface CompiledFlow {
  readonly name: string;
  readonly graph: FlowGraph;
  readonly steps: readonly CompiledStep[];
  readonly timeoutMs: number | null;
  readonly onFailure: { readonly task: string; readonly input: Template | null } | null;
  /** Some step is held against its last good run. */
  readonly compares: boolean;
}

export interface FlowCompilation {
  /** Null: there are problems. */
  readonly flow: CompiledFlow | null;
  /** With paths below the flow. */
  readonly problems: readonly FlowProblem[];
  /** By step: paths within `with` that only a run knows. */
  readonly open: readonly (readonly SchemaPath[])[];
}

type WrittenFlow = Omit<FlowDefinition, 'steps'> & {
  readonly steps: readonly (StepDefinition | undefined)[];
};

/** `steps` with undefined in the place of one that is a problem by itself. `tasks`: names of all tasks there are. */
export function compileFlow(written: WrittenFlow, tasks: ReadonlySet<string>): FlowCompilation {
  const checked = checkFlow(written.steps, tasks);
  const problems: FlowProblem[] = checked.problems.map(({ path, message }) => ({
    path: ['steps', ...path],
    message,
  }));
  const graph = written.steps.includes(undefined) ? null : checked.graph;
  if (written.steps.length > MAX_FLOW_STEPS) return { flow: null, problems, open: [] };
  const scopes = graph === null ? scopesWithoutGraph(written.steps) : scopesOf(graph);
  const parsed = written.steps.map((step, index) => {
    if (step === undefined) return null;
    const at = (...path: SchemaPath) => ['steps', index, ...path];
    const compiler = new StepCompiler({ ...scopes[index]!, hasItem: step.each !== null }, problems);
    const input = compiler.input(step.with, at('with'));
    const list = step.each === null ? null : compiler.list(step.each.list, at('each', 'list'));
    return { input, list, expectation: compiler.expectation(step, at('expect')), open: compiler.open };
  });
  const onFailure = compileFailure(written, problems);
  const open = parsed.map((step) => step?.open ?? []);
  if (problems.length > 0 || graph === null) return { flow: null, problems, open };
  const steps = parsed.map((step, index): CompiledStep => {
    const { input, list, expectation } = step!;
    return {
      input,
      list,
      expectation,
      limits: written.steps[index]!.limits,
      inputNeeds: stepsOf(input === null ? [] : sourcesOf(input), ['step'], graph),
      mayRead: stepsOf(sourcesOfStep(input, list), ['step', 'run'], graph),
    };
  });
  const { name, timeoutMs } = written;
  const compares = steps.some(({ expectation }) => expectation?.maxChangePercent != null);
  return { flow: { name, graph, steps, timeoutMs, onFailure, compares }, problems, open };
}

function stepsOf(
  sources: readonly ValueSource[],
  kinds: readonly ValueSource['kind'][],
  graph: FlowGraph,
): readonly number[] {
  const steps = sources.flatMap((source) =>
    'step' in source && kinds.includes(source.kind) ? [graph.indexOf(source.step)] : [],
  );
  return [...new Set(steps)];
}

function sourcesOfStep(input: Template | null, list: ValueSource | null): readonly ValueSource[] {
  return [...(input === null ? [] : sourcesOf(input)), ...(list === null ? [] : [list])];
}

function compileFailure({ onFailure }: WrittenFlow, problems: FlowProblem[]): CompiledFlow['onFailure'] {
  if (onFailure === null) return null;
  const scope = { steps: new Set<string>(), upstream: new Set<string>(), hasItem: false, hasFailure: true };
  const input = new StepCompiler(scope, problems).input(onFailure.with, ['on_failure', 'with']);
  return { task: onFailure.task, input };
}

class StepCompiler {
  open: readonly SchemaPath[] = [];
  readonly #scope: TemplateScope;
  readonly #problems: FlowProblem[];

  constructor(scope: TemplateScope, problems: FlowProblem[]) {
    this.#scope = scope;
    this.#problems = problems;
  }

  input(value: unknown, path: SchemaPath): Template | null {
    if (value === null) return null;
    const { template, problems, open } = parseTemplate(value, this.#scope);
    this.open = open;
    for (const problem of problems) this.#add([...path, ...problem.path], problem.message);
    return template;
  }

  list(text: string, path: SchemaPath): ValueSource | null {
    const parsed = parseSource(text, { ...this.#scope, isList: true });
    if ('problem' in parsed) {
      this.#add(path, parsed.problem);
      return null;
    }
    return parsed.source;
  }

  expectation({ expect, each }: StepDefinition, path: SchemaPath): Expectation | null {
    if (expect === null) return null;
    if (each !== null) {
      this.#add(
        path,
        'expected expect at a step with one run, got it beside each; look at the result in a step behind it',
      );
    }
    const { expectation, problems } = parseExpectation(expect);
    for (const problem of problems) this.#add([...path, ...problem.path], problem.message);
    return expectation;
  }

  #add(path: SchemaPath, message: string): void {
    this.#problems.push({ path, message });
  }
}
