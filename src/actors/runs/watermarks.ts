/**
 * Back-pressure of one queue: above the high watermark its sources wait, below the low one they go on. Between the two it
 * stays as it is, so that they do not stop and go with every single place.
 */
export interface WatermarksSpec {
  /** Shares of what the queue holds: 0 < low < high ≤ 1. */
  readonly high: number;
  readonly low: number;
}

export const DEFAULT_WATERMARKS: WatermarksSpec = { high: 0.9, low: 0.75 };

export class Watermarks {
  readonly #spec: WatermarksSpec;
  readonly #onChange: (isHigh: boolean, share: number) => void;
  #isHigh = false;
  #rises = 0;

  constructor(spec: WatermarksSpec, onChange: (isHigh: boolean, share: number) => void) {
    this.#spec = spec;
    this.#onChange = onChange;
  }

  /** The sources wait. */
  get isHigh(): boolean {
    return this.#isHigh;
  }

  /** How often they had to. */
  get rises(): number {
    return this.#rises;
  }

  /** The queue is as full as this. */
  measure(share: number): void {
    const { high, low } = this.#spec;
    if (this.#isHigh ? share > low : share < high) return;
    this.#isHigh = !this.#isHigh;
    if (this.#isHigh) this.#rises++;
    this.#onChange(this.#isHigh, share);
  }
}
