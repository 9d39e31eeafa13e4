/**
 * What functions of a program are given of others, read for them: their inputs name it only. For the items of a list each text is
 * read once, and held, and counted, until their step is over.
 */
import { ColibriError } from '../kernel/errors.ts';
import type { StepRuns } from '../runs/index.ts';
import type { FlowStore } from './flow-store.ts';
import { itemTexts } from './item-results.ts';
import type { LiveFlow } from './live-flow.ts';
import { placesOf } from './step-starts.ts';

export interface SharedReadsOptions {
  readonly store: FlowStore;
  readonly steps: StepRuns;
  readonly liveOf: (flow: string) => LiveFlow | undefined;
}

/** JSON text; null: it is not kept. */
export type ReadText = () => Promise<string | null>;

export class SharedReads {
  readonly #options: SharedReadsOptions;

  constructor(options: SharedReadsOptions) {
    this.#options = options;
  }

  /** `run`: for whom; `what`: names it among all that its step reads. */
  once(run: string, what: string, read: ReadText): Promise<string | null> {
    const live = this.#liveOf(run);
    const place = live?.placeOf(run) ?? null;
    if (live === undefined || place === null || place.item === null) return read();
    // Not taken up yet, or over: nothing would let go of it.
    if (live.run?.reasonOf(place.step) !== null) return read();
    return live.texts.read(place.step, what, read);
  }

  /**
   * The results of the items of another step, as the text of a list. Rejects with `input-invalid`: they are too much together, or
   * one is forgotten; with `ask-timeout`: it is not known yet which of them there are.
   */
  async items(run: string, step: string): Promise<string> {
    const live = this.#liveOf(run);
    const place = live?.placeOf(run) ?? null;
    if (live === undefined || live.run === null || place === null) {
      throw new ColibriError('ask-timeout', `expected the flow of ${run} to be taken up, got none yet`);
    }
    const items = placesOf(live, place.step).itemsOf(step);
    if (items === null) return 'null';
    const read = async () => `[${(await itemTexts(step, items, this.#options)).join(',')}]`;
    return (await this.once(run, `items of ${step}`, read))!;
  }

  #liveOf(run: string): LiveFlow | undefined {
    return this.#options.liveOf(run.slice(0, run.lastIndexOf('/')));
  }
}
