/**
 * How the runs of steps come to be: what they are given is put together, from results where it is made of some, and they are made
 * as there is room, in the order they were asked for. What is read is read once for all items of a step, and held until it is over.
 *
 *   want ─▶ results, if need be ─▶ waits for room ─▶ made
 *     └──────────── drop ─┴──────────────┘
 */
import { ColibriError, toErrorData } from '../kernel/errors.ts';
import { Ring } from '../kernel/index.ts';
import type { StepRuns } from '../runs/index.ts';
import type { FlowEvent, FlowPlace } from './flow-events.ts';
import type { FlowStore } from './flow-store.ts';
import type { LiveFlow } from './live-flow.ts';
import { gatherResults, NO_RESULTS, type StepResults } from './step-results.ts';
import { fillTemplate, listOf, sourcesOf, type TemplateValues } from './templates.ts';

export interface StepStartsOptions {
  readonly store: FlowStore;
  readonly steps: StepRuns;
  /** What came of it, where that is not a run. */
  readonly tell: (live: LiveFlow, event: FlowEvent) => void;
  /** The list of a step was found: to be kept before anything is made of it. */
  readonly onList: (live: LiveFlow, step: number, items: number) => void;
  /** One of those that wait for results is ready to be made. */
  readonly onReady: () => void;
  /** The store could not answer. */
  readonly onTrouble: (live: LiveFlow, error: unknown) => void;
}

interface Waiting {
  readonly live: LiveFlow;
  readonly place: FlowPlace;
}

export class StepStarts {
  readonly #options: StepStartsOptions;
  readonly #waiting = new Ring<Waiting>();
  /** Questions to the store without an answer. */
  #asking = 0;

  constructor(options: StepStartsOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.count;
  }

  get busy(): boolean {
    return this.#waiting.count > 0 || this.#asking > 0;
  }

  want(live: LiveFlow, place: FlowPlace): void {
    const id = live.idOf(place);
    if (live.starting.has(id)) return;
    live.starting.add(id);
    if (isRead(live, place.step)) this.#waiting.push({ live, place });
    else void this.#whenRead(live, place);
  }

  /** Finds out how long the list of the step is. */
  async list(live: LiveFlow, step: number): Promise<void> {
    const id = live.listIdOf(step);
    if (live.starting.has(id)) return;
    live.starting.add(id);
    const { tell, onList, onTrouble } = this.#options;
    this.#asking++;
    try {
      const items = await this.#items(live, step);
      if (!live.starting.has(id)) return;
      live.keepRead(step, { items, results: null });
      onList(live, step, items.length);
      live.starting.delete(id);
    } catch (error) {
      if (!live.starting.delete(id)) return;
      if (isInputFault(error)) tell(live, noInput({ step, item: null }, error));
      else onTrouble(live, error);
    } finally {
      this.#asking--;
    }
  }

  /** Its run is not to be made. False: it was made, or never wanted. */
  drop(live: LiveFlow, place: FlowPlace): boolean {
    return live.starting.delete(live.idOf(place));
  }

  /** Makes runs as long as there is room, at most so many; gives their number. */
  make(most: number): number {
    const { steps } = this.#options;
    let made = 0;
    for (; made < most && this.#waiting.count > 0 && steps.hasRoom; made++)
      this.#make(this.#waiting.shift()!);
    return made;
  }

  async #whenRead(live: LiveFlow, place: FlowPlace): Promise<void> {
    const { tell, onReady, onTrouble } = this.#options;
    this.#asking++;
    try {
      await this.#read(live, place.step);
      this.#waiting.push({ live, place });
      onReady();
    } catch (error) {
      if (!live.starting.delete(live.idOf(place))) return;
      if (isInputFault(error)) tell(live, noInput(place, error));
      else onTrouble(live, error);
    } finally {
      this.#asking--;
    }
  }

  /** Once for all items of a step. What is not there is not looked for again either. */
  #read(live: LiveFlow, step: number): Promise<void> {
    let reading = live.reading.get(step);
    if (reading === undefined) {
      reading = this.#gather(live, step);
      live.reading.set(step, reading);
    }
    return reading;
  }

  async #gather(live: LiveFlow, step: number): Promise<void> {
    const { store, steps } = this.#options;
    const { input, list } = live.flow.steps[step]!;
    try {
      const items = list === null ? null : (live.readOf(step).items ?? (await this.#items(live, step)));
      const wanted = { sources: sourcesOf(input!), list: null, runOf: runsOf(live), store, steps };
      const results = await gatherResults(wanted);
      if (live.reading.has(step)) live.keepRead(step, { items, results });
    } catch (error) {
      if (!isInputFault(error)) live.reading.delete(step);
      throw error;
    }
  }

  async #items(live: LiveFlow, step: number): Promise<readonly unknown[]> {
    const { store, steps } = this.#options;
    const list = live.flow.steps[step]!.list!;
    const results = await gatherResults({ sources: [], list, runOf: runsOf(live), store, steps });
    return listOf(list, valuesOf(live, results));
  }

  #make({ live, place }: Waiting): void {
    const { steps, tell } = this.#options;
    const id = live.idOf(place);
    if (!live.starting.delete(id)) return;
    const { limits } = live.flow.steps[place.step]!;
    try {
      const input = inputOf(live, place);
      if (place.item === null) live.keepRead(place.step, null);
      steps.start({ flow: live.id, id, task: live.flow.graph.nameOf(place.step), input, limits });
    } catch (error) {
      if (!isInputFault(error)) throw error;
      tell(live, noInput(place, error));
    }
  }
}

/** What was not as expected does not flow on, nor what is left of a failure. */
function runsOf(live: LiveFlow): (step: string) => string | null {
  return (name) => {
    const step = live.flow.graph.indexOf(name);
    return live.run?.stateOf(step) === 'success' ? live.resultRunOf(step) : null;
  };
}

/** All that the inputs of its runs are made of is here. */
function isRead(live: LiveFlow, step: number): boolean {
  const { input, list, inputNeeds } = live.flow.steps[step]!;
  if (input === null) return true;
  const { items, results } = live.readOf(step);
  return (list === null || items !== null) && (inputNeeds.length === 0 || results !== null);
}

function inputOf(live: LiveFlow, { step, item }: FlowPlace): string | null {
  const { input } = live.flow.steps[step]!;
  if (input === null) return null;
  const mayLack = live.flow.graph.steps[step]!.onUpstreamFailure === 'run';
  const { items, results } = live.readOf(step);
  const values = valuesOf(live, results ?? NO_RESULTS, mayLack);
  if (item === null || items === null) return fillTemplate(input, values);
  return fillTemplate(input, { ...values, item: items[item] });
}

export function valuesOf(live: LiveFlow, { values, parts }: StepResults, mayLack = false): TemplateValues {
  const { name } = live.flow;
  const runOf = runsOf(live);
  return {
    get payload() {
      return live.payload;
    },
    flow: { name, run: live.id, due: live.due },
    mayLack,
    resultOf: (step) => values.get(runOf(step) ?? ''),
    runOf,
    partOf: (source) => parts.get(source),
  };
}

function isInputFault(error: unknown): boolean {
  return error instanceof ColibriError && error.code === 'input-invalid';
}

function noInput({ step, item }: FlowPlace, error: unknown): FlowEvent {
  const { message } = toErrorData(error, 'input-invalid');
  return { kind: 'failed', step, item, reason: 'no-input', detail: message };
}
