/**
 * The Store in memory: the last runs and the marks of files, gone with the process. Runs that are over are
 * bounded in number, results in number and age; marks cost 16 bytes a file and are not bounded, because a
 * forgotten mark would make a file be done again.
 */
import { ColibriError } from '../kernel/errors.ts';
import { errorBytes, LinkedHashMap, textBytes } from '../kernel/index.ts';
import type { RunFilter, StepsPlace, StoreMessages, StoreOpening } from '../protocol.ts';
import type { AuditEntry, RecordBatch, RunEvent, StoredStep } from '../records.ts';
import { ownFileOf } from '../results/result-reference.ts';
import type { RunView } from '../views/run-view.ts';
import { isItem, KeptResults } from './kept-results.ts';
import { MarkSet } from './mark-set.ts';
import { foldEvent } from './run-history.ts';
import {
  Appended,
  type Retention,
  STEPS_PAGE,
  type Store,
  type StoreAbilities,
  type StoreUsage,
  textsUpTo,
} from './store.ts';

/** What users did: the last ones. */
const AUDITS_KEPT = 200;

export class MemoryStore implements Store {
  readonly abilities: StoreAbilities = { durable: false };
  readonly #retention: Retention;
  readonly #nowMs: () => number;
  readonly #live = new LinkedHashMap<string, RunView>();
  /** In the order they are forgotten: that of their ends, or of those of the flows by which they were held. */
  readonly #ended = new Map<string, RunView>();
  /** Of the latter: when that was. */
  readonly #released = new Map<string, number>();
  /** Dead letters, which the bound on runs does not count: main holds the same ones. */
  readonly #dead = new Set<string>();
  readonly #results: KeptResults;
  /** By flow run that is not over: runs of its steps, which are not forgotten before it. Null: the step is not over. */
  readonly #held = new Map<string, Map<string, RunView | null>>();
  /** The flow run by which each of them is held. */
  readonly #heldBy = new Map<string, string>();
  /** Flow runs that take over a step which another one holds: the first of them that lives holds it next. */
  readonly #holdNext = new Map<string, string[]>();
  /** Steps of a flow that has ended stand behind runs that ended after them. */
  #disordered = false;
  readonly #marks = new Map<string, MarkSet>();
  readonly #audits: AuditEntry[] = [];
  #kept = 0;
  /** Of `#ended`, by `bytesOf`. */
  #bytes = 0;

  constructor(retention: Retention, nowMs: () => number) {
    this.#retention = retention;
    this.#nowMs = nowMs;
    this.#results = new KeptResults(retention);
  }

  get kept(): number {
    return this.#kept;
  }

  open(_boot: string, kept: number): StoreOpening {
    this.#kept = kept;
    return { durable: false, crashed: false, setAside: null, unfinished: 0, letters: 0, delayed: 0 };
  }

