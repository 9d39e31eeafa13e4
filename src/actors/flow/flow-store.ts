/** What the flows ask the store, and the results of steps: of a run in memory from there, else from the store. */
import type { SchemaPath } from '../kernel/check-schema.ts';
import type {
  Judgement,
  ResultPart,
  RunFilter,
  RunView,
  StepsPlace,
  StoredStep,
  StoreMessages,
} from '../protocol.ts';
import type { Expectation } from '../results/expectation.ts';
import type { StepRuns } from '../runs/index.ts';

export interface FlowStore {
  steps(place: StepsPlace): Promise<StoreMessages['flow-steps']['reply']>;
  results(runs: readonly string[]): Promise<readonly (string | null)[]>;
  list(filter: RunFilter): Promise<readonly RunView[]>;
  show(run: string): Promise<RunView | null>;
  /** Of a result in a file. Rejects with `input-invalid`. */
  part(file: string, path: SchemaPath): Promise<ResultPart>;
  /** As `part` does, of all of it. */
  judge(file: string, expectation: Expectation, lastGood: number | null): Promise<Judgement>;
}

/** By run; undefined where there is none, or it is not kept. A run that is forgotten here is known to the store. */
export async function resultsOf(
  runs: readonly string[],
  store: FlowStore,
  steps: StepRuns,
): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  const asked: string[] = [];
  for (const run of runs) {
    const live = steps.find(run);
    if (live === null) asked.push(run);
    else keep(found, run, live.past?.result ?? null);
  }
  if (asked.length > 0) {
    const texts = await store.results(asked);
    for (const [index, run] of asked.entries()) keep(found, run, texts[index] ?? null);
  }
  return found;
}

/** All runs of steps of these flow runs that the store has, by run. */
export async function storedSteps(
  flows: readonly string[],
  store: FlowStore,
): Promise<ReadonlyMap<string, StoredStep>> {
  const found = new Map<string, StoredStep>();
  for (let place: StepsPlace | null = { flows, after: 0 }; place !== null; ) {
    const { steps, next }: StoreMessages['flow-steps']['reply'] = await store.steps(place);
    for (const step of steps) found.set(step.run, step);
    place = next;
  }
  return found;
}

function keep(found: Map<string, unknown>, run: string, text: string | null): void {
  if (text !== null) found.set(run, JSON.parse(text));
}
