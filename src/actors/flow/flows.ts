/**
 * Owner of all live flow runs. The run of a flow comes, waits, is cancelled and ends as any other: it is taken from the ready queue
 * as by a pool, and its outcome is given when the last of its steps is over.
 *
 *   taken ─▶ what its steps have come to ─▶ live ─ effects ─▶ runs of steps ─ they begin, they end ─▶ events ─┐
 *              (nothing, of a new one)        ▲                                                               │
 *                                             └────────────────────────────────────────────────────────────────┘
 *                                                                                       last step over ─▶ outcome
 *
 * Always holds:
 * - what is said of runs is taken up in a turn of its own: no run is changed while another one changes
 * - what does not follow from the runs of the steps is in the journal before anything that follows from it
 * - a lost event costs time until the next sweep
 */
import { type DelayEngine, HeapDelayEngine } from '../delay/index.ts';
import type { AbortReason, ExecuteOrder, Pool, WorkSource } from '../execution.ts';
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { assertNever, ColibriError } from '../kernel/errors.ts';
import { type Answer, LinkedHashMap, Ring } from '../kernel/index.ts';
import type { RerunChoice } from '../protocol.ts';
import { referenceIn } from '../results/result-reference.ts';
import type { FlowedRun, FlowQuestions, FlowSeat, Runs, StepLimits, StepRuns } from '../runs/index.ts';
import type { FlowView, RunView } from '../views/run-view.ts';
import type { FlowCountsView } from '../views/runtime-view.ts';
import { again } from './again.ts';
import { type CompiledFlow, compileFlow } from './compile-flow.ts';
import { FlowBytes } from './flow-bytes.ts';
import { FlowCounts } from './flow-counts.ts';
import type { FlowDefinition } from './flow-definition.ts';
import { FlowEffects, type FlowEffectsOptions } from './flow-effects.ts';
import { eventOfSeen, type FlowEvent, type FlowPlace, NOTHING_SEEN, type StopReason } from './flow-events.ts';
import { noteText, parseNote } from './flow-note.ts';
import { shown } from './flow-questions.ts';
import { FlowRun } from './flow-run.ts';
import type { FlowStore } from './flow-store.ts';
import { Guards } from './guards.ts';
import { failureRunId, firstStartOf, LiveFlow, stepOfRun } from './live-flow.ts';
import { SharedReads } from './shared-reads.ts';
import { StepStarts } from './step-starts.ts';
import { TakeUp } from './take-up.ts';
import type { TakenItems } from './taken-items.ts';

export interface FlowsOptions extends Pick<FlowEffectsOptions, 'log' | 'onResolved'> {
  readonly clock: Clock;
  readonly flows: readonly FlowDefinition[];
  /** Names of all tasks. */
  readonly tasks: ReadonlySet<string>;
  readonly runs: Pick<Runs, 'steps' | 'trigger' | 'outcome' | 'source' | 'table' | 'deadLetters'>;
  readonly store: FlowStore;
  /** Of the whole process. */
  readonly budgetBytes: number;
}

/**
 * Flow runs that live at one time: one for so much of the memory budget, 1,024 of 40 MB, within bounds. Of more, the others stay
 * in the ready queue. One of ten steps takes 1.4 kB beside its runs, measured as the growth of the heap over 2,000 of them.
 */
export const BUDGET_PER_FLOW = 40 * 1024;
export const LIVE_FLOWS = { least: 100, most: 10_000 } as const;
/** Events taken up, and runs made, before the event loop has its turn: some 20 µs each. */
const TURN = 128;
const SWEEP_MS = 30_000;

type Inbox =
  | { readonly kind: 'begin'; readonly order: ExecuteOrder }
  | { readonly kind: 'stop'; readonly flow: string; readonly reason: StopReason }
  | { readonly kind: 'tell'; readonly live: LiveFlow; readonly event: FlowEvent }
  | { readonly kind: 'step'; readonly run: FlowedRun };