  append({ first, events, dropped }: RecordBatch): Appended {
    const last = first + events.length - 1;
    // One that only drops letters is known when something after it is: batches come in order.
    if (Math.max(last, first) <= this.#kept) return Appended.Known;
    if (first > this.#kept + 1) return Appended.Gap;
    for (const event of events.slice(this.#kept + 1 - first)) this.#apply(event);
    for (const run of dropped) this.#dead.delete(run);
    this.#kept = last;
    this.#forgetOld();
    return Appended.Applied;
  }

  commit(): void {}

  list(filter: RunFilter): readonly RunView[] {
    const found: RunView[] = [];
    const wanted = (view: RunView) =>
      (filter.task === null || view.task === filter.task) &&
      (filter.state === null || view.state === filter.state);
    for (const view of this.#live.values()) if (wanted(view)) found.push(view);
    for (const view of this.#heldViews()) if (wanted(view)) found.push(view);
    // All of them: one that began last need not have ended last.
    for (const view of [...this.#ended.values()].reverse()) if (wanted(view)) found.push(view);
    found.sort((a, b) => b.createdAtMs - a.createdAtMs);
    return found.slice(0, filter.limit);
  }

  show(run: string): RunView | null {
    return this.#live.get(run) ?? this.#ended.get(run) ?? this.#heldStep(run);
  }

  /** Of whole flows: at least one, and no more after a page of steps. */
  flowSteps({ flows }: StepsPlace): StoreMessages['flow-steps']['reply'] {
    const wanted = new Set<string>();
    let size = 0;
    for (const flow of flows) {
      if (size >= STEPS_PAGE) break;
      wanted.add(flow);
      size += this.#held.get(flow)?.size ?? 0;
    }
    const steps: StoredStep[] = [];
    for (const view of this.#live.values()) {
      if (view.flow !== null && wanted.has(view.flow)) steps.push(stepOf(view, view.flow));
    }
    for (const flow of wanted) {
      for (const view of this.#held.get(flow)?.values() ?? []) {
        // What it holds of others it does not run.
        if (view?.flow === flow) steps.push(stepOf(view, flow));
      }
    }
    const left = flows.slice(wanted.size);
    return { steps, next: left.length === 0 ? null : { flows: left, after: 0 } };
  }

  results(runs: readonly string[], mostLength?: number): readonly (string | null)[] {
    return textsUpTo(runs, (run) => this.show(run)?.result ?? null, mostLength);
  }

  keptResults(runs: readonly string[]): readonly string[] {
    return runs.filter((run) => this.show(run)?.result != null);
  }

  marked(task: string, marks: readonly string[]): ReadonlySet<string> {
    const set = this.#marks.get(task);
    return new Set(set === undefined ? [] : marks.filter((mark) => set.has(mark)));
  }

  /** Nothing outlives the process that could be taken over. */
  unfinished(): StoreMessages['unfinished']['reply'] {
    return { runs: [], next: null };
  }

  delayed(): StoreMessages['delayed']['reply'] {
    return { runs: [], next: null };
  }

  delayedRun(): null {
    return null;
  }

  letters(): StoreMessages['letters']['reply'] {
    return { letters: [], next: null };
  }

  mount({ atMs, schedules }: StoreMessages['mount']['body']): readonly number[] {
    return schedules.map(() => atMs);
  }

  /** Asked at a start, when there is nothing yet. */
  lastEnds(): [] {
    return [];
  }

  audit(entry: AuditEntry): void {
    if (this.#audits.push(entry) > AUDITS_KEPT) this.#audits.shift();
  }

  audits(limit: number): readonly AuditEntry[] {
    return this.#audits.toReversed().slice(0, limit);
  }

  async backup(): Promise<number> {
    throw new ColibriError(
      'store-failed',
      'expected a journal on disk to copy, got a store in memory; set store.kind to sqlite',
    );
  }

  resultFiles(): ReadonlySet<string> {
    return this.#results.fileNames();
  }

  forgottenFiles(): readonly string[] {
    return this.#results.forgottenFiles();
  }

  /** Walks through all live runs. */
  usage(): StoreUsage {
    let live = 0;
    for (const view of this.#live.values()) live += bytesOf(view);
    for (const view of this.#heldViews()) live += bytesOf(view);
    let marks = 0;
    for (const set of this.#marks.values()) marks += set.bytes;
    return { history: this.#bytes, live, marks };
  }

  rest(): void {}

  close(): void {
    this.#live.clear();
    this.#held.clear();
    this.#heldBy.clear();
    this.#holdNext.clear();
    this.#ended.clear();
    this.#dead.clear();
    this.#bytes = 0;
    this.#released.clear();
    this.#results.clear();
    this.#marks.clear();
  }

  #apply(event: RunEvent): void {
    if (event.quiet === true) return;
    const before = this.#live.get(event.run);
    // A run that comes again takes the place of the one before.
    if (before === undefined) {
      this.#forget(event.run);
      this.#letGo(event.run);
      if (event.flow !== undefined && this.#live.has(event.flow)) this.#hold(event.flow, event.run, null);
    }
    const view = foldEvent(before, event);
    for (const run of event.adopts ?? []) this.#adopt(view.run, run);
    if (view.endedAtMs === null) this.#live.set(event.run, view);
    else this.#end(view, event);
  }

  #end(view: RunView, event: RunEvent): void {
    this.#live.delete(view.run);
    const file = ownFileOf(view.run, view.result);
    if (file !== null) this.#results.keepFile(view.run, file);
    const flow = this.#heldBy.get(view.run);
    if (flow !== undefined) return this.#hold(flow, view.run, view);
    const steps = this.#held.get(view.run);
    this.#held.delete(view.run);
    for (const [run, step] of steps ?? []) {
      this.#heldBy.delete(run);
      if (step === null || this.#passOn(run, step)) continue;
      // The flow itself goes after its steps.
      if (!isItem(run)) this.#released.set(run, view.endedAtMs! - 1);
      this.#keep(step);
      this.#disordered = true;
    }
    this.#keep(view);
    if (event.dead === true) this.#dead.add(view.run);
    if (event.mark !== undefined && (view.state === 'success' || view.state === 'failed')) {
      let set = this.#marks.get(view.task);
      if (set === undefined) {
        set = new MarkSet();
        this.#marks.set(view.task, set);
      }
      set.add(event.mark);
    }
  }

  #keep(view: RunView): void {
    this.#ended.set(view.run, view);
    this.#bytes += bytesOf(view);
    if (view.result === null) return;
    const agesMs = isItem(view.run) ? view.endedAtMs! : (this.#released.get(view.run) ?? this.#nowMs());
    this.#results.count(view.run, agesMs);
  }

  #hold(flow: string, run: string, view: RunView | null): void {
    let steps = this.#held.get(flow);
    if (steps === undefined) {
      steps = new Map();
      this.#held.set(flow, steps);
    }
    steps.set(run, view);
    this.#heldBy.set(run, flow);
  }

  #letGo(run: string): void {
    const flow = this.#heldBy.get(run);
    if (flow === undefined) return;
    this.#heldBy.delete(run);
    this.#held.get(flow)?.delete(run);
    this.#holdNext.delete(run);
    this.#results.forgetFile(run);
  }

  /** The step of an earlier flow run is kept for this one. */
  #adopt(flow: string, run: string): void {
    if (this.#heldStep(run) !== null) {
      this.#holdNext.set(run, [...this.#nextOf(run), flow]);
      return;
    }
    const view = this.#ended.get(run);
    if (view === undefined || view.flow === null) return;
    this.#drop(run, view);
    this.#hold(flow, run, view);
  }

  /** False: nobody else takes it over. */
  #passOn(run: string, step: RunView): boolean {
    const left = this.#nextOf(run);
    const next = left.shift();
    if (left.length > 0) this.#holdNext.set(run, left);
    else this.#holdNext.delete(run);
    if (next === undefined) return false;
    this.#hold(next, run, step);
    return true;
  }

  #nextOf(run: string): string[] {
    return this.#holdNext.get(run)?.filter((flow) => this.#live.has(flow)) ?? [];
  }

  #heldStep(run: string): RunView | null {
    return this.#held.get(this.#heldBy.get(run) ?? '')?.get(run) ?? null;
  }

  *#heldViews(): Iterable<RunView> {
    for (const steps of this.#held.values()) for (const view of steps.values()) if (view !== null) yield view;
  }

  /** The oldest first again, as they are forgotten. */
  #setInOrder(): void {
    this.#disordered = false;
    const agedMs = ({ run, endedAtMs }: RunView) => this.#released.get(run) ?? endedAtMs!;
    const views = [...this.#ended.values()].sort(
      (a, b) => agedMs(a) - agedMs(b) || a.createdAtMs - b.createdAtMs,
    );
    this.#ended.clear();
    for (const view of views) this.#ended.set(view.run, view);
    this.#results.setInOrder(this.#ended.keys());
  }

  #forgetOld(): void {
    const { runs, maxBytes } = this.#retention;
    if (this.#disordered) this.#setInOrder();
    for (const run of this.#ended.keys()) {
      if (this.#ended.size - this.#dead.size <= runs) break;
      if (!this.#dead.has(run)) this.#forget(run);
    }
    for (const run of this.#results.beyond(this.#nowMs())) this.#shorten(run);
    // A letter goes by the bound in bytes only: in memory that one holds for all.
    for (const run of this.#ended.keys()) {
      if (this.#bytes <= maxBytes) break;
      this.#forget(run);
    }
  }

  /** Its result is forgotten. */
  #shorten(run: string): void {
    const view = this.#ended.get(run);
    if (view === undefined) return;
    const shorter: RunView = { ...view, result: null, forgotten: true };
    this.#bytes += bytesOf(shorter) - bytesOf(view);
    this.#ended.set(run, shorter);
  }

  #forget(run: string): void {
    const view = this.#ended.get(run);
    if (view === undefined) return;
    this.#drop(run, view);
    this.#results.forgetFile(run);
  }

  #drop(run: string, view: RunView): void {
    this.#bytes -= bytesOf(view);
    this.#ended.delete(run);
    this.#dead.delete(run);
    this.#released.delete(run);
    this.#results.uncount(run);
  }
}

/** Of one view beside its texts: the object, its times, the name of its task, its place in a table. Measured. */
const VIEW_BYTES = 260;
const ATTEMPT_BYTES = 96;

function stepOf({ run, state, startedAtMs, endedAtMs, error, attempts }: RunView, flow: string): StoredStep {
  return { run, flow, state, startedAtMs: attempts[0]?.startedAtMs ?? startedAtMs, endedAtMs, error };
}

function bytesOf({ run, input, result, error, attempts, note }: RunView): number {
  const texts = textBytes(run) + textBytes(input) + textBytes(result) + textBytes(note);
  let bytes = VIEW_BYTES + texts + errorBytes(error);
  for (const attempt of attempts) bytes += ATTEMPT_BYTES + errorBytes(attempt.error);
  return bytes;
}
