/**
 * Results that an input, or a list, is made of. Of one that lies in a file only the parts that are named come here; the store's
 * thread reads them. A whole result in a file is its reference. Of a step with a list the result is that of its items, in their order.
 */
import type { SchemaPath } from '../kernel/check-schema.ts';
import { ColibriError } from '../kernel/errors.ts';
import { isReference, REFERENCE_KEYS } from '../results/result-reference.ts';
import { describeLack, valueAtPath } from '../results/value-path.ts';
import type { StepRuns } from '../runs/index.ts';
import { type FlowStore, resultsOf } from './flow-store.ts';
import { type ItemRuns, itemTexts } from './item-results.ts';
import type { ValueSource } from './template-text.ts';
import { forgotten, notThere, sourceText } from './templates.ts';

export interface StepResults {
  /** By run; undefined where there is none. Of a step with a list, by what the ids of the runs of its items begin with. */
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
  /** Null: the step has one run. */
  readonly itemsOf: (step: string) => ItemRuns | null;
  readonly store: FlowStore;
  readonly steps: StepRuns;
}

type StepSource = Extract<ValueSource, { readonly kind: 'step' }>;

/** Rejects with `input-invalid` where a part is not there, or a file cannot be looked into. */
export async function gatherResults(wanted: ResultsWanted): Promise<StepResults> {
  const { sources, list, runOf, itemsOf, store, steps } = wanted;
  const all = (list === null ? sources : [...sources, list]).filter((source) => source.kind === 'step');
  const there = all.filter(({ step }) => runOf(step) !== null);
  if (there.length === 0) return NO_RESULTS;
  const single = there.filter(({ step }) => itemsOf(step) === null);
  const runs = new Set(single.map(({ step }) => runOf(step)!));
  const values = new Map(runs.size === 0 ? [] : await resultsOf([...runs], store, steps));
  const parts = new Map<ValueSource, unknown>();
  for (const source of single) {
    const root = values.get(runOf(source.step)!);
    if (parts.has(source) || !isWithinFile(root, source.path, source === list)) continue;
    parts.set(source, await partOf(source, { file: root.$file, path: source.path, above: 0 }, store));
  }
  for (const source of there) {
    const items = itemsOf(source.step);
    if (items === null) continue;
    if (typeof source.path[0] === 'number')
      parts.set(source, await itemPart(source, items, { ...wanted, isList: source === list }));
    else if (!values.has(runOf(source.step)!)) {
      const texts = await itemTexts(source.step, items, wanted);
      values.set(runOf(source.step)!, JSON.parse(`[${texts.join(',')}]`));
    }
  }
  return { values, parts };
}

function isWithinFile(root: unknown, path: SchemaPath, isList: boolean): root is { readonly $file: string } {
  if (!isReference(root)) return false;
  return path.length === 0 ? isList : !REFERENCE_KEYS.includes(path[0]);
}

/** `steps.mail.result[3].id`: of one item, which alone is read. */
async function itemPart(
  source: StepSource,
  { size, runOf }: ItemRuns,
  { store, steps, isList }: ResultsWanted & { readonly isList: boolean },
): Promise<unknown> {
  const [item, ...path] = source.path as [number, ...SchemaPath];
  if (item >= size) throw notThere(source, 0, `a list of ${size}`);
  const run = runOf(item);
  // It did not succeed.
  if (run === null) return null;
  const root = (await resultsOf([run], store, steps)).get(run);
  if (root === undefined) throw forgotten(`${source.step}[${item}]`);
  if (isWithinFile(root, path, isList)) return partOf(source, { file: root.$file, path, above: 1 }, store);
  const { value, found } = valueAtPath(root, path);
  if (value !== undefined) return value;
  throw notThere(source, found + 1, describeLack(root, path, found));
}

/** `above`: steps of the way that lead to the file. */
async function partOf(
  source: StepSource,
  { file, path, above }: { readonly file: string; readonly path: SchemaPath; readonly above: number },
  store: FlowStore,
): Promise<unknown> {
  const { value, found, got } = await store.part(file, path).catch((error: unknown) => {
    throw named(source, error);
  });
  if (value === undefined) throw notThere(source, found + above, got);
  return value;
}

/** Whoever looks into a file does not know what asked for it. */
function named(source: StepSource, error: unknown): unknown {
  if (!(error instanceof ColibriError && error.code === 'input-invalid')) return error;
  return new ColibriError('input-invalid', `${sourceText(source)}: ${error.message}`, { cause: error });
}