export class Flows implements Pool, FlowSeat, FlowQuestions {
  readonly name = 'flow';
  readonly slots: number;
  readonly reads: SharedReads;
  readonly #options: FlowsOptions;
  readonly #flows = new Map<string, CompiledFlow>();
  readonly #live = new LinkedHashMap<string, LiveFlow>();
  readonly #bytes: FlowBytes;
  readonly #counts: FlowCounts;
  readonly #inbox = new Ring<Inbox>();
  readonly #steps: StepRuns;
  readonly #source: WorkSource;
  readonly #starts: StepStarts;
  readonly #takeUp: TakeUp;
  readonly #guards = new Guards();
  readonly #effects: FlowEffects;
  readonly #deadlines: DelayEngine<string>;
  #sweeping: ClockTimer | null = null;
  #planned = false;
  /** Since the event loop had its turn. */
  #handled = 0;
  #closed = false;

  /** Throws `internal` for a flow that the config should have refused. */
  constructor(options: FlowsOptions) {
    this.#options = options;
    const { clock, runs, store, budgetBytes } = options;
    this.#bytes = new FlowBytes(budgetBytes);
    const share = Math.floor(budgetBytes / BUDGET_PER_FLOW);
    this.slots = Math.min(LIVE_FLOWS.most, Math.max(LIVE_FLOWS.least, share));
    for (const definition of options.flows) {
      const { flow, problems } = compileFlow(definition, options.tasks);
      if (flow === null)
        throw new ColibriError('internal', `flow ${definition.name}: ${problems[0]?.message}`);
      this.#flows.set(flow.name, flow);
    }
    this.#counts = new FlowCounts(this.#flows.keys());
    this.#steps = runs.steps;
    this.#source = runs.source('flow');
    this.reads = new SharedReads({ store, steps: this.#steps, liveOf: (flow) => this.#live.get(flow) });
    this.#starts = new StepStarts({
      store,
      steps: this.#steps,
      tell: (live, event) => this.#put({ kind: 'tell', live, event }),
      onList: (live, step, items) => this.#listed(live, step, items),
      onReady: () => this.#plan(),
      onTrouble: (live, error) => this.#takeUp.later(live, error),
    });
    this.#takeUp = new TakeUp({
      clock,
      store,
      steps: this.#steps,
      guards: this.#guards,
      log: options.log,
      isLive: (live) => this.#live.get(live.id) === live,
      onSeen: (live, seen) => {
        // What a daemon before saw end is not counted again.
        const isTakenUp = live.run === null && live.attempt > 1;
        live.run ??= this.#made(live);
        const effects = live.run.sweep(seen);
        if (isTakenUp) live.foundEarly(seen);
        this.#effects.carryOut(live, effects, isTakenUp);
        if (live.isOverdue) this.#stop(live.id, 'flow-timed-out');
        this.#plan();
      },
    });
    this.#deadlines = new HeapDelayEngine<string>({
      clock,
      now: () => clock.monoMs(),
      onDue: (flow) => this.#put({ kind: 'stop', flow, reason: 'flow-timed-out' }),
    });
    this.#effects = new FlowEffects({
      clock,
      runs,
      starts: this.#starts,
      takeUp: this.#takeUp,
      counts: this.#counts,
      log: options.log,
      onResolved: options.onResolved,
      tell: (live, event) => this.#put({ kind: 'tell', live, event }),
      onOver: (live) => {
        if (live.deadline !== null) this.#deadlines.cancel(live.deadline);
        this.#live.delete(live.id);
      },
    });
    this.#sweepLater();
  }

  get active(): number {
    return this.#live.size;
  }

  /** What the live ones hold beside the runs of their steps. */
  get heldBytes(): number {
    return this.#bytes.held;
  }

  counts(): readonly FlowCountsView[] {
    return this.#counts.view();
  }

  /** One more may begin. */
  get #hasRoom(): boolean {
    const begun = this.#live.size + this.#inbox.count;
    return begun === 0 || (begun < this.slots && this.#bytes.hasRoom);
  }

  /** Something is to be done, or asked for, that leads to a run. */
  get busy(): boolean {
    return this.#inbox.count > 0 || this.#starts.busy || this.#takeUp.busy;
  }

  // — as a pool

  wake(): void {
    if (this.#closed) return;
    // No more than are taken up soon: the others can be cancelled where they are.
    while (this.#hasRoom && this.#inbox.count < TURN) {
      const order = this.#source.take();
      if (order === undefined) break;
      this.#put({ kind: 'begin', order });
    }
    if (this.#starts.waiting > 0 && this.#steps.hasRoom) this.#plan();
  }

  /** At the end of the daemon a flow stays as it is: the next one goes on with it. */
  abort(run: string, reason: AbortReason): boolean {
    if (reason === 'cancel') {
      // Kept at once: what waits for its turn when the daemon ends does not get one.
      this.#keepStop(run, 'flow-cancelled');
      this.#put({ kind: 'stop', flow: run, reason: 'flow-cancelled' });
    }
    return true;
  }

  async drain(): Promise<void> {
    this.#close();
  }

  async destroy(): Promise<void> {
    this.#close();
  }

  #close(): void {
    this.#closed = true;
    this.#sweeping?.cancel();
    this.#deadlines.close();
    this.#takeUp.close();
  }

  // — as the one who hears of steps

  onStep(run: FlowedRun): void {
    if (!this.#closed) this.#put({ kind: 'step', run });
  }

  limitsOf(run: string, flow: string): StepLimits | null {
    const compiled = this.#flows.get(flow.slice(0, flow.lastIndexOf('@')));
    const found = stepOfRun(run, flow);
    if (compiled === undefined || found === null) return null;
    return compiled.steps[compiled.graph.indexOf(found.step)]?.limits ?? null;
  }

  // — questions

  /** Rejects with `no-such-run`. */
  async show(run: string): Promise<FlowView> {
    const view = await this.#look(run);
    const onFailure = view?.state === 'failed' ? await this.#look(failureRunId(run)) : null;
    return shown(run, view, { onFailure, live: this.#live.get(run), flows: this.#flows });
  }

  /** Rejects with `no-such-run`, `rerun-refused`, `usage`; the others are those of a trigger. */
  async rerun(body: { run: string; choice: RerunChoice }, answer: Answer): Promise<void> {
    try {
      const { runs, store, clock } = this.#options;
      const view = await this.#look(body.run);
      const { task, payload, dueAtMs, takenOver, forgotten, againBehind } = await again(body, view, {
        flows: this.#flows,
        store,
        steps: this.#steps,
      });
      // One that was cancelled before its time does not wait for it.
      const standsForMs = Math.min(dueAtMs, clock.wallMs());
      const trigger = { task, payload, force: false, wait: false, dueAtMs: standsForMs };
      const withAnew: Answer = {
        ok: (value) => answer.ok({ run: (value as { readonly run: string }).run, forgotten, againBehind }),
        fail: (error) => answer.fail(error),
      };
      runs.trigger(trigger, withAnew, takenOver);
    } catch (error) {
      answer.fail(error);
    }
  }

  async #look(run: string): Promise<RunView | null> {
    // A run that ends between the two questions has left the first for the second.
    return this.#options.runs.table.get(run)?.view() ?? (await this.#options.store.show(run));
  }

  /** Resolves when what a daemon before left behind is taken up, at the latest after so long. */
  async takenUp(mostMs: number): Promise<void> {
    const untilMono = performance.now() + mostMs;
    while (!this.#closed && performance.now() < untilMono) {
      await new Promise(setImmediate);
      const more = this.#hasRoom && this.#source.peekTask() !== undefined;
      if (!more && this.#inbox.count === 0 && !this.#takeUp.busy) return;
    }
  }

  /** Each live flow whose steps are not all seen at work is held against its runs. */
  sweep(): void {
    for (const live of this.#live.values()) {
      if (live.run !== null && this.#isDoubtful(live, live.run)) this.#takeUp.add(live);
    }
  }

  #sweepLater(): void {
    this.#sweeping = this.#options.clock.setTimer(SWEEP_MS, () => {
      this.sweep();
      this.#sweepLater();
    });
    this.#sweeping.unref();
  }

  #isDoubtful(live: LiveFlow, run: FlowRun): boolean {
    for (let step = 0; step < run.graph.size; step++) {
      const state = run.stateOf(step);
      if (state !== 'ready' && state !== 'running') continue;
      if (run.graph.steps[step]!.each === null) {
        if (!this.#isAtWork(live, { step, item: null })) return true;
      } else if (run.itemsOf(step) === null) {
        if (!live.starting.has(live.listIdOf(step))) return true;
      } else {
        for (const item of run.activeItemsOf(step)) if (!this.#isAtWork(live, { step, item })) return true;
      }
    }
    return false;
  }

  #isAtWork(live: LiveFlow, place: FlowPlace): boolean {
    const id = live.idOf(place);
    if (live.starting.has(id)) return true;
    const run = this.#steps.find(id);
    const event = run === null ? null : eventOfSeen({ state: run.state, ...NOTHING_ELSE }, place);
    return run !== null && (event === null || event.kind === 'began');
  }

  // — turns

  #put(item: Inbox): void {
    this.#inbox.push(item);
    this.#plan();
  }

  #plan(): void {
    if (this.#planned || this.#closed) return;
    this.#planned = true;
    if (this.#handled < TURN) queueMicrotask(() => this.#turn());
    else {
      setImmediate(() => {
        this.#handled = 0;
        this.#turn();
      });
    }
  }

  #turn(): void {
    this.#planned = false;
    for (let item = this.#inbox.shift(); item !== undefined && !this.#closed; item = this.#inbox.shift()) {
      this.#handle(item);
      if (++this.#handled >= TURN) break;
    }
    if (this.#closed) return;
    this.#handled += this.#starts.make(TURN);
    if (this.#inbox.count > 0 || (this.#starts.waiting > 0 && this.#steps.hasRoom)) this.#plan();
    else this.wake();
  }

  #handle(item: Inbox): void {
    switch (item.kind) {
      case 'begin':
        return this.#begin(item.order);
      case 'stop':
        return this.#stop(item.flow, item.reason);
      case 'tell':
        return this.#tell(item.live, item.event);
      case 'step':
        return this.#step(item.run);
      default:
        return assertNever(item, 'what flows are told');
    }
  }

  #begin(order: ExecuteOrder): void {
    const flow = this.#flows.get(order.task);
    const run = this.#steps.find(order.run);
    if (flow === undefined || run === null) {
      throw new ColibriError('internal', `expected the run of a flow, got ${order.run}`);
    }
    const { clock } = this.#options;
    const note = parseNote(run.note);
    const isNew = order.attempt === 1;
    const sinceMs = note.sinceMs ?? firstStartOf(run.past) ?? clock.wallMs();
    const due = new Date(run.dueAtMs).toISOString();
    const live = new LiveFlow(order, { flow, note, due, sinceMs }, this.#bytes);
    this.#live.set(live.id, live);
    this.#counts.began(flow.name);
    if (note.sinceMs === undefined && (flow.timeoutMs !== null || !isNew)) {
      note.sinceMs = sinceMs;
      this.#effects.keep(live);
    }
    if (flow.timeoutMs !== null) {
      // A step of the wall clock does not end it; what went by while no daemon was there is told by that clock alone.
      const passedMs = Math.max(0, clock.wallMs() - sinceMs);
      const leftMs = flow.timeoutMs - passedMs;
      if (leftMs > 0) live.deadline = this.#deadlines.schedule(clock.monoMs() + leftMs, live.id);
      else live.isOverdue = true;
    }
    if (!isNew || !this.#guards.knows(flow)) return this.#takeUp.add(live);
    live.run = this.#made(live);
    this.#effects.carryOut(live, live.run.sweep(NOTHING_SEEN));
  }

  #made(live: LiveFlow): FlowRun {
    const { note } = live;
    const { graph } = live.flow;
    const took = Object.entries(note.took ?? {});
    const byName = new Map(took);
    // What the flow has no more cannot be taken over, nor what is behind a step that is new.
    const takenOver = new Map<number, string>();
    for (let at = 0; at < graph.order.length; at++) {
      const step = graph.order[at]!;
      const run = byName.get(graph.nameOf(step));
      if (run !== undefined && graph.upstreamOf(step).every((up) => takenOver.has(up)))
        takenOver.set(step, run);
    }
    if (takenOver.size < took.length) {
      // The others are made anew, and their old results are not to come back with another config.
      note.took = Object.fromEntries([...takenOver].map(([step, run]) => [graph.nameOf(step), run]));
      this.#effects.keep(live);
    }
    const late = note.late?.map((step) => graph.indexOf(step));
    const takenItems = note.items === undefined ? null : this.#takenItems(live, takenOver);
    return new FlowRun(graph, {
      takenOver,
      ...(takenItems === null ? {} : { takenItems }),
      stopping: note.stop ?? null,
      late,
    });
  }

  /** Of lists that are as they were; what is noted of others is not to come back. */
  #takenItems(live: LiveFlow, takenOver: ReadonlyMap<number, string>): ReadonlyMap<number, TakenItems> {
    const { graph } = live.flow;
    const taken = new Map<number, TakenItems>();
    const before = live.note.items;
    for (const step of graph.steps.keys()) {
      const items = takenOver.has(step) ? undefined : live.takenItems(step);
      if (items === undefined) continue;
      if (graph.upstreamOf(step).every((up) => takenOver.has(up))) taken.set(step, items);
      else live.forgetItems(step);
    }
    if (live.note.items !== before) this.#effects.keep(live);
    return taken;
  }

  #stop(id: string, reason: StopReason): void {
    const live = this.#live.get(id);
    if (live === undefined) return;
    if (reason === 'flow-timed-out' && live.note.stop === undefined) {
      const { run, flow } = live;
      if (run === null) {
        live.isOverdue = true;
        return;
      }
      live.note.late = run.atWork.map((step) => flow.graph.nameOf(step));
    }
    this.#tell(live, { kind: 'stop', reason: this.#keepStop(id, reason) });
  }

  /** Gives what it is stopped for: the first reason stays. One that is taken and has not begun reads it when it does. */
  #keepStop(id: string, reason: StopReason): StopReason {
    const live = this.#live.get(id);
    const note = live?.note ?? parseNote(this.#steps.find(id)?.note ?? null);
    if (note.stop !== undefined) return note.stop;
    note.stop = reason;
    if (live === undefined) this.#steps.note(id, noteText(note));
    else this.#effects.keep(live);
    return reason;
  }

  #step(run: FlowedRun): void {
    const live = run.flow === null ? undefined : this.#live.get(run.flow);
    // Not yet taken up: then it is seen by that.
    if (live === undefined || live.run === null) return;
    const place = live.placeOf(run.id);
    if (place === null) return;
    live.saw(place, run);
    const event = this.#eventOf(live, place, run);
    if (event !== null) this.#tell(live, event);
  }

  #eventOf(live: LiveFlow, place: FlowPlace, run: FlowedRun): FlowEvent | null {
    const { expectation } = live.flow.steps[place.step]!;
    const detail = run.past?.error?.message ?? null;
    if (run.state === 'success' && expectation !== null && !isStepDone(live, place.step)) {
      const result = run.past?.result ?? null;
      if (referenceIn(result) !== null) {
        // It is held against what is expected by who can read it.
        this.#takeUp.add(live);
        return null;
      }
      const unmet = this.#guards.judge(live, place.step, expectation, JSON.parse(result ?? 'null'));
      this.#effects.keep(live);
      if (unmet !== null) return { kind: 'failed', ...place, reason: 'not-expected', detail: unmet };
    }
    return eventOfSeen({ state: run.state, result: null, reason: null, detail }, place);
  }

  #tell(live: LiveFlow, event: FlowEvent): void {
    if (live.run === null || this.#live.get(live.id) !== live) return;
    if (event.kind === 'failed' && event.reason === 'no-input') {
      // Of items it is kept with the end of their step: nothing follows from it before, and tried again they fail alike.
      if (event.item === null) this.#effects.keepFailure(live, event.step, event);
      else live.unmade.add(event.step);
    }
    this.#effects.carryOut(live, live.run.apply(event));
  }

  #listed(live: LiveFlow, step: number, items: number): void {
    live.note.lists ??= {};
    live.note.lists[live.flow.graph.nameOf(step)] = items;
    this.#effects.keep(live);
    this.#put({ kind: 'tell', live, event: { kind: 'listed', step, items } });
  }
}

const NOTHING_ELSE = { result: null, reason: null, detail: null } as const;

function isStepDone({ run }: LiveFlow, step: number): boolean {
  return run === null || run.reasonOf(step) !== null;
}
