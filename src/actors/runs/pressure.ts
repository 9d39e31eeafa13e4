/**
 * The pressure of a queue: whether its sources wait. What a queue holds also falls without its doing, with the bytes of all
 * runs: so one that was too full is looked at anew whenever somebody asks.
 */
import { Watermarks, type WatermarksSpec } from './watermarks.ts';

export interface PressureOptions {
  readonly watermarks: WatermarksSpec;
  /** How full the queue is. */
  readonly share: () => number;
  /** Its sources have to wait, or may go on. */
  readonly onChange: (isHigh: boolean, share: number) => void;
}

export class Pressure {
  readonly #water: Watermarks;
  readonly #share: () => number;

  constructor({ watermarks, share, onChange }: PressureOptions) {
    this.#water = new Watermarks(watermarks, onChange);
    this.#share = share;
  }

  /** Above the high watermark, and not below the low one since: sources that can wait do. */
  get isHigh(): boolean {
    this.shrank();
    return this.#water.isHigh;
  }

  /** How often they had to. */
  get rises(): number {
    return this.#water.rises;
  }

  /** Something came into the queue. */
  grew(): void {
    if (!this.#water.isHigh) this.#water.measure(this.#share());
  }

  /** Something left it. */
  shrank(): void {
    if (this.#water.isHigh) this.#water.measure(this.#share());
  }
}
