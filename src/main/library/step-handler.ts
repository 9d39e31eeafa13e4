/** The function of a task, which may ask its context for its flow, and for results of the steps before it. */
import { ColibriError } from '../../actors/kernel/index.ts';
import { isReference } from '../../actors/results/result-reference.ts';
import type { Handler, HandlerContext, HandlerLog } from '../../workers/handler.ts';
import type { StepContext } from './flow-options.ts';
import { readResult } from './read-result.ts';
import { inputOf, type StepFlow, type StepInput, stepOf } from './step-input.ts';
import type { AnyTask } from './task-handle.ts';

export function stepHandler(handle: Handler): Handler {
  return (written, context) => {
    const step = stepOf(written);
    const call = (whole: StepInput | null) => handle(inputOf(written), new FlowContext(context, whole));
    if (step === null || !Object.values(step.results).some(isReference)) return call(step);
    return wholeResults(step.results).then((results) => call({ ...step, results }));
  };
}

/** Those that lie in files are read before the function begins. */
async function wholeResults(results: StepInput['results']): Promise<StepInput['results']> {
  const read = Object.entries(results).map(async ([name, result]) => [name, await readResult(result)]);
  return Object.fromEntries(await Promise.all(read));
}

/** The context of a run, its flow, and the results of the steps before it. */
class FlowContext implements StepContext<readonly AnyTask[], 'run'> {
  readonly #context: HandlerContext;
  readonly flow: StepFlow | null;
  readonly resultOf: StepContext<readonly AnyTask[]>['resultOf'];

  constructor(context: HandlerContext, step: StepInput | null) {
    this.#context = context;
    this.flow = step === null ? null : { payload: step.input, ...step.flow };
    this.resultOf = (task) => {
      const name = (task as AnyTask | null | undefined)?.name ?? '';
      if (step !== null && Object.hasOwn(step.results, name)) return step.results[name] as never;
      const got = step === null ? 'a run that is no step of a flow' : JSON.stringify(name);
      throw new ColibriError('usage', `resultOf: expected a task of dependsOn that has one run, got ${got}`);
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
