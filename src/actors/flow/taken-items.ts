/**
 * Items of a list that succeeded in earlier runs of a flow, and which run has the result of each: what a run again takes over, in
 * however many runs they were done. A byte an item while it lives, a bit an item and run where it is noted. Pure.
 */

/** Items whose runs belong to one run of the flow. */
export interface NotedItems {
  /** What the ids of their runs begin with: `nightly@…/mail`. */
  readonly run: string;
  /** `all`, or a bit for each of them, in base64. */
  readonly items: string;
}

/** Runs of a flow that a list may be from: those of the oldest are done once more. */
export const MOST_ORIGINS = 16;

const ALL = 'all';

export class TakenItems {
  readonly size: number;
  /** 0: it is not taken over; n: it is from the nth origin. */
  readonly #origins: Uint8Array;
  readonly #runs: readonly string[];
  #count = 0;

  /** What cannot be read is not taken over. */
  constructor(size: number, noted: readonly NotedItems[]) {
    this.size = size;
    this.#origins = new Uint8Array(size);
    const from = noted.slice(-MOST_ORIGINS);
    this.#runs = from.map(({ run }) => run);
    for (const [at, { items }] of from.entries()) {
      const bits = items === ALL ? null : Buffer.from(items, 'base64');
      for (let item = 0; item < size; item++) {
        const isIn = bits === null || ((bits[item >> 3] ?? 0) & (1 << (item & 7))) !== 0;
        if (isIn && this.#origins[item] === 0) this.#origins[item] = at + 1;
      }
    }
    for (const origin of this.#origins) if (origin > 0) this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  has(item: number): boolean {
    return (this.#origins[item] ?? 0) > 0;
  }

  /** The run that has its result; null: it is not taken over. */
  runOf(item: number): string | null {
    const origin = this.#origins[item] ?? 0;
    return origin === 0 ? null : itemRunId(this.#runs[origin - 1]!, item);
  }

  runs(): string[] {
    const found: string[] = [];
    for (let item = 0; item < this.size; item++) if (this.has(item)) found.push(this.runOf(item)!);
    return found;
  }

  /** It is run again after all. */
  drop(item: number): void {
    if (!this.has(item)) return;
    this.#origins[item] = 0;
    this.#count--;
  }

  noted(): NotedItems[] {
    return this.#runs.flatMap((run, at) =>
      notedItems(run, this.size, (item) => this.#origins[item] === at + 1),
    );
  }
}

/** Nothing where there are none. */
export function notedItems(run: string, size: number, isIn: (item: number) => boolean): NotedItems[] {
  const bits = new Uint8Array(Math.ceil(size / 8));
  let count = 0;
  for (let item = 0; item < size; item++) {
    if (!isIn(item)) continue;
    bits[item >> 3]! |= 1 << (item & 7);
    count++;
  }
  if (count === 0) return [];
  return [{ run, items: count === size ? ALL : Buffer.from(bits).toString('base64') }];
}

export function itemRunId(run: string, item: number): string {
  return `${run}[${item}]`;
}
