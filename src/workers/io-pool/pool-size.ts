/**
 * How many slots an io pool needs. Pure arithmetic; time and measurements come in from outside.
 *
 * The formula is slots = cores × (1 + wait / compute) at full utilisation: Goetz et al., *Java Concurrency
 * in Practice*, 8.2, "Sizing thread pools".
 */

/** No io pool is measured to be larger: past it, each slot costs memory and the network is the limit. */
export const MEASURED_MAX_SLOTS = 64;

/** A measured pool is resized at most this often. */
export const RESIZE_INTERVAL_MS = 5000;

/** Times above this (12 days) are capped, so that every estimate stays finite. */
const MAX_TIME_MS = 1e9;

/** Shortest compute time that is believed; it keeps wait / compute finite. */
const MIN_COMPUTE_MS = 0.001;

export interface IoSlotsInput {
  readonly cores: number;
  readonly waitMs: number;
  readonly computeMs: number;
  readonly min: number;
  readonly max: number;
}

/** Slots within [min, max], always an integer of at least 1. Values that make no sense count as 0. */
export function ioSlots({ cores, waitMs, computeMs, min, max }: IoSlotsInput): number {
  const wait = nonNegative(waitMs);
  const compute = Math.max(MIN_COMPUTE_MS, nonNegative(computeMs));
  // The product may end in …0000001; it must not buy a slot.
  const slots = Math.ceil(Math.max(1, nonNegative(cores)) * (1 + wait / compute) - 1e-9);
  return Math.max(1, Math.floor(min), Math.min(Math.floor(max), slots));
}

/** What was seen of one pool over one interval. */
export interface PoolSample {
  /** Runs that ended in the interval. */
  readonly runs: number;
  /** The sum of their wall times. */
  readonly durationMs: number;
  /** Time the event loop of the pool's thread was active (`eventLoopUtilization().active`). */
  readonly activeMs: number;
  /** Length of the interval. */
  readonly intervalMs: number;
}

/**
 * Estimates wait and compute time of a run by exponentially weighted means over samples.
 *
 * Compute is active time a run. A run's wall time also holds the turns in which the thread worked for
 * others; on a shared processor the stretch is 1 / (1 − utilisation) (processor sharing, Kleinrock,
 * *Queueing Systems* II, 4.4). Taking it off keeps a busy thread from being given ever more slots.
 */
export class WaitComputeMeter {
  readonly #weight: number;
  #waitMs: number;
  #computeMs: number;

  /** `weight` of a new sample, within (0, 1]. */
  constructor(options: { readonly waitMs: number; readonly computeMs: number; readonly weight?: number }) {
    this.#waitMs = nonNegative(options.waitMs);
    this.#computeMs = nonNegative(options.computeMs);
    this.#weight = Math.min(1, Math.max(0.01, options.weight ?? 0.3));
  }

  get waitMs(): number {
    return this.#waitMs;
  }

  get computeMs(): number {
    return this.#computeMs;
  }

  /** A sample without runs says nothing and is left out. */
  add(sample: PoolSample): void {
    if (!(sample.runs > 0) || !(sample.intervalMs > 0)) return;
    const active = nonNegative(sample.activeMs);
    const meanDuration = Math.min(MAX_TIME_MS, nonNegative(sample.durationMs) / sample.runs);
    const compute = Math.min(active / sample.runs, meanDuration);
    const utilisation = Math.min(0.95, active / sample.intervalMs);
    const wait = Math.max(0, meanDuration - compute / (1 - utilisation));
    this.#computeMs += this.#weight * (compute - this.#computeMs);
    this.#waitMs += this.#weight * (wait - this.#waitMs);
  }
}

/** Measures one pool and decides when it is resized: within [cores, 64], at most once in 5 s. */
export class MeasuredSizing {
  readonly #cores: number;
  readonly meter: WaitComputeMeter;
  #runs = 0;
  #durationMs = 0;
  #sampledMono: number | null = null;
  #nextMono = Number.NEGATIVE_INFINITY;

  constructor(options: { readonly cores: number; readonly waitMs: number; readonly computeMs: number }) {
    this.#cores = Math.min(MEASURED_MAX_SLOTS, Math.max(1, Math.floor(options.cores)));
    this.meter = new WaitComputeMeter(options);
  }

  /** Slots by the present estimate. */
  get slots(): number {
    return ioSlots({
      cores: this.#cores,
      waitMs: this.meter.waitMs,
      computeMs: this.meter.computeMs,
      min: this.#cores,
      max: MEASURED_MAX_SLOTS,
    });
  }

  /** Counts a run that ended. */
  ended(durationMs: number): void {
    this.#runs++;
    this.#durationMs += durationMs;
  }

  /**
   * Closes the interval since the last call, in which the thread was active for `activeMs`. The new size if
   * it is time for one and it differs from `current`, else null. The first call only opens an interval.
   */
  next(activeMs: number, current: number, nowMono: number): number | null {
    if (this.#sampledMono !== null) {
      const intervalMs = nowMono - this.#sampledMono;
      this.meter.add({ runs: this.#runs, durationMs: this.#durationMs, activeMs, intervalMs });
    }
    this.#runs = 0;
    this.#durationMs = 0;
    this.#sampledMono = nowMono;
    const slots = this.slots;
    if (nowMono < this.#nextMono || slots === current) return null;
    this.#nextMono = nowMono + RESIZE_INTERVAL_MS;
    return slots;
  }
}

function nonNegative(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}
