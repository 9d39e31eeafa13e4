/**
 * What a step of a flow is given. A function of the program gets the payload of the flow, or its item, as its input; what else it
 * may ask its context for, results and the flow, comes beside that under a key that no user has. Results are only named there, by
 * their runs, and so is a payload that is not the input: however many and large they are, no run has a copy.
 */
import { ColibriError } from '../../actors/kernel/index.ts';
import { KEEP_MORE } from '../../actors/results/result-reference.ts';
import { layInput } from '../../actors/runs/index.ts';

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
  /** For the task of `onFailure`: the step that failed; null: it was none by itself. */
  readonly failedStep?: string | null;
  /** The same: why the flow has failed, as a sentence. */
  readonly error?: string;
}

export interface StepInput {
  readonly input: unknown;
  /** Without a payload it is the input. */
  readonly flow: Omit<StepFlow, 'payload'> & { readonly payload?: unknown };
  readonly results: Readonly<Record<string, unknown>>;
  /** Of these, the names of lists of results. */
  readonly lists?: readonly string[];
  /** The input is an item of a list, which may be a result itself. */
  readonly ofItem?: boolean;
  /** What is still to be read. */
  readonly named?: NamedRuns;
}

interface NamedRuns {
  /** By step; null: it has no result. Of a list, what the ids of the runs of its items begin with. */
  readonly results: Readonly<Record<string, string | null>>;
  /** Whose input it is. */
  readonly payload?: string;
}

/** Reads what runs have, JSON text; null: it is not kept. */
export interface RunTexts {
  readonly result: (run: string) => Promise<string | null>;
  readonly input: (run: string) => Promise<string | null>;
  /** The results of the items of a step. */
  readonly items: (step: string) => Promise<string>;
}

/** `own`: what it gets in place of the payload. `results`: steps whose results it may read. */
export interface StepWith {
  readonly own: unknown;
  readonly ofItem: boolean;
  readonly results: readonly string[];
  /** Of these, steps with a run for each item of a list. */
  readonly lists?: readonly string[];
  /** It runs when the flow has failed. */
  readonly isOfFailure?: boolean;
}

const STEP_MARK = JSON.stringify(STEP_KEY);
const PAYLOAD = '{{ payload }}';
const FLOW = { name: '{{ flow.name }}', run: '{{ flow.run }}', due: '{{ flow.due }}' };
const FAILURE = { failedStep: '{{ flow.failed_step }}', error: '{{ flow.error }}' };

/** The template for a task that takes what it is given, and nothing else. */
export function plainWith({ own, ofItem }: Pick<StepWith, 'own' | 'ofItem'>): unknown {
  return own ?? (ofItem ? '{{ item }}' : PAYLOAD);
}

/** The template for a function. */
export function functionWith(step: StepWith): Readonly<Record<string, unknown>> {
  const results = Object.fromEntries(step.results.map((name) => [name, `{{ steps.${name}.run }}`]));
  const input = plainWith(step);
  const named = input === PAYLOAD ? { results } : { results, payload: FLOW.run };
  const flow = step.isOfFailure === true ? { ...FLOW, ...FAILURE } : FLOW;
  const { lists = [] } = step;
  const item = step.ofItem && step.own == null ? { ofItem: true } : {};
  const whole: StepInput = { input, flow, results: {}, ...item, ...(lists.length === 0 ? {} : { lists }) };
  const hasAll = step.results.length === 0 && input === PAYLOAD;
  return { [STEP_KEY]: hasAll ? whole : { ...whole, named } };
}

/**
 * An input with all that it names; null: it has all. Rejects with `input-invalid` where that is not kept any more:
 * but of the task of `onFailure` it is null.
 */
export function wholeInput(written: string, runs: RunTexts): Promise<string> | null {
  const step = written.includes(STEP_MARK) ? stepOf(JSON.parse(written)) : null;
  return step?.named === undefined ? null : readNamed(written, { ...step, named: step.named }, runs);
}

async function readNamed(
  written: string,
  { input, flow, lists = [], ofItem = false, named }: StepInput & { readonly named: NamedRuns },
  runs: RunTexts,
): Promise<string> {
  const resultText = async (step: string, run: string): Promise<string> =>
    lists.includes(step) ? runs.items(step) : keptText(run, await runs.result(run));
  const reading = Object.entries(named.results).map(
    async ([step, run]) => [step, run === null ? 'null' : await resultText(step, run)] as const,
  );
  const results = await Promise.all(reading);
  const flowTexts = Object.entries(flow).map(([key, value]) => [key, JSON.stringify(value)] as const);
  if (named.payload !== undefined) {
    const text = await runs.input(named.payload);
    // What runs when the flow has failed may come to its turn when the flow is forgotten: it runs whatever is not there.
    const isOfFailure = flow.error !== undefined;
    flowTexts.push(['payload', isOfFailure && text === null ? 'null' : keptText(named.payload, text)]);
  }
  const whole = objectText([
    ['input', JSON.stringify(input)],
    ['flow', objectText(flowTexts)],
    ['results', objectText(results)],
    ['lists', JSON.stringify(lists)],
    ['ofItem', String(ofItem)],
  ]);
  return layInput(written, objectText([[STEP_KEY, whole]]));
}

function keptText(run: string, text: string | null): string {
  if (text !== null) return text;
  throw new ColibriError(
    'input-invalid',
    `expected what the step is given of run ${run}, got one that is forgotten; run the flow again from that step, or ${KEEP_MORE}`,
  );
}

/** Of values that are JSON text already. */
function objectText(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/** What the function gets, of what was written for its run: a payload is laid over `with` as for any task. */
export function inputOf(written: unknown): unknown {
  const step = stepOf(written);
  if (step === null) return written;
  const { [STEP_KEY]: _, ...base } = written as Readonly<Record<string, unknown>>;
  return isObject(step.input) ? { ...base, ...step.input } : step.input;
}

/** What was written, with another step in it. */
export function withStep(written: unknown, step: StepInput): unknown {
  return { ...(written as object), [STEP_KEY]: step };
}

/** Null: it is no step of a flow. */
export function stepOf(written: unknown): StepInput | null {
  if (!isObject(written) || !Object.hasOwn(written, STEP_KEY)) return null;
  return written[STEP_KEY] as StepInput;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
