/** What the flows ask the store, and the results of steps: of a run in memory from there, else from the store. */
import type { SchemaPath } from '../kernel/check-schema.ts';
import type { Judgement, ResultPart, RunFilter, StepsPlace, StoreMessages } from '../protocol.ts';
import type { StoredStep } from '../records.ts';
import type { Expectation } from '../results/expectation.ts';
import type { StepRuns } from '../runs/index.ts';
import type { RunView } from '../views/run-view.ts';

export interface FlowStore {
  steps(place: StepsPlace): Promise<StoreMessages['flow-steps']['reply']>;
  /** With `mostLength` no more of them than so many characters together, and the one that is beyond. */
  results(runs: readonly string[], mostLength?: number): Promise<readonly (string | null)[]>;
  /** Those whose result is kept. */
  kept(runs: readonly string[]): Promise<readonly string[]>;
  list(filter: RunFilter): Promise<readonly RunView[]>;
  show(run: string): Promise<RunView | null>;
  /** Of a result in a file. Rejects with `input-invalid`. */
  part(file: string, path: SchemaPath): Promise<ResultPart>;
  /** As `part` does, of all of it. */
  judge(file: string, expectation: Expectation, lastGood: number | null): Promise<Judgement>;
}

/** Those of the runs that only the store knows; of the others the result, JSON text or null, is told at once. */
export function askedOf(
  runs: readonly string[],
  steps: StepRuns,
  onLive: (run: string, text: string | null) => void,
): readonly string[] {
  const asked: string[] = [];
  for (const run of runs) {
    const live = steps.find(run);
    if (live === null) asked.push(run);
    else onLive(run, live.past?.result ?? null);
  }
  return asked;
}

/** By run; undefined where there is none, or it is not kept. A run that is forgotten here is known to the store. */
export async function resultsOf(
  runs: readonly string[],
  store: FlowStore,
  steps: StepRuns,
): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  const asked = askedOf(runs, steps, (run, text) => keep(found, run, text));
  if (asked.length > 0) {
    const texts = await store.results(asked);
    for (const [index, run] of asked.entries()) keep(found, run, texts[index] ?? null);
  }
  return found;
}

/** Runs of one question. */
export const AT_ONCE = 1000;

/** Those of the runs whose result is kept; none of the results comes here. */
export async function keptOf(
  runs: readonly string[],
  store: FlowStore,
  steps: StepRuns,
): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  const asked = askedOf(runs, steps, (run, text) => {
    if (text !== null) kept.add(run);
  });
  for (let from = 0; from < asked.length; from += AT_ONCE) {
    for (const run of await store.kept(asked.slice(from, from + AT_ONCE))) kept.add(run);
  }
  return kept;
}

export interface FlowSteps {
  readonly flow: string;
  /** All runs of its steps that the store has, by run. */
  readonly steps: ReadonlyMap<string, StoredStep>;
}

/** Flow by flow, each when the last of its runs has come: a page and the runs of one flow are all that is held. */
export async function* storedSteps(flows: readonly string[], store: FlowStore): AsyncGenerator<FlowSteps> {
  const found = new Map<string, Map<string, StoredStep>>();
  for (let place: StepsPlace | null = { flows, after: 0 }; place !== null; ) {
    const { steps, next }: StoreMessages['flow-steps']['reply'] = await store.steps(place);
    for (const step of steps) {
      let own = found.get(step.flow);
      if (own === undefined) {
        own = new Map();
        found.set(step.flow, own);
      }
      own.set(step.run, step);
    }
    for (const flow of place.flows.slice(0, place.flows.length - (next?.flows.length ?? 0))) {
      const own = found.get(flow) ?? NO_STEPS;
      found.delete(flow);
      yield { flow, steps: own };
    }
    place = next;
  }
}

const NO_STEPS: ReadonlyMap<string, StoredStep> = new Map();

function keep(found: Map<string, unknown>, run: string, text: string | null): void {
  if (text !== null) found.set(run, JSON.parse(text));
}
