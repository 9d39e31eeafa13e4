/**
 * Flood control for the log: at most so many lines a second, the rest is counted and told in one line. A task
 * that runs 100,000 times a second must not make 100,000 lines.
 */
export class LineBudget {
  #windowMono = Number.NEGATIVE_INFINITY;
  #used = 0;
  #suppressed = 0;

  /** True where the line may be written; false where it was only counted. */
  take(nowMono: number, perSecond: number): boolean {
    if (nowMono - this.#windowMono >= 1000) {
      this.#windowMono = nowMono;
      this.#used = 0;
    }
    if (this.#used < perSecond) {
      this.#used++;
      return true;
    }
    this.#suppressed++;
    return false;
  }

  /** Lines that were counted only, since the last call. */
  collect(): number {
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return suppressed;
  }
}
