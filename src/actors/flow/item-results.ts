/** The results of the items of a list, as JSON texts in their order: together no more than an input may have. */
import type { StepRuns } from '../runs/index.ts';
import { AT_ONCE, askedOf, type FlowStore } from './flow-store.ts';
import { forgotten, MAX_FILLED_LENGTH, tooLong } from './templates.ts';

/** Where the results of the items of a list are. */
export interface ItemRuns {
  readonly size: number;
  /** Null: the item did not succeed. */
  readonly runOf: (item: number) => string | null;
}

/** What did not succeed is `null`. Rejects with `input-invalid`: they are too much together, or one is forgotten. */
export async function itemTexts(
  step: string,
  { size, runOf }: ItemRuns,
  { store, steps }: { readonly store: FlowStore; readonly steps: StepRuns },
): Promise<readonly string[]> {
  const texts: string[] = [];
  // Brackets, and what stands between them.
  let left = MAX_FILLED_LENGTH - size - 1;
  for (let from = 0; from < size; from += AT_ONCE) {
    const items = Array.from({ length: Math.min(AT_ONCE, size - from) }, (_, at) => from + at);
    const found = await textsOf(
      items.flatMap((item) => runOf(item) ?? []),
      left,
      { store, steps },
    );
    for (const item of items) {
      const run = runOf(item);
      const text = run === null ? 'null' : found.get(run);
      if (text === undefined) throw tooLong();
      if (text === null) throw forgotten(`${step}[${item}]`);
      texts.push(text);
      left -= text.length;
      if (left < 0) throw tooLong();
    }
  }
  return texts;
}

/** By run; null: it is not kept. Of those that the store did not come to there is nothing: the others are too much already. */
async function textsOf(
  runs: readonly string[],
  mostLength: number,
  { store, steps }: { readonly store: FlowStore; readonly steps: StepRuns },
): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>();
  const asked = askedOf(runs, steps, (run, text) => found.set(run, text));
  if (asked.length === 0) return found;
  const texts = await store.results(asked, mostLength);
  for (const [at, text] of texts.entries()) found.set(asked[at]!, text);
  return found;
}
