/**
 * How many may begin within a time: the generic cell rate algorithm in its form of virtual scheduling (ITU-T
 * Recommendation I.371, *Traffic control and congestion control in B-ISDN*). Of runs that begin on time each is due one
 * interval after the one before; one may begin early by up to (burst − 1) intervals:
 *
 *   interval = perMs / count      tolerance = (burst − 1) × interval
 *   may begin at t:  t ≥ due − tolerance          then:  due = max(t, due) + interval
 *
 * So within any time t at most burst + t / interval begin, and a pause makes up for no more than the burst. By monotonic
 * time: a step of the wall clock changes nothing, and a suspend counts as no time at all. Pure.
 */
import type { RateSpec } from './bounds.ts';

export class RateLimit {
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  #dueMono: number;

  /**
   * The first may begin at `firstMono`, the others an interval apart: what began before this limit was there is not
   * known, and a daemon that starts again and again must not give a burst each time.
   */
  constructor({ count, perMs, burst }: RateSpec, firstMono: number) {
    this.#intervalMs = perMs / count;
    this.#toleranceMs = (burst - 1) * this.#intervalMs;
    this.#dueMono = firstMono + this.#toleranceMs;
  }

  /** From when on the next one may begin. */
  get openMono(): number {
    return this.#dueMono - this.#toleranceMs;
  }

  /** One begins. */
  take(nowMono: number): void {
    this.#dueMono = Math.max(nowMono, this.#dueMono) + this.#intervalMs;
  }
}
