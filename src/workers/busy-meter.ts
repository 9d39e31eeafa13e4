/**
 * The share of slot time in use, between one look and the next. Fed on each change of `active`, so that it
 * needs no sampling timer.
 */
export class BusyMeter {
  #sinceMono: number;
  #changedMono: number;
  /** Slot × ms in use, and there to be used, since `#sinceMono`. */
  #busy = 0;
  #offered = 0;
  #last = 0;

  constructor(nowMono: number) {
    this.#sinceMono = nowMono;
    this.#changedMono = nowMono;
  }

  /** `active` of `slots` were in use from the last call until now. */
  add(active: number, slots: number, nowMono: number): void {
    const elapsed = nowMono - this.#changedMono;
    if (elapsed <= 0) return;
    this.#busy += active * elapsed;
    this.#offered += slots * elapsed;
    this.#changedMono = nowMono;
  }

  /** 0 to 1 over the time since the last look; looks closer than a second share one answer. */
  read(nowMono: number): number {
    if (this.#offered > 0 && (nowMono - this.#sinceMono >= 1000 || this.#last === 0)) {
      this.#last = Math.min(1, this.#busy / this.#offered);
      this.#sinceMono = nowMono;
      this.#busy = 0;
      this.#offered = 0;
    }
    return this.#last;
  }
}
