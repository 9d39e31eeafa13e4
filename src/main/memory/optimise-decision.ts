/**
 * When the optimising compilers may work. Built-in handlers do their work in native code: below a rate of runs optimised
 * code would not be noticed, above it the runtime itself is what runs, for that moment and some time after it.
 */

/** Runs a second. */
const FAST_RATE = 4000;
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
    const seconds = (nowMono - this.#lookedMono) / 1000;
    const since = ended() - this.#endedSeen;
    this.#lookedMono = nowMono;
    this.#endedSeen += since;
    if (since > FAST_RATE * seconds) this.#fastMono = nowMono;
    const on = runsUserCode || nowMono - this.#fastMono < KEEP_MS;
    if (on === this.#on) return;
    this.#on = on;
    setOptimising(on);
  }
}
