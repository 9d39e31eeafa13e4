/** What a user writes of a flow and of the tasks that wait for others, and what their functions are given. */

import { ColibriError } from '../../actors/kernel/index.ts';
import type { Handler, HandlerContext, HandlerLog } from '../../workers/handler.ts';
import type { RawFlow } from '../config/index.ts';
import type { AsJson, EndedRun } from './app-run.ts';
import type { InCamelCase } from './camel-case.ts';
import type { AnyTask, TaskHandle } from './task-handle.ts';

/** What comes of a task, as a step behind it reads it. */
export type ResultOf<Task> = Task extends TaskHandle<never, infer Output> ? AsJson<Output> : never;

/** Tasks whose runs are over, in one flow, when this one begins. */
export interface DependsOn<Tasks extends readonly AnyTask[]> {
  readonly dependsOn?: Tasks | undefined;
}

export interface StepContext<Tasks extends readonly AnyTask[]> extends HandlerContext {
  /** Of a task that `dependsOn` names. Throws `usage` in a run that is no step of a flow. */
  resultOf<Task extends Tasks[number]>(task: Task): ResultOf<Task>;
}

export interface FlowOptions extends InCamelCase<Omit<RawFlow, 'name' | 'steps' | 'on_failure'>> {
  /** A run of the flow is over, however it ended. */
  readonly onFinished?: ((run: EndedRun) => void) | undefined;
  /** It has failed. */
  readonly onFailed?: ((run: EndedRun) => void) | undefined;
}

/** What a step that waits for others gets as its input: no payload of a user has this key. */
const STEP_KEY = 'colibri:step';

interface StepInput {
  readonly payload: unknown;
  readonly results: Readonly<Record<string, unknown>>;
}

/** The templates of such an input. */
export function stepInput(dependsOn: readonly string[]): Readonly<Record<string, unknown>> {
  const results = dependsOn.map((name) => [name, `{{ steps.${name}.result }}`]);
  return { [STEP_KEY]: { payload: '{{ payload }}', results: Object.fromEntries(results) } };
}

/** The function of a task, which is given the payload of the flow, and results by `resultOf`. */
export function stepHandler(handle: Handler): Handler {
  return (input, context) => {
    const step = stepOf(input);
    return handle(step === null ? input : step.payload, new FlowContext(context, step?.results ?? null));
  };
}

function stepOf(input: unknown): StepInput | null {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, STEP_KEY)) return null;
  return (input as Readonly<Record<typeof STEP_KEY, StepInput>>)[STEP_KEY];
}

/** The context of a run, and the results of the steps before it. */
class FlowContext implements StepContext<readonly AnyTask[]> {
  readonly #context: HandlerContext;
  readonly resultOf: StepContext<readonly AnyTask[]>['resultOf'];

  constructor(context: HandlerContext, results: StepInput['results'] | null) {
    this.#context = context;
    this.resultOf = (task) => {
      const name = (task as AnyTask | null | undefined)?.name ?? '';
      if (results !== null && Object.hasOwn(results, name)) return results[name] as never;
      const got = results === null ? 'a run that is no step of a flow' : JSON.stringify(name);
      throw new ColibriError('usage', `resultOf: expected a task of dependsOn, got ${got}`);
    };
  }

  get run(): string {
    return this.#context.run;
  }

  get task(): string {
    return this.#context.task;
  }

  get attempt(): number {
    return this.#context.attempt;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get aborted(): boolean {
    return this.#context.aborted;
  }

  get log(): HandlerLog {
    return this.#context.log;
  }

  get progress(): HandlerContext['progress'] {
    return this.#context.progress;
  }
}
