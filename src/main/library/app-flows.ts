/** The flows of an app: each passes the loader of the config file when it is defined, with the tasks that are its steps. */
import type { StepDefinition } from '../../actors/flow/index.ts';
import type { FlowSpec } from '../config/index.ts';
import type { EndedRun } from './app-run.ts';
import type { FlowOptions } from './flow-options.ts';
import { functionWith, plainWith } from './step-input.ts';

/** A task as the flows of its app see it. */
export interface FlowTask {
  readonly name: string;
  /** As the loader takes it. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly dependsOn: readonly string[];
  readonly onUpstreamFailure: unknown;
  /** `each` of a list, with the name of the task that gives it; null: one run. */
  readonly each: (Readonly<Record<string, unknown>> & { readonly list: string }) | null;
  /** A function may ask for results; a module takes the payload; of a built-in handler its task says all. */
  readonly takes: 'results' | 'payload' | 'nothing';
}

/** A step as it is written in the list of a flow. */
export interface WrittenStep {
  readonly task: FlowTask;
  /** All but `with`, in camelCase. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly with: unknown;
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

  /** `spec`: as the loader gives it, with what was written as `with`, one for each of `steps`. */
  add(
    spec: FlowSpec,
    { steps, failure }: { readonly steps: readonly WrittenStep[]; readonly failure: FlowTask | null },
    options: Pick<FlowOptions, 'onFinished' | 'onFailed'>,
  ): void {
    const overLists = new Set(steps.flatMap(({ task }) => (task.each === null ? [] : [task.name])));
    const withOf = (step: StepDefinition, { task }: WrittenStep) => {
      const results = task.dependsOn;
      const lists = results.filter((one) => overLists.has(one));
      return templateOf(task, { own: step.with, ofItem: task.each !== null, results, lists });
    };
    const { onFailure } = spec;
    this.#flows.set(spec.name, {
      ...spec,
      steps: spec.steps.map((step, at) => ({ ...step, with: withOf(step, steps[at]!) })),
      onFailure:
        onFailure === null || failure === null
          ? null
          : {
              ...onFailure,
              with: templateOf(failure, {
                own: onFailure.with,
                ofItem: false,
                results: [],
                isOfFailure: true,
              }),
            },
    });
    this.#listeners.set(spec.name, options);
  }

  /** Somebody waits for the end of this flow. */
  isHeard(name: string): boolean {
    const { onFinished, onFailed } = this.#listeners.get(name) ?? {};
    return onFinished !== undefined || onFailed !== undefined;
  }

  /** Tells those who wait for the end of a flow. */
  ended(run: EndedRun, call: (listener: (run: EndedRun) => unknown) => void): void {
    const { onFinished, onFailed } = this.#listeners.get(run.task) ?? {};
    if (onFinished !== undefined) call(onFinished);
    if (onFailed !== undefined && run.state === 'failed') call(onFailed);
  }
}

/** Of a step as the loader takes it, in camelCase. */
export function stepTree({ task, settings, with: own }: WrittenStep): Readonly<Record<string, unknown>> {
  const { name, dependsOn, onUpstreamFailure, each } = task;
  return {
    ...settings,
    task: name,
    with: own,
    onUpstreamFailure,
    dependsOn: each === null || dependsOn.includes(each.list) ? dependsOn : [...dependsOn, each.list],
    each: each === null ? undefined : { ...each, list: `{{ steps.${each.list}.result }}` },
  };
}

function templateOf(task: FlowTask, step: Parameters<typeof functionWith>[0]): unknown {
  switch (task.takes) {
    case 'results':
      return functionWith(step);
    case 'payload':
      return plainWith(step);
    case 'nothing':
      return step.own;
  }
}
