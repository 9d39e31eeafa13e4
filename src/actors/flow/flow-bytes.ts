/**
 * What the live flows hold in memory, beside the runs of their steps: counted as it comes and goes. Above the limit no further flow
 * begins; those that live go on, also where the lists that they find make it more.
 */
import { budgetShare, estimateBytes, textBytes } from '../kernel/index.ts';

/** Of a live flow with one of its steps at work, measured as the growth of the heap over 2,000 of them with 1 to 100 steps. */
export const LIVE_FLOW_BYTES = 1500;
export const LIVE_STEP_BYTES = 20;
/** Of JSON text, as the text and as what it is parsed to. */
const PARSED = 5;

/** A twentieth of the budget of the process. */
export function liveFlowsLimit(budgetBytes: number): number {
  return budgetShare(budgetBytes, 20);
}

export class FlowBytes {
  readonly limit: number;
  #held = 0;

  constructor(budgetBytes: number) {
    this.limit = liveFlowsLimit(budgetBytes);
  }

  get held(): number {
    return this.#held;
  }

  get hasRoom(): boolean {
    return this.#held < this.limit;
  }

  /** Below 0: it is let go. */
  add(bytes: number): void {
    this.#held += bytes;
  }
}

/** What one live flow holds, part by part; all of it goes with its end. */
export class LiveFlowBytes {
  readonly #all: FlowBytes;
  readonly #parts = { own: 0, note: 0, reads: 0 };

  constructor(all: FlowBytes, { steps, payload }: { readonly steps: number; readonly payload: string }) {
    this.#all = all;
    this.#set('own', LIVE_FLOW_BYTES + steps * LIVE_STEP_BYTES + textBytes(payload) * PARSED);
  }

  note(text: string): void {
    this.#set('note', textBytes(text) * PARSED);
  }

  /** Lists of items, and the results that inputs are made of. */
  reads(values: Iterable<unknown>): void {
    let bytes = 0;
    for (const value of values) bytes += estimateBytes(value);
    this.#set('reads', bytes);
  }

  /** Idempotent. */
  release(): void {
    for (const part of ['own', 'note', 'reads'] as const) this.#set(part, 0);
  }

  #set(part: 'own' | 'note' | 'reads', bytes: number): void {
    this.#all.add(bytes - this.#parts[part]);
    this.#parts[part] = bytes;
  }
}
