/** One bound: how many of those behind it are on slots, and whether one more may begin. */
import type { BoundKind } from './bounds.ts';
import type { RateLimit } from './rate-limit.ts';

/** What stands behind a gate and has to know when it opens or shuts. */
export interface Gated {
  refresh(): void;
}

export interface GateOptions {
  readonly kind: BoundKind;
  /** Of the group or task; empty for the one of all runs. */
  readonly name: string;
  readonly limit: number | null;
  readonly rate?: RateLimit | null;
}

export class Gate {
  readonly kind: BoundKind;
  readonly name: string;
  readonly limit: number;
  readonly rate: RateLimit | null;
  /** One for each pool that runs behind it go to. */
  readonly places: Gated[] = [];
  #active = 0;
  /** The rate lets nothing begin just now. */
  #resting = false;

  constructor({ kind, name, limit, rate = null }: GateOptions) {
    this.kind = kind;
    this.name = name;
    this.limit = limit ?? Number.POSITIVE_INFINITY;
    this.rate = rate;
  }

  /** Runs on slots. */
  get active(): number {
    return this.#active;
  }

  get shut(): boolean {
    return this.#active >= this.limit || this.#resting;
  }

  /** A run behind it begins, or did before the gate was there. */
  enter(): void {
    this.#active++;
    if (this.#active === this.limit) this.#tell();
  }

  /** It has left its slot. */
  leave(): void {
    this.#active--;
    if (this.#active === this.limit - 1) this.#tell();
  }

  rest(resting: boolean): void {
    if (this.#resting === resting) return;
    this.#resting = resting;
    this.#tell();
  }

  #tell(): void {
    for (const place of this.places) place.refresh();
  }
}
