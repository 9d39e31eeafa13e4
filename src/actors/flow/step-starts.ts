/**
 * How the runs of steps come to be: what they are given is put together, from results where it is made of some, and they are made
 * as there is room, in the order they were asked for.
 *
 *   want ─▶ results, if need be ─▶ waits for room ─▶ made
 *     └──────────── drop ─┴──────────────┘
 */
import { ColibriError, toErrorData } from '../kernel/errors.ts';
import { Ring } from '../kernel/index.ts';
import type { StepRuns } from '../runs/index.ts';
import type { FlowEvent, FlowPlace } from './flow-events.ts';
import { type FlowStore, resultsOf } from './flow-store.ts';
import type { LiveFlow } from './live-flow.ts';
import { fillTemplate, listOf, type TemplateValues } from './templates.ts';

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
  readonly results: ReadonlyMap<string, unknown>;
}

const NO_RESULTS: ReadonlyMap<string, unknown> = new Map();

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
    const { inputNeeds, listNeeds, list } = live.flow.steps[place.step]!;
    const needsList = list !== null && !live.lists.has(place.step);
    const needs = needsList ? [...new Set([...inputNeeds, ...listNeeds])] : inputNeeds;
    if (needs.length === 0) this.#waiting.push({ live, place, results: NO_RESULTS });
    else void this.#gather(live, place, needs);
  }

  /** Finds out how long the list of the step is. */
  async list(live: LiveFlow, step: number): Promise<void> {
    const id = live.listIdOf(step);
    if (live.starting.has(id)) return;
    live.starting.add(id);
    const { store, steps, tell, onList, onTrouble } = this.#options;
    const { list, listNeeds } = live.flow.steps[step]!;
    this.#asking++;
    try {
      const results = await resultsOf(this.#runsOf(live, listNeeds), store, steps);
      if (!live.starting.delete(id)) return;
      const items = listOf(list!, valuesOf(live, results));
      live.lists.set(step, items);
      onList(live, step, items.length);
    } catch (error) {
      live.starting.delete(id);
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

  async #gather(live: LiveFlow, place: FlowPlace, needs: readonly number[]): Promise<void> {
    const { store, steps, onReady, onTrouble } = this.#options;
    this.#asking++;
    try {
      const results = await resultsOf(this.#runsOf(live, needs), store, steps);
      this.#waiting.push({ live, place, results });
      onReady();
    } catch (error) {
      live.starting.delete(live.idOf(place));
      onTrouble(live, error);
    } finally {
      this.#asking--;
    }
  }

  #make({ live, place, results }: Waiting): void {
    const { steps, tell } = this.#options;
    const id = live.idOf(place);
    if (!live.starting.delete(id)) return;
    const { limits } = live.flow.steps[place.step]!;
    try {
      const input = inputOf(live, place, results);
      steps.start({ flow: live.id, id, task: live.flow.graph.nameOf(place.step), input, limits });
    } catch (error) {
      if (!isInputFault(error)) throw error;
      tell(live, noInput(place, error));
    }
  }

  #runsOf(live: LiveFlow, needs: readonly number[]): string[] {
    // A result that was not as expected does not flow on.
    const good = needs.filter((step) => live.run!.stateOf(step) === 'success');
    return good.map((step) => live.resultRunOf(step));
  }
}

function inputOf(live: LiveFlow, place: FlowPlace, results: ReadonlyMap<string, unknown>): string | null {
  const { input, list } = live.flow.steps[place.step]!;
  if (input === null) return null;
  const mayLack = live.flow.graph.steps[place.step]!.onUpstreamFailure === 'run';
  const values = valuesOf(live, results, mayLack);
  if (list === null || place.item === null) return fillTemplate(input, values);
  let items = live.lists.get(place.step);
  if (items === undefined) {
    items = listOf(list, values);
    live.lists.set(place.step, items);
  }
  return fillTemplate(input, { ...values, item: items[place.item] });
}

export function valuesOf(
  live: LiveFlow,
  results: ReadonlyMap<string, unknown>,
  mayLack = false,
): TemplateValues {
  const { graph, name } = live.flow;
  return {
    get payload() {
      return live.payload;
    },
    flow: { name, run: live.id, due: live.due },
    mayLack,
    resultOf: (step) => results.get(live.resultRunOf(graph.indexOf(step))),
  };
}

function isInputFault(error: unknown): boolean {
  return error instanceof ColibriError && error.code === 'input-invalid';
}

function noInput({ step, item }: FlowPlace, error: unknown): FlowEvent {
  const { message } = toErrorData(error, 'input-invalid');
  return { kind: 'failed', step, item, reason: 'no-input', detail: message };
}
