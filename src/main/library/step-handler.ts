/** The function of a task, which may ask its context for its flow, and for results of the steps before it. */
import { ColibriError } from '../../actors/kernel/index.ts';
import { isReference } from '../../actors/results/result-reference.ts';
import type { Handler, HandlerContext, HandlerLog } from '../../workers/handler.ts';
import type { StepContext } from './flow-options.ts';
import { readResult } from './read-result.ts';
import { inputOf, type StepFlow, type StepInput, stepOf, withStep } from './step-input.ts';
import type { AnyTask } from './task-handle.ts';

export function stepHandler(handle: Handler): Handler {
  return (written, context) => {
    const step = stepOf(written);
    if (step === null) return handle(inputOf(written), new FlowContext(context, null));
    const call = (whole: StepInput) =>
      handle(inputOf(withStep(written, whole)), new FlowContext(context, whole));
    return liesInFiles(step) ? wholeStep(step).then(call) : call(step);
  };
}

function liesInFiles({ input, results, lists = [], ofItem = false }: StepInput): boolean {
  return (
    (ofItem && isReference(input)) ||
    Object.values(results).some(isReference) ||
    lists.some((name) => listOf(results[name]).some(isReference))
  );
}

/** What lies in files is read before the function begins. */
async function wholeStep(step: StepInput): Promise<StepInput> {
  const { results, lists = [], ofItem = false } = step;
  const read = Object.entries(results).map(async ([name, result]) => {
    const isList = lists.includes(name) && Array.isArray(result);
    return [name, isList ? await wholeItems(result) : await readResult(result)] as const;
  });
  const whole = Object.fromEntries(await Promise.all(read));
  return { ...step, results: whole, input: ofItem ? await readResult(step.input) : step.input };
}

/** One after the other: they may be thousands. */
async function wholeItems(items: readonly unknown[]): Promise<readonly unknown[]> {
  const whole: unknown[] = [];
  for (const item of items) whole.push(await readResult(item));
  return whole;
}

function listOf(result: unknown): readonly unknown[] {
  return Array.isArray(result) ? result : [];
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
      const [got, remedy] =
        step === null
          ? ['a run that is no step of a flow', 'trigger the flow']
          : [JSON.stringify(name), `add it to dependsOn of ${context.task}`];
      throw new ColibriError('usage', `resultOf: expected a task of dependsOn, got ${got}; ${remedy}`);
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
