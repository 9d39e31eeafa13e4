/**
 * Restart intensity: how often something that fails is started again before the failure is passed up. One
 * window for actors and threads alike; pure, the time is given.
 */

/** At most `maxRestarts` restarts within any `withinMs`; the next one escalates. */
export interface RestartIntensity {
  readonly maxRestarts: number;
  readonly withinMs: number;
}

export const DEFAULT_RESTART: RestartIntensity = { maxRestarts: 3, withinMs: 10_000 };

export class RestartWindow {
  readonly #intensity: RestartIntensity;
  /** Monotonic times of the restarts inside the window: at most `maxRestarts`. */
  readonly #restarts: number[] = [];
  #total = 0;

  constructor(intensity: RestartIntensity = DEFAULT_RESTART) {
    this.#intensity = intensity;
  }

  /** Restarts granted so far. */
  get total(): number {
    return this.#total;
  }

  /** True, and counted, if a restart now stays within the intensity; false: escalate. */
  tryRestart(nowMono: number): boolean {
    const { maxRestarts, withinMs } = this.#intensity;
    while (this.#restarts.length > 0 && nowMono - this.#restarts[0]! >= withinMs) this.#restarts.shift();
    if (this.#restarts.length >= maxRestarts) return false;
    this.#restarts.push(nowMono);
    this.#total++;
    return true;
  }
}
