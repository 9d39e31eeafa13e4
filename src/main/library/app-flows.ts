/** The flows of an app: each is checked when it is defined, as the loader checks one of a file. */
import { compileFlow, type StepDefinition } from '../../actors/flow/index.ts';
import { ConfigInvalid, type FlowSpec, type TaskSpec } from '../config/index.ts';
import type { EndedRun } from './app-run.ts';
import { type FlowOptions, stepInput } from './flow-options.ts';

/** A task as the flows of its app see it. */
export interface FlowTask {
  readonly spec: TaskSpec;
  readonly dependsOn: readonly string[];
  /** It takes results: its function is this program's. */
  readonly isFunction: boolean;
  /** What it is given is the payload; of a built-in handler, what its task says alone. */
  readonly takesPayload: boolean;
}

export class AppFlows {
  readonly #flows = new Map<string, FlowSpec>();
  readonly #listeners = new Map<string, Pick<FlowOptions, 'onFinished' | 'onFailed'>>();

  get specs(): readonly FlowSpec[] {
    return [...this.#flows.values()];
  }

  has(name: string): boolean {
    return this.#flows.has(name);
  }

  /** `when`: a task that is due as the flow is. Throws `ConfigInvalid`. */
  add(when: TaskSpec, tasks: readonly FlowTask[], options: FlowOptions): void {
    const { name, schedule, misfire, overlap, splayMs, runOnStart, priority } = when;
    const steps = tasks.map(stepOf);
    const timeoutSeconds = options.timeoutSeconds ?? null;
    const timeoutMs = timeoutSeconds === null ? null : Math.max(1, Math.round(timeoutSeconds * 1000));
    const definition = { name, steps, timeoutMs, onFailure: null };
    const { problems } = compileFlow(definition, new Set(tasks.map(({ spec }) => spec.name)));
    const messages = problems.map(({ path: [part, index], message }) => {
      const step = part === 'steps' && typeof index === 'number' ? `step ${steps[index]?.task}: ` : '';
      return `flow ${name}: ${step}${message}`;
    });
    for (const { spec } of tasks) {
      if (spec.each === null) continue;
      messages.push(`flow ${name}: step ${spec.name}: expected a task with one run, got one with each`);
    }
    if (messages.length > 0) {
      throw new ConfigInvalid(messages.map((message) => ({ file: 'options', line: 0, column: 0, message })));
    }
    this.#flows.set(name, { ...definition, schedule, misfire, overlap, splayMs, runOnStart, priority });
    this.#listeners.set(name, options);
  }

  /** Tells those who wait for the end of a flow. */
  ended(run: EndedRun, call: (listener: (run: EndedRun) => void) => void): void {
    const { onFinished, onFailed } = this.#listeners.get(run.task) ?? {};
    if (onFinished !== undefined) call(onFinished);
    if (onFailed !== undefined && run.state === 'failed') call(onFailed);
  }
}

function stepOf({ spec, dependsOn, isFunction, takesPayload }: FlowTask): StepDefinition {
  const takesResults = isFunction && dependsOn.length > 0;
  return {
    task: spec.name,
    dependsOn,
    onUpstreamFailure: 'skip',
    each: null,
    with: takesResults ? stepInput(dependsOn) : takesPayload ? '{{ payload }}' : null,
    expect: null,
    limits: null,
  };
}
