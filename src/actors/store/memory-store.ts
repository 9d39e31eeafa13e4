/**
 * The Store in memory: the last runs and the marks of files, gone with the process. Runs that are over are
 * bounded in number, results in number and age; marks cost 16 bytes a file and are not bounded, because a
 * forgotten mark would make a file be done again.
 */
import { errorBytes, textBytes } from '../kernel/index.ts';
import type { RunEvent, RunFilter, RunView } from '../protocol.ts';
import { MarkSet } from './mark-set.ts';
import { foldEvent } from './run-history.ts';
import type { Retention, Store, StoreAbilities, StoreUsage } from './store.ts';

export class MemoryStore implements Store {
  readonly abilities: StoreAbilities = { durable: false };
  readonly #retention: Retention;
  readonly #nowMs: () => number;
  readonly #live = new Map<string, RunView>();
  /** In the order they ended. */
  readonly #ended = new Map<string, RunView>();
  /** Runs whose result is kept, oldest first, with the time it came. */
  readonly #results = new Map<string, number>();
  readonly #marks = new Map<string, MarkSet>();
  /** Of `#ended`, by `bytesOf`. */
  #bytes = 0;

  constructor(retention: Retention, nowMs: () => number) {
    this.#retention = retention;
    this.#nowMs = nowMs;
  }

  append(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.quiet === true) continue;
      const view = foldEvent(this.#live.get(event.run), event);
      if (view.endedAtMs === null) this.#live.set(event.run, view);
      else this.#end(view, event);
    }
    this.#forgetOld();
  }

  list(filter: RunFilter): readonly RunView[] {
    const found: RunView[] = [];
    const wanted = (view: RunView) =>
      (filter.task === null || view.task === filter.task) &&
      (filter.state === null || view.state === filter.state);
    for (const view of this.#live.values()) if (wanted(view)) found.push(view);
    for (const view of [...this.#ended.values()].reverse()) {
      if (found.length >= filter.limit + this.#live.size) break;
      if (wanted(view)) found.push(view);
    }
    found.sort((a, b) => b.createdAtMs - a.createdAtMs);
    return found.slice(0, filter.limit);
  }

  show(run: string): RunView | null {
    return this.#live.get(run) ?? this.#ended.get(run) ?? null;
  }

  marked(task: string, marks: readonly string[]): ReadonlySet<string> {
    const set = this.#marks.get(task);
    return new Set(set === undefined ? [] : marks.filter((mark) => set.has(mark)));
  }

  /** Walks through all live runs. */
  usage(): StoreUsage {
    let live = 0;
    for (const view of this.#live.values()) live += bytesOf(view);
    let marks = 0;
    for (const set of this.#marks.values()) marks += set.bytes;
    return { history: this.#bytes, live, marks };
  }

  close(): void {
    this.#live.clear();
    this.#ended.clear();
    this.#bytes = 0;
    this.#results.clear();
    this.#marks.clear();
  }

  #end(view: RunView, event: RunEvent): void {
    this.#live.delete(view.run);
    this.#forget(view.run);
    this.#ended.set(view.run, view);
    this.#bytes += bytesOf(view);
    if (view.result !== null) {
      this.#results.delete(view.run);
      this.#results.set(view.run, this.#nowMs());
    }
    if (event.mark !== undefined && (view.state === 'success' || view.state === 'failed')) {
      let set = this.#marks.get(view.task);
      if (set === undefined) {
        set = new MarkSet();
        this.#marks.set(view.task, set);
      }
      set.add(event.mark);
    }
  }

  #forgetOld(): void {
    const { runs, results, resultTtlMs, maxBytes } = this.#retention;
    const eldest = this.#nowMs() - resultTtlMs;
    for (const [run, atMs] of this.#results) {
      if (this.#results.size <= results && atMs >= eldest) break;
      this.#results.delete(run);
      const view = this.#ended.get(run);
      if (view === undefined) continue;
      const shorter = { ...view, result: null };
      this.#bytes += bytesOf(shorter) - bytesOf(view);
      this.#ended.set(run, shorter);
    }
    for (const run of this.#ended.keys()) {
      if (this.#ended.size <= runs && this.#bytes <= maxBytes) break;
      this.#forget(run);
    }
  }

  #forget(run: string): void {
    const view = this.#ended.get(run);
    if (view === undefined) return;
    this.#bytes -= bytesOf(view);
    this.#ended.delete(run);
    this.#results.delete(run);
  }
}

/** Of one view beside its texts: the object, its times, the name of its task, its place in a table. Measured. */
const VIEW_BYTES = 260;
const ATTEMPT_BYTES = 96;

function bytesOf({ run, input, result, error, attempts }: RunView): number {
  let bytes = VIEW_BYTES + textBytes(run) + textBytes(input) + textBytes(result) + errorBytes(error);
  for (const attempt of attempts) bytes += ATTEMPT_BYTES + errorBytes(attempt.error);
  return bytes;
}
