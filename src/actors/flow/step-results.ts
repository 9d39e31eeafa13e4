/**
 * Results that an input, or a list, is made of. Of one that lies in a file only the parts that are named come here; the store's
 * thread reads them. A whole result in a file is its reference.
 */
import { isReference, REFERENCE_KEYS } from '../results/result-reference.ts';
import type { StepRuns } from '../runs/index.ts';
import { type FlowStore, resultsOf } from './flow-store.ts';
import type { ValueSource } from './template-text.ts';
import { notThere } from './templates.ts';

export interface StepResults {
  /** By run; undefined where there is none. */
  readonly values: ReadonlyMap<string, unknown>;
  /** By what asked for them. */
  readonly parts: ReadonlyMap<ValueSource, unknown>;
}

export const NO_RESULTS: StepResults = { values: new Map(), parts: new Map() };

export interface ResultsWanted {
  /** A template takes it over, or a part of it. */
  readonly sources: readonly ValueSource[];
  /** All of it is needed here. */
  readonly list: ValueSource | null;
  /** Null: the step has no result for others. */
  readonly runOf: (step: string) => string | null;
  readonly store: FlowStore;
  readonly steps: StepRuns;
}

/** Rejects with `input-invalid` where a part is not there, or a file cannot be looked into. */
export async function gatherResults(wanted: ResultsWanted): Promise<StepResults> {
  const { sources, list, runOf, store, steps } = wanted;
  const all = (list === null ? sources : [...sources, list]).filter((source) => source.kind === 'step');
  const runs = new Set(all.map(({ step }) => runOf(step)).filter((run) => run !== null));
  if (runs.size === 0) return NO_RESULTS;
  const values = await resultsOf([...runs], store, steps);
  const parts = new Map<ValueSource, unknown>();
  for (const source of all) {
    const root = values.get(runOf(source.step) ?? '');
    if (!isReference(root) || parts.has(source)) continue;
    const { path } = source;
    const isOfReference = path.length === 0 ? source !== list : REFERENCE_KEYS.includes(path[0]);
    if (isOfReference) continue;
    const { value, found, got } = await store.part(root.$file, path);
    if (value === undefined) throw notThere(source, found, got);
    parts.set(source, value);
  }
  return { values, parts };
}
