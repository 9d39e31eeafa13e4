/**
 * Stretches of time in which the occurrences of a schedule do not count, and a schedule without them. A stretch is
 * left in one step, however many occurrences it holds.
 */
import type { Occurrences } from './cron-occurrences.ts';

/** After `fromMs`, up to and with `toMs`; both in whole ms. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Stretches {
  /** One that holds the instant; null: there is none. */
  at(atMs: number): Stretch | null;
}

/** The occurrences outside of all stretches: a set again, walked strictly onward in both directions. */
export class OccurrencesOutside implements Occurrences {
  readonly #inner: Occurrences;
  readonly #stretches: Stretches;

  constructor(inner: Occurrences, stretches: Stretches) {
    this.#inner = inner;
    this.#stretches = stretches;
  }

  next(afterMs: number): number | null {
    let at = this.#inner.next(afterMs);
    while (at !== null) {
      const stretch = this.#stretches.at(at);
      if (stretch === null) return at;
      at = this.#inner.next(stretch.toMs);
    }
    return null;
  }

  prev(beforeMs: number): number | null {
    let at = this.#inner.prev(beforeMs);
    while (at !== null) {
      const stretch = this.#stretches.at(at);
      if (stretch === null) return at;
      at = this.#inner.prev(stretch.fromMs + 1);
    }
    return null;
  }
}

/** Stretches kept of one set; of more, the one that was added longest ago is forgotten. */
export const MAX_STRETCHES = 16;

/** A few stretches, joined where they touch. */
export class StretchSet implements Stretches {
  /** The newest last. */
  #stretches: Stretch[] = [];

  get isEmpty(): boolean {
    return this.#stretches.length === 0;
  }

  add(fromMs: number, toMs: number): void {
    if (toMs <= fromMs) return;
    let [from, to] = [fromMs, toMs];
    const apart: Stretch[] = [];
    for (const stretch of this.#stretches) {
      if (stretch.toMs < fromMs || stretch.fromMs > toMs) {
        apart.push(stretch);
        continue;
      }
      from = Math.min(from, stretch.fromMs);
      to = Math.max(to, stretch.toMs);
    }
    apart.push({ fromMs: from, toMs: to });
    if (apart.length > MAX_STRETCHES) apart.shift();
    this.#stretches = apart;
  }

  at(atMs: number): Stretch | null {
    for (const stretch of this.#stretches) {
      if (stretch.fromMs < atMs && atMs <= stretch.toMs) return stretch;
    }
    return null;
  }

  /** Where the last stretch ends that has ended by `atMs`; -Infinity: there is none. */
  lastEnd(atMs: number): number {
    let end = Number.NEGATIVE_INFINITY;
    for (const { toMs } of this.#stretches) if (toMs <= atMs && toMs > end) end = toMs;
    return end;
  }
}
