/**
 * What the run of a flow again begins with: the results that it takes over, as far as they are kept, and what was forgotten of them.
 *
 *   how its steps did ─▶ what is not to run again ─▶ whose results are wanted and there ─▶ note of the new run
 *                              ▲                              │ one is not: its step, or its item, is no success
 *                              └──────────────────────────────┘
 */
import { ColibriError } from '../kernel/errors.ts';
import type { RerunChoice } from '../protocol.ts';
import type { StepRuns, TakenOver } from '../runs/index.ts';
import { isTerminal } from '../runs/run-states.ts';
import type { AgainBehind, ForgottenResults, RunView } from '../views/run-view.ts';
import type { CompiledFlow } from './compile-flow.ts';
import { type FlowNote, type NotedStep, noteText, parseNote } from './flow-note.ts';
import { notAFlow, unknownRun } from './flow-questions.ts';
import { type FlowStore, keptOf } from './flow-store.ts';
import { stepRunId } from './live-flow.ts';
import { type EarlierStep, itemsTakenOver, stepsTakenOver } from './rerun.ts';
import type { StepState } from './step-states.ts';
import { MOST_ORIGINS, TakenItems } from './taken-items.ts';

export interface AgainFrom {
  readonly flows: ReadonlyMap<string, CompiledFlow>;
  readonly store: FlowStore;
  readonly steps: StepRuns;
}

export interface Again {
  readonly task: string;
  readonly payload: string | null;
  /** The instant that it stands for. */
  readonly dueAtMs: number;
  readonly takenOver: TakenOver;
  readonly forgotten: readonly ForgottenResults[];
  readonly againBehind: readonly AgainBehind[];
}

/** Rejects with `no-such-run`, `rerun-refused`, `usage`. */
export async function again(
  { run: id, choice }: { readonly run: string; readonly choice: RerunChoice },
  run: RunView | null,
  { flows, store, steps }: AgainFrom,
): Promise<Again> {
  if (run === null) throw unknownRun(id);
  const flow = flows.get(run.task);
  if (flow === undefined) throw notAFlow(run);
  if (!isTerminal(run.state)) {
    throw new ColibriError(
      'rerun-refused',
      `expected a run that is over, got ${id}, which is ${run.state}; wait for its end, or cancel it first`,
    );
  }
  const earlier = parseNote(run.note);
  const taking = new Taking(flow, choice, earlierSteps(id, earlier));
  await taking.keepSingle(store, steps);
  await taking.keepItems(store, steps);
  const { note, adopts, forgotten, againBehind } = taking;
  return {
    task: run.task,
    payload: run.input === '{}' ? null : run.input,
    dueAtMs: run.dueAtMs ?? run.createdAtMs,
    takenOver: { note: noteText({ again: id, ...beforeOf(earlier), ...note }), adopts },
    forgotten,
    againBehind,
  };
}

function beforeOf({ again: of, before = [] }: FlowNote): Pick<FlowNote, 'before'> {
  return of === undefined ? {} : { before: [of, ...before].slice(0, MOST_ORIGINS) };
}

function earlierSteps(id: string, note: FlowNote): Map<string, EarlierStep> {
  const earlier = new Map<string, EarlierStep>();
  for (const noted of note.steps ?? []) {
    const { step } = noted;
    const result = note.took?.[step] ?? stepRunId(id, step);
    earlier.set(step, { state: noted.state as StepState, result, items: itemsOf(id, noted, note) });
  }
  return earlier;
}

/** Null: it had no list, or what became of that is not known. */
function itemsOf(
  id: string,
  { step, state, each, items, from }: NotedStep,
  note: FlowNote,
): TakenItems | null {
  const size = items?.size ?? note.items?.[step]?.size ?? note.lists?.[step];
  if (each === undefined || size === undefined) return null;
  if (from !== undefined) return new TakenItems(size, from);
  const isOwn = state === 'success' && note.took?.[step] === undefined;
  return isOwn ? new TakenItems(size, [{ run: stepRunId(id, step), items: 'all' }]) : null;
}

class Taking {
  readonly #flow: CompiledFlow;
  readonly #choice: RerunChoice;
  readonly #earlier: Map<string, EarlierStep>;
  readonly #forgotten = new Map<number, number>();
  /** Steps whose items are known to be kept, or not to. */
  readonly #looked = new Set<number>();
  /** What would be taken over if all of it were kept: by step, how many items of its list; null: it has none. */
  readonly #meant = new Map<number, number | null>();

