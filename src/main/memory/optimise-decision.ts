/**
 * When the optimising compilers may work. Built-in handlers do their work in native code: below a rate of runs optimised
 * code would not be noticed, above it the runtime itself is what runs, for that moment and some time after it.
 */

/**
 * Runs a second. At 2,000 that a schedule makes, compilers take 3 MB more of pages of files, 1.5 MB more of malloc, and a
 * tenth more processor time than what they make saves.
 */
const FAST_RATE = 2500;
/** Over at least so long: what is due at one instant is no rate. */
const MEASURE_MS = 1000;
const KEEP_MS = 60_000;

export interface OptimiseOptions {
  /** Code of users may run on some thread: it is optimised whatever it costs. */
  readonly runsUserCode: boolean;
  /** Runs that have ended since the start. */
  readonly ended: () => number;
  readonly setOptimising: (on: boolean) => void;
}

export class OptimiseDecision {
  readonly #options: OptimiseOptions;
  /** Null: as the process was started. */
  #on: boolean | null = null;
  #endedSeen: number;
  #lookedMono: number;
  /** When runs last ended at a high rate. */
  #fastMono = Number.NEGATIVE_INFINITY;

  constructor(options: OptimiseOptions, nowMono: number) {
    this.#options = options;
    this.#endedSeen = options.ended();
    this.#lookedMono = nowMono;
  }

  look(nowMono: number): void {
    const { ended, runsUserCode, setOptimising } = this.#options;
    const sinceMs = nowMono - this.#lookedMono;
    if (sinceMs < MEASURE_MS && this.#on !== null) return;
    if (sinceMs >= MEASURE_MS) {
      const since = ended() - this.#endedSeen;
      this.#lookedMono = nowMono;
      this.#endedSeen += since;
      if (1000 * since > FAST_RATE * sinceMs) this.#fastMono = nowMono;
    }
    const on = runsUserCode || nowMono - this.#fastMono < KEEP_MS;
    if (on === this.#on) return;
    this.#on = on;
    setOptimising(on);
  }
}
