/**
 * What a step of a flow is given. A function of the program gets the payload of the flow, or its item, as its input; what else it
 * may ask its context for, results and the flow, comes beside that under a key that no user has.
 */
const STEP_KEY = 'colibri:step';

/** The flow that a run is a step of. */
export interface StepFlow {
  readonly name: string;
  /** The id of its run. */
  readonly run: string;
  /** The instant that it stands for, ISO 8601. */
  readonly due: string;
  /** What a trigger gave it. */
  readonly payload: unknown;
}

export interface StepInput {
  readonly input: unknown;
  /** Without a payload it is the input. */
  readonly flow: Omit<StepFlow, 'payload'> & { readonly payload?: unknown };
  readonly results: Readonly<Record<string, unknown>>;
}

/** `own`: what it gets in place of the payload. `results`: steps whose results it may read. */
export interface StepWith {
  readonly own: unknown;
  readonly ofItem: boolean;
  readonly results: readonly string[];
}

const PAYLOAD = '{{ payload }}';
const FLOW = { name: '{{ flow.name }}', run: '{{ flow.run }}', due: '{{ flow.due }}' };

/** The template for a task that takes what it is given, and nothing else. */
export function plainWith({ own, ofItem }: Pick<StepWith, 'own' | 'ofItem'>): unknown {
  return own ?? (ofItem ? '{{ item }}' : PAYLOAD);
}

/** The template for a function. */
export function functionWith(step: StepWith): Readonly<Record<string, unknown>> {
  const results = step.results.map((name) => [name, `{{ steps.${name}.result }}`]);
  const input = plainWith(step);
  const flow = input === PAYLOAD ? FLOW : { ...FLOW, payload: PAYLOAD };
  const whole: StepInput = { input, flow, results: Object.fromEntries(results) };
  return { [STEP_KEY]: whole };
}

/** What the function gets, of what was written for its run: a payload is laid over `with` as for any task. */
export function inputOf(written: unknown): unknown {
  const step = stepOf(written);
  if (step === null) return written;
  const { [STEP_KEY]: _, ...base } = written as Readonly<Record<string, unknown>>;
  return isObject(step.input) ? { ...base, ...step.input } : step.input;
}

/** Null: it is no step of a flow. */
export function stepOf(written: unknown): StepInput | null {
  if (!isObject(written) || !Object.hasOwn(written, STEP_KEY)) return null;
  return written[STEP_KEY] as StepInput;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