  constructor(flow: CompiledFlow, choice: RerunChoice, earlier: Map<string, EarlierStep>) {
    this.#flow = flow;
    this.#choice = choice;
    this.#earlier = earlier;
    for (const step of this.#steps().keys()) this.#meant.set(step, null);
    for (const [step, items] of this.#items()) this.#meant.set(step, items.count);
  }

  /** What is behind a step can be made of a result only that is still there. */
  async keepSingle(store: FlowStore, steps: StepRuns): Promise<void> {
    const { graph } = this.#flow;
    const single = [...this.#steps()].filter(([step]) => graph.steps[step]!.each === null);
    const kept = await keptOf(
      single.map(([, result]) => result),
      store,
      steps,
    );
    for (const [step, result] of single) {
      if (kept.has(result)) continue;
      this.#earlier.delete(graph.nameOf(step));
      this.#forgotten.set(step, 1);
    }
  }

  /** Of items that nobody reads any more it is enough that they succeeded. */
  async keepItems(store: FlowStore, steps: StepRuns): Promise<void> {
    for (let step = this.#nextRead(); step !== undefined; step = this.#nextRead()) {
      this.#looked.add(step);
      const name = this.#flow.graph.nameOf(step);
      const { items, ...before } = this.#earlier.get(name)!;
      // Of a run of before such things were noted.
      if (items == null) {
        this.#earlier.delete(name);
        this.#forgotten.set(step, 1);
        continue;
      }
      const runs = items.runs();
      const kept = await keptOf(runs, store, steps);
      for (let item = 0; item < items.size; item++) {
        const run = items.runOf(item);
        if (run !== null && !kept.has(run)) items.drop(item);
      }
      const gone = runs.length - items.count;
      // Of a list that is from more runs than are noted, some are not known any more.
      const isWhole = before.state !== 'success' || items.count === items.size;
      if (gone === 0 && isWhole) continue;
      const missing = before.state === 'success' ? items.size - items.count : gone;
      this.#forgotten.set(step, missing);
      this.#earlier.set(name, { ...before, items, state: 'failed' });
    }
  }

  /** Results that are made anew for no other reason. */
  get forgotten(): readonly ForgottenResults[] {
    const { graph } = this.#flow;
    const taken = this.#steps();
    return [...this.#forgotten]
      .filter(([step]) => graph.upstreamOf(step).every((up) => taken.has(up)))
      .map(([step, results]) => ({ step: graph.nameOf(step), results }));
  }

  /** What had succeeded, and was not to run again, but for a step before it whose result is made anew. */
  get againBehind(): readonly AgainBehind[] {
    const { graph } = this.#flow;
    const anew = this.forgotten.map(({ step }) => graph.indexOf(step));
    const taken = this.#steps();
    const items = this.#items();
    return Array.from(graph.order).flatMap((step) => {
      if (!this.#meant.has(step) || taken.has(step) || items.has(step) || anew.includes(step)) return [];
      const before = new Set(graph.ancestorsOf(step));
      const behind = graph.nameOf(anew.find((one) => before.has(one))!);
      return [{ step: graph.nameOf(step), items: this.#meant.get(step)!, behind }];
    });
  }

  get note(): Pick<FlowNote, 'took' | 'items' | 'forgotten' | 'behind'> {
    const { graph } = this.#flow;
    const took = [...this.#steps()].map(([step, result]) => [graph.nameOf(step), result]);
    const items = [...this.#items()].map(([step, of]) => [
      graph.nameOf(step),
      { size: of.size, from: of.noted() },
    ]);
    const forgotten = this.forgotten.map(({ step, results }) => [step, results]);
    const behind = this.againBehind.map((again) => [again.step, again.behind]);
    return {
      ...(took.length === 0 ? {} : { took: Object.fromEntries(took) }),
      ...(items.length === 0 ? {} : { items: Object.fromEntries(items) }),
      ...(forgotten.length === 0 ? {} : { forgotten: Object.fromEntries(forgotten) }),
      ...(behind.length === 0 ? {} : { behind: Object.fromEntries(behind) }),
    };
  }

  /** Runs that are kept for the new one: of items those that are read. */
  get adopts(): readonly string[] {
    const { graph } = this.#flow;
    const adopts = [...this.#steps()].flatMap(([step, result]) =>
      graph.steps[step]!.each === null ? [result] : [],
    );
    for (const [step, items] of this.#items()) if (this.#isRead(step)) adopts.push(...items.runs());
    return adopts;
  }

  #steps(): ReadonlyMap<number, string> {
    return stepsTakenOver(this.#flow.graph, this.#earlier, this.#choice);
  }

  /** Of steps that are taken over too. */
  #items(): ReadonlyMap<number, TakenItems> {
    const { graph } = this.#flow;
    const takenOver = this.#steps();
    const items = new Map(itemsTakenOver(graph, this.#earlier, { choice: this.#choice, takenOver }));
    for (const step of takenOver.keys()) {
      const of = this.#earlier.get(graph.nameOf(step))?.items;
      if (of != null && graph.steps[step]!.each !== null) items.set(step, of);
    }
    return items;
  }

  /** A step with a list that does not run again as a whole, and whose results are wanted; undefined: there is none left. */
  #nextRead(): number | undefined {
    const takenOver = this.#steps();
    const items = this.#items();
    return [...this.#flow.graph.steps.keys()].find(
      (step) =>
        !this.#looked.has(step) &&
        this.#flow.graph.steps[step]!.each !== null &&
        (takenOver.has(step) || items.has(step)) &&
        this.#isRead(step),
    );
  }

  /** By a step that runs again. */
  #isRead(step: number): boolean {
    const takenOver = this.#steps();
    return this.#flow.steps.some(({ mayRead }, by) => !takenOver.has(by) && mayRead.includes(step));
  }
}
