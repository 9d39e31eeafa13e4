/** One run of a flow while it lives: its steps, what it keeps in the journal, and the ids of its runs. */
import type { TimerHandle } from '../delay/index.ts';
import type { ExecuteOrder } from '../execution.ts';
import type { StoredStep } from '../records.ts';
import type { FlowedRun } from '../runs/index.ts';
import type { FlowStepView, ItemsView } from '../views/run-view.ts';
import type { CompiledFlow } from './compile-flow.ts';
import { FirstError } from './first-error.ts';
import { type FlowBytes, LiveFlowBytes } from './flow-bytes.ts';
import type { FlowPlace, SeenRuns } from './flow-events.ts';
import type { FlowNote, NotedStep } from './flow-note.ts';
import type { FlowRun } from './flow-run.ts';
import type { ItemRuns } from './item-results.ts';
import type { ListCounts } from './list-steps.ts';
import type { StepResults } from './step-results.ts';
import { StepTexts } from './step-texts.ts';
import { itemRunId, type NotedItems, notedItems, TakenItems } from './taken-items.ts';

/** `daily_report@2026-12-24T18:00:00Z/pull_order`, and of an item `…/pull_order[3]`: a second start is the same run. */
export function stepRunId(flow: string, step: string, item: number | null = null): string {
  const run = `${flow}/${step}`;
  return item === null ? run : itemRunId(run, item);
}

/** Of what runs when the flow has failed: no step has this name. */
export function failureRunId(flow: string): string {
  return `${flow}/:on_failure`;
}

/** The step of a run within its flow; null: it is none. */
export function stepOfRun(
  run: string,
  flow: string,
): { readonly step: string; readonly item: number | null } | null {
  const match = /^\/([^/[\]]+)(?:\[(\d+)\])?$/.exec(run.slice(flow.length));
  if (match === null) return null;
  return { step: match[1]!, item: match[2] === undefined ? null : Number(match[2]) };
}

/** Of the first of its attempts, as far as they are kept; null: it has none. */
export function firstStartOf(past: FlowedRun['past']): number | null {
  return past?.attempts[0]?.startedAtMs ?? past?.startedAtMs ?? null;
}

/** What was read for a step: its items, where it runs over a list, and the results that its inputs are made of. Null: not yet. */
export interface StepRead {
  readonly items: readonly unknown[] | null;
  readonly results: StepResults | null;
}

const NOTHING_READ: StepRead = { items: null, results: null };

export class LiveFlow {
  readonly id: string;
  readonly attempt: number;
  readonly flow: CompiledFlow;
  readonly note: FlowNote;
  /** The instant that it stands for, ISO 8601. */
  readonly due: string;
  /** Wall time. */
  readonly sinceMs: number;
  /** Null: what its steps have come to is still to be asked for. */
  run: FlowRun | null = null;
  deadline: TimerHandle | null = null;
  /** Its timeout came before it was known what its steps have come to: they may be over since long. */
  isOverdue = false;
  /** Ids of runs that are wanted and not made yet, and of steps whose list is being found. */
  readonly starting = new Set<string>();
  /** Steps with items that failed without a run. */
  readonly unmade = new Set<number>();
  /** By step: what is being read for all of its runs, or could not be. */
  readonly reading = new Map<number, Promise<void>>();
  readonly #reads = new Map<number, StepRead>();
  /** What functions of a program read. Null: nothing yet; so most flows have none of it. */
  #texts: StepTexts | null = null;
  /** By step: items of its list that are taken over. */
  #taken: Map<number, TakenItems> | null = null;
  /**
   * Steps whose run is there before their turn: the config of now has put others before them. They have begun, so they go on;
   * what came of them counts when their turn comes, and no second run is made.
   */
  readonly early = new Set<number>();
  readonly bytes: LiveFlowBytes;
  readonly firstError: FirstError;
  readonly #payloadText: string;
  #payload: unknown;
  /** Wall times, by step: began, ended. 0: not yet. */
  readonly #times: Float64Array;
  #indexes: ReadonlyMap<string, number> | null = null;

