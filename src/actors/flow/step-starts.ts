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
import type { ItemRuns } from './item-results.ts';
import type { LiveFlow } from './live-flow.ts';
import { gatherResults, NO_RESULTS, type ResultsWanted, type StepResults } from './step-results.ts';
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
      const wanted = { ...placesOf(live, step), store, steps };
      const results = await gatherResults({ ...wanted, sources: sourcesOf(input!), list: null });
      if (live.reading.has(step)) live.keepRead(step, { items, results });
    } catch (error) {
      if (!isInputFault(error)) live.reading.delete(step);
      throw error;
    }
  }

  async #items(live: LiveFlow, step: number): Promise<readonly unknown[]> {
    const { store, steps } = this.#options;
    const list = live.flow.steps[step]!.list!;
    const results = await gatherResults({ ...placesOf(live, step), sources: [], list, store, steps });
    return listOf(list, { ...valuesOf(live, results, step), mayLack: false });
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

/**
 * What was not as expected does not flow on, nor what is left of a failure; but to a step that runs all the same, a list has
 * the results of those items that succeeded.
 */
export function placesOf(live: LiveFlow, forStep: number | null): Pick<ResultsWanted, 'runOf' | 'itemsOf'> {
  const { graph } = live.flow;
  const itemsOf = (name: string): ItemRuns | null => {
    const step = graph.indexOf(name);
    if (step < 0 || graph.steps[step]!.each === null) return null;
    return mayLack(live, forStep) || live.run?.stateOf(step) === 'success' ? live.itemRunsOf(step) : null;
  };
  return {
    runOf: (name) => {
      const step = graph.indexOf(name);
      if (step >= 0 && graph.steps[step]!.each !== null)
        return itemsOf(name) === null ? null : live.idOf({ step, item: null });
      return live.run?.stateOf(step) === 'success' ? live.resultRunOf(step) : null;
    },
    itemsOf,
  };
}

/** It runs whether those before it succeeded or not. */
function mayLack({ flow }: LiveFlow, step: number | null): boolean {
  return step !== null && flow.graph.steps[step]!.onUpstreamFailure === 'run';
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
  const { items, results } = live.readOf(step);
  const values = valuesOf(live, results ?? NO_RESULTS, step);
  if (item === null || items === null) return fillTemplate(input, values);
  return fillTemplate(input, { ...values, item: items[item] });
}

/** `forStep`: whose templates are filled; null: those of no step, which may name no results. */
export function valuesOf(
  live: LiveFlow,
  { values, parts }: StepResults,
  forStep: number | null = null,
): TemplateValues {
  const { name } = live.flow;
  const { runOf } = placesOf(live, forStep);
  return {
    get payload() {
      return live.payload;
    },
    flow: { name, run: live.id, due: live.due },
    mayLack: mayLack(live, forStep),
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
