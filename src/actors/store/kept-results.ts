/**
 * Which of the runs that are over keep their result in a store in memory, and the files of those that lie in one: bounded in number,
 * age and bytes of files. Results of items of lists, which can be made anew one by one, go before all others, else the oldest first.
 */
import type { OwnFile } from '../results/result-reference.ts';
import type { Retention } from './store.ts';

export class KeptResults {
  readonly #retention: Retention;
  /** Runs in the order in which their results are forgotten, with the time from which each ages. */
  readonly #items = new Map<string, number>();
  readonly #others = new Map<string, number>();
  /** Of runs that are held too. */
  readonly #files = new Map<string, OwnFile>();
  /** Of files of results that are forgotten. */
  #forgotten: string[] = [];

  constructor(retention: Retention) {
    this.#retention = retention;
  }

  /** It ages from this moment on, and counts. */
  count(run: string, atMs: number): void {
    (isItem(run) ? this.#items : this.#others).set(run, atMs);
  }

  /** It is kept all the same where the run is held. */
  uncount(run: string): void {
    this.#items.delete(run);
    this.#others.delete(run);
  }

  keepFile(run: string, file: OwnFile): void {
    this.#files.set(run, file);
  }

  forgetFile(run: string): void {
    const file = this.#files.get(run);
    if (file === undefined) return;
    this.#files.delete(run);
    this.#forgotten.push(file.name);
  }

  /** `runs`: all that are over, the first to be forgotten first. */
  setInOrder(runs: Iterable<string>): void {
    const items = new Map(this.#items);
    const others = new Map(this.#others);
    this.clear();
    for (const run of runs) {
      const atMs = items.get(run) ?? others.get(run);
      if (atMs !== undefined) this.count(run, atMs);
    }
  }

  /** What is beyond the bounds does not count any more: gives the runs. */
  *beyond(nowMs: number): Iterable<string> {
    const { results, resultTtlMs, fileBytes } = this.#retention;
    const all = [this.#items, this.#others] as const;
    for (const kept of all) {
      for (const [run, atMs] of kept) {
        if (atMs >= nowMs - resultTtlMs) break;
        yield this.#forget(run);
      }
    }
    for (const kept of all) {
      for (const run of kept.keys()) {
        if (this.#items.size + this.#others.size <= results) break;
        yield this.#forget(run);
      }
    }
    let bytes = this.#files.size === 0 ? 0 : this.#fileBytes();
    for (const kept of all) {
      for (const run of kept.keys()) {
        if (bytes <= fileBytes) break;
        const file = this.#files.get(run);
        // A result in the journal makes no room among the files.
        if (file === undefined) continue;
        bytes -= file.bytes;
        yield this.#forget(run);
      }
    }
  }

  fileNames(): ReadonlySet<string> {
    return new Set([...this.#files.values()].map(({ name }) => name));
  }

  /** Each is given once. */
  forgottenFiles(): readonly string[] {
    const forgotten = this.#forgotten;
    this.#forgotten = [];
    return forgotten;
  }

  clear(): void {
    this.#items.clear();
    this.#others.clear();
  }

  #forget(run: string): string {
    this.uncount(run);
    this.forgetFile(run);
    return run;
  }

  /** Of results that count. */
  #fileBytes(): number {
    let bytes = 0;
    for (const kept of [this.#items, this.#others]) {
      for (const run of kept.keys()) bytes += this.#files.get(run)?.bytes ?? 0;
    }
    return bytes;
  }
}

/** As its id says: `…/step[3]`. */
export function isItem(run: string): boolean {
  return run.endsWith(']');
}