  constructor(
    order: ExecuteOrder,
    parts: Pick<LiveFlow, 'flow' | 'note' | 'due' | 'sinceMs'>,
    bytes: FlowBytes,
  ) {
    this.id = order.run;
    this.attempt = order.attempt;
    this.#payloadText = order.input;
    this.flow = parts.flow;
    this.note = parts.note;
    this.due = parts.due;
    this.sinceMs = parts.sinceMs;
    this.firstError = new FirstError(this.flow.graph);
    this.#times = new Float64Array(this.flow.graph.size * 2);
    this.bytes = new LiveFlowBytes(bytes, { steps: this.flow.graph.size, payload: order.input });
  }

  get payload(): unknown {
    this.#payload ??= JSON.parse(this.#payloadText);
    return this.#payload;
  }

  get texts(): StepTexts {
    this.#texts ??= new StepTexts(() => this.bytes.reads(this.#read()));
    return this.#texts;
  }

  readOf(step: number): StepRead {
    return this.#reads.get(step) ?? NOTHING_READ;
  }

  /** Null: the step needs nothing more. */
  keepRead(step: number, read: StepRead | null): void {
    if (read === null) {
      this.#texts?.end(step);
      this.reading.delete(step);
      if (!this.#reads.delete(step)) return;
    } else this.#reads.set(step, read);
    this.bytes.reads(this.#read());
  }

  *#read(): Iterable<unknown> {
    if (this.#texts !== null) yield* this.#texts.held();
    for (const { items, results } of this.#reads.values()) {
      if (items !== null) yield items;
      if (results === null) continue;
      yield* results.values.values();
      yield* results.parts.values();
    }
  }

  idOf({ step, item }: FlowPlace): string {
    return stepRunId(this.id, this.flow.graph.nameOf(step), item);
  }

  /** Of a step whose list is being found. */
  listIdOf(step: number): string {
    return `${stepRunId(this.id, this.flow.graph.nameOf(step))}[]`;
  }

  /** Its run by which what is noted of it is found. */
  keyOf(place: FlowPlace): string {
    return this.idOf(place).slice(this.id.length + 1);
  }

  /** Null: no step of the flow as it is now. */
  placeOf(run: string): FlowPlace | null {
    const found = stepOfRun(run, this.id);
    if (found === null) return null;
    const step = this.#indexOf(found.step);
    if (step === undefined) return null;
    const hasList = this.flow.graph.steps[step]!.each !== null;
    return hasList === (found.item !== null) ? { step, item: found.item } : null;
  }

  /** By the first sweep of a flow of before, which asked for no run of a step that waits or that ended by one before it. */
  foundEarly(seen: SeenRuns): void {
    for (let step = 0; step < this.flow.graph.size; step++) {
      if (this.run!.stateOf(step) !== 'pending' && this.run!.reasonOf(step) !== 'upstream') continue;
      if (seen.run(step, null) !== null || seen.items(step) !== null) this.early.add(step);
    }
  }

  /** Where the result of a step is. */
  resultRunOf(step: number): string {
    return this.run?.resultOf(step) ?? stepRunId(this.id, this.flow.graph.nameOf(step));
  }

  /** Items of the list of a step that are taken over, as it was noted; undefined: there are none. */
  takenItems(step: number): TakenItems | undefined {
    const noted = this.note.items?.[this.flow.graph.nameOf(step)];
    if (noted === undefined || this.flow.graph.steps[step]!.each === null) return undefined;
    this.#taken ??= new Map();
    let taken = this.#taken.get(step);
    if (taken === undefined) {
      taken = new TakenItems(noted.size, noted.from);
      this.#taken.set(step, taken);
    }
    return taken;
  }

  /** They are of a list that is made anew. */
  forgetItems(step: number): void {
    const { [this.flow.graph.nameOf(step)]: _, ...others } = this.note.items ?? {};
    this.note.items = others;
    this.#taken?.delete(step);
  }

  /** Where the results of the items of a step are; null: it has no list, or that was never known. */
  itemRunsOf(step: number): ItemRuns | null {
    const fan = this.run?.itemsOf(step) ?? null;
    const taken = this.takenItems(step);
    if (fan === null) {
      if (taken === undefined || this.run?.reasonOf(step) !== 'taken-over') return null;
      return { size: taken.size, runOf: (item) => taken.runOf(item) };
    }
    const runOf = (item: number): string | null => {
      const by = fan.succeededBy(item);
      if (by === null) return null;
      return by === 'taken' ? taken!.runOf(item) : this.idOf({ step, item });
    };
    return { size: fan.size, runOf };
  }

  /** Null: it has no list. Else which items of it have succeeded, in this run of the flow or in earlier ones. */
  #itemsDone(step: number): readonly NotedItems[] | null {
    const fan = this.run?.itemsOf(step) ?? null;
    const taken = this.takenItems(step);
    if (fan === null) return taken?.noted() ?? null;
    const own = notedItems(
      this.idOf({ step, item: null }),
      fan.size,
      (item) => fan.succeededBy(item) === 'own',
    );
    return fan.taken === 0 ? own : [...taken!.noted(), ...own];
  }

  saw(place: FlowPlace, { state, past }: Pick<FlowedRun, 'state' | 'past'>): void {
    if (past === null) return;
    const { error, endedAtMs } = past;
    this.sawPast(place, { state, error, startedAtMs: firstStartOf(past), endedAtMs });
  }

  sawPast(
    place: FlowPlace,
    { state, error, startedAtMs, endedAtMs }: Omit<StoredStep, 'run' | 'flow'>,
  ): void {
    this.firstError.saw(place, state, error);
    const times = this.#times;
    const at = place.step * 2;
    if (startedAtMs !== null && (times[at] === 0 || startedAtMs < times[at]!)) times[at] = startedAtMs;
    if (endedAtMs !== null && endedAtMs > times[at + 1]!) times[at + 1] = endedAtMs;
  }

  stepViews(): FlowStepView[] {
    const { graph } = this.flow;
    return graph.steps.map(({ task, dependsOn, each }, step) => {
      const run = this.run!;
      const cause = run.causeOf(step);
      const reason = run.reasonOf(step);
      const items = run.itemsOf(step);
      const began = this.#times[step * 2]!;
      const ended = this.#times[step * 2 + 1]!;
      return {
        step: task,
        dependsOn,
        each: each?.concurrency ?? null,
        state: run.stateOf(step),
        reason,
        cause: cause === null ? null : graph.nameOf(cause),
        detail: run.detailOf(step),
        startedAtMs: began === 0 ? null : began,
        endedAtMs: reason === null || ended === 0 ? null : ended,
        items: items === null ? null : itemsView(items),
        forgotten: this.note.forgotten?.[task] ?? 0,
        againBehind: this.note.behind?.[task] ?? null,
      };
    });
  }

  notedSteps(): NotedStep[] {
    return this.stepViews().map((view, step) => ({
      step: view.step,
      state: view.state,
      reason: view.reason ?? '',
      ...(view.cause === null ? {} : { cause: view.cause }),
      ...(view.detail === null ? {} : { detail: view.detail }),
      ...(view.startedAtMs === null ? {} : { began: view.startedAtMs }),
      ...(view.endedAtMs === null ? {} : { ended: view.endedAtMs }),
      ...(view.dependsOn.length === 0 ? {} : { after: view.dependsOn }),
      ...(view.each === null ? {} : { each: view.each }),
      ...(view.items === null ? {} : { items: view.items }),
      ...fromOf(this.#itemsDone(step), view),
    }));
  }

  #indexOf(name: string): number | undefined {
    if (this.flow.graph.size < 16) {
      const at = this.flow.graph.indexOf(name);
      return at < 0 ? undefined : at;
    }
    this.#indexes ??= new Map(this.flow.graph.steps.map(({ task }, index) => [task, index]));
    return this.#indexes.get(name);
  }
}

function itemsView({ size, succeeded, failed, cancelled, taken }: ListCounts): ItemsView {
  return {
    size,
    succeeded,
    failed,
    ...(cancelled === 0 ? {} : { cancelled }),
    ...(taken === 0 ? {} : { takenOver: taken }),
  };
}

/** Nothing where it follows from the state: most lists are done as a whole, by one run of the flow. */
function fromOf(done: readonly NotedItems[] | null, { state, items }: FlowStepView): Pick<NotedStep, 'from'> {
  const follows = state === 'success' && items !== null && items.takenOver === undefined;
  return done === null || follows ? {} : { from: done };
}
