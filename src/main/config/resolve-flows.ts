/** `flows:` → `FlowSpec`s: each step, then the flow as a whole. */
import type { StepDefinition } from '../../actors/flow/index.ts';
import { describeValue, didYouMean, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { FlowSpec, TaskSpec } from './config.ts';
import type { RawConfig, RawFlow, RawStep } from './raw-config.ts';
import { resolveSchedule } from './resolve-schedule.ts';
import type { ResolveScope } from './resolve-scope.ts';
import { resolveShared, type Shared, toMs } from './resolve-shared.ts';
import { checkStepInput, resolveStepInput } from './step-input.ts';

export interface FlowSurroundings {
  readonly defaults: Shared;
  readonly tasks: readonly TaskSpec[];
  readonly scope: ResolveScope;
}

export function resolveFlows(raw: RawConfig, around: FlowSurroundings): readonly FlowSpec[] {
  if (raw.flows.length === 0) return [];
  const { scope, tasks } = around;
  const { compileFlow } = scope.options;
  if (compileFlow === undefined) {
    scope.problems.add(['flows', 0], 'expected no flows, got one: options.compileFlow is not given');
    return [];
  }
  checkNames(raw, scope);
  // As they are written: what is wrong with one of them is said where it stands.
  const names = new Set(raw.tasks.flatMap((task) => (task?.name === undefined ? [] : [task.name])));
  const specOf = new Map(tasks.map((task) => [task.name, task]));
  const specs: FlowSpec[] = [];
  for (const [index, flow] of raw.flows.entries()) {
    if (flow?.steps === undefined) continue;
    const path = ['flows', index];
    const steps = flow.steps.map((step, at) =>
      resolveStep(step, { path: [...path, 'steps', at], specOf, scope }),
    );
    const spec = resolveFlow(flow, path, around);
    checkFailureTask(flow, { path, names, scope });
    const { problems, open } = compileFlow({ ...spec, steps }, names);
    for (const problem of problems) scope.problems.add([...path, ...problem.path], problem.message);
    for (const [at, step] of steps.entries()) {
      const place = { path: [...path, 'steps', at, 'with'], open: open[at] };
      if (step !== undefined) checkStepInput(step, specOf.get(step.task), place, scope);
    }
    if (problems.length > 0 || steps.includes(undefined)) continue;
    specs.push({ ...spec, steps: steps as readonly StepDefinition[] });
  }
  return specs;
}

function resolveFlow(
  flow: RawFlow,
  path: SchemaPath,
  { defaults, tasks, scope }: FlowSurroundings,
): FlowSpec {
  const { time_zone, dst, misfire, overlap, splay_seconds, priority } = flow;
  const own = Object.fromEntries(
    Object.entries({ time_zone, dst, misfire, overlap, splay_seconds, priority }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const shared = resolveShared(own, defaults, path, scope);
  const failure = flow.on_failure?.task;
  const task = tasks.find(({ name }) => name === failure);
  return {
    // Without one it is a problem that is reported already.
    name: flow.name ?? '',
    steps: [],
    timeoutMs: flow.timeout_seconds === null ? null : Math.max(1, toMs(flow.timeout_seconds)),
    onFailure:
      failure === undefined
        ? null
        : { task: failure, with: resolveStepInput(flow.on_failure?.with, task, scope) },
    schedule: resolveSchedule(flow, { timeZone: shared.timeZone, dst: shared.dst }, path, scope),
    misfire: shared.misfire,
    overlap: shared.overlap,
    splayMs: shared.splayMs,
    runOnStart: flow.run_on_start,
    priority: shared.priority,
  };
}

interface StepPlace {
  readonly path: SchemaPath;
  readonly specOf: ReadonlyMap<string, TaskSpec>;
  readonly scope: ResolveScope;
}

/** Undefined: it is a problem by itself, and reported. */
function resolveStep(
  step: RawStep | undefined,
  { path, specOf, scope }: StepPlace,
): StepDefinition | undefined {
  if (step?.task === undefined) return undefined;
  const { each } = step;
  if (each !== undefined && each.list === undefined) return undefined;
  const task = specOf.get(step.task);
  if (task?.each != null) {
    const message = `expected a task with one run, got ${describeValue(step.task)}, which has a run for each file; give the step a task without each`;
    scope.problems.add([...path, 'task'], message);
  }
  checkExpectation(step, [...path, 'expect'], scope);
  return {
    task: step.task,
    dependsOn: step.depends_on.filter((name) => name !== undefined),
    onUpstreamFailure: step.on_upstream_failure,
    each:
      each === undefined
        ? null
        : { list: each.list!, concurrency: each.concurrency, onFailure: each.on_item_failure },
    with: resolveStepInput(step.with, task, scope),
    expect: step.expect ?? null,
    limits: resolveLimits(step, { path, task, scope }),
  };
}

function checkExpectation({ expect }: RawStep, path: SchemaPath, scope: ResolveScope): void {
  const isEmpty = expect !== undefined && Object.values(expect).every((value) => value === undefined);
  if (!isEmpty || scope.problems.hasWithin(path)) return;
  const message =
    'expected schema, min_rows, max_rows or max_change_percent, got none; remove expect or add one';
  scope.problems.add(path, message);
}

function resolveLimits(
  step: RawStep,
  { path, task, scope }: { path: SchemaPath; task: TaskSpec | undefined; scope: ResolveScope },
): StepDefinition['limits'] {
  const { timeout_seconds, max_retry, backoff, priority } = step;
  const own = Object.fromEntries(
    Object.entries({ timeout_seconds, max_retry, backoff, priority }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  if (task === undefined || Object.keys(own).length === 0) return null;
  // What a step inherits is the task's: the rest of what is shared is not looked at.
  const base = { ...task, timeZone: null, dst: { gap: 'shift', repeat: 'first' } } as const;
  const { timeoutMs, maxRetry, backoff: policy } = resolveShared(own, base, path, scope);
  return { timeoutMs, maxRetry, backoff: policy, priority: priority ?? null };
}

/** Runs of both are told apart by their names. */
function checkNames(raw: RawConfig, scope: ResolveScope): void {
  const first = new Map<string, SchemaPath>();
  for (const [index, task] of raw.tasks.entries()) {
    if (task?.name !== undefined) first.set(task.name, ['tasks', index, 'name']);
  }
  for (const [index, flow] of raw.flows.entries()) {
    if (flow?.name === undefined) continue;
    const path = ['flows', index, 'name'];
    const before = first.get(flow.name);
    if (before === undefined) first.set(flow.name, path);
    else {
      const where = scope.problems.where(before);
      const message = `expected a name that no other flow or task has, got ${JSON.stringify(flow.name)}, which is at ${where} too`;
      scope.problems.add(path, message);
    }
  }
}

function checkFailureTask(
  flow: RawFlow,
  { path, names, scope }: { path: SchemaPath; names: ReadonlySet<string>; scope: ResolveScope },
): void {
  const task = flow.on_failure?.task;
  if (task === undefined || names.has(task)) return;
  const remedy = didYouMean(task, names) || '; add it under tasks';
  const message = `expected the name of a task, got ${describeValue(task)}${remedy}`;
  scope.problems.add([...path, 'on_failure', 'task'], message);
}
