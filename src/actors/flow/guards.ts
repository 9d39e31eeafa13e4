/** Holds results against what is expected of them, beside the last good run of each step. */
import type { Judgement } from '../protocol.ts';
import { type Expectation, measureOf, unmetExpectation } from '../results/expectation.ts';
import { type FlowNote, parseNote } from './flow-note.ts';
import type { FlowStore } from './flow-store.ts';
import type { LiveFlow } from './live-flow.ts';
import { cutDetail } from './step-table.ts';

/** Runs of a flow that are looked through for the last good one of each step. */
const LOOKED_THROUGH = 50;

export class Guards {
  /** By flow, then step: the number of the last good run. */
  readonly #last = new Map<string, Map<string, number>>();

  /** Whether the runs of before are known, as far as anything is compared with them. */
  knows({ name, compares }: LiveFlow['flow']): boolean {
    return !compares || this.#last.has(name);
  }

  /** Looks through the last runs of the flow, newest first. */
  async learn(flow: string, store: FlowStore): Promise<void> {
    const runs = await store.list({ task: flow, state: null, limit: LOOKED_THROUGH });
    const last = new Map<string, number>();
    for (const { note } of runs) {
      for (const [step, measure] of Object.entries(parseNote(note).measures ?? {})) {
        if (!last.has(step)) last.set(step, measure);
      }
    }
    this.#last.set(flow, last);
  }

  /** What the step is compared with; null: there was no good run before. */
  lastOf({ flow }: LiveFlow, step: number): number | null {
    return this.#last.get(flow.name)?.get(flow.graph.nameOf(step)) ?? null;
  }

  /** Null: the result is as expected. What is to be kept of it goes into the note. */
  judge(live: LiveFlow, step: number, expectation: Expectation, result: unknown): string | null {
    const unmet = unmetExpectation(expectation, result, this.lastOf(live, step));
    return this.judged(live, step, { unmet, measure: measureOf(expectation, result) });
  }

  /** As `judge`, of a result that was held against it elsewhere. */
  judged({ note, flow }: LiveFlow, step: number, { unmet, measure }: Judgement): string | null {
    const name = flow.graph.nameOf(step);
    note.verdicts ??= {};
    if (unmet !== null) {
      note.verdicts[name] = { reason: 'not-expected', detail: cutDetail(unmet) };
      return unmet;
    }
    note.verdicts[name] = null;
    this.#keep(note, name, measure, this.#last.get(flow.name));
    return null;
  }

  #keep(note: FlowNote, name: string, measure: number | null, last: Map<string, number> | undefined): void {
    if (measure === null) return;
    note.measures ??= {};
    note.measures[name] = measure;
    last?.set(name, measure);
  }
}
