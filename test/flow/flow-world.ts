/**
 * What is around a flow run, as a model: runs that begin and end, a store that has them, messages that are lost, doubled and out
 * of order, daemons that end. All choices come from one list of numbers; when it is used up nothing bad happens any more.
 */
import assert from 'node:assert/strict';
import {
  type FailureReason,
  type FlowEffect,
  type FlowEnd,
  type FlowEvent,
  type FlowGraph,
  FlowRun,
  type FlowRunOptions,
  isStepOver,
  type SeenRun,
  type SeenRuns,
  type StopReason,
} from '../../src/actors/flow/index.ts';
import { isTerminal, type RunState } from '../../src/actors/runs/index.ts';

const FAILURES: readonly FailureReason[] = ['run-failed', 'not-expected', 'no-input'];

export interface WorldOptions {
  readonly graph: FlowGraph;
  readonly choices: readonly number[];
  /** Whether starts, lists, cancels and notifications may be lost, doubled and mixed up. */
  readonly isFaulty: boolean;
  /** Whether the flow may be cancelled, or time out. */
  readonly mayStop: boolean;
  /** Whether the daemon may end in between, and the next one take the flow up. */
  readonly mayCrash: boolean;
  /** Of so many and three more ways for a run to end, all but three are a success. */
  readonly successes: number;
  readonly takenOver?: ReadonlyMap<number, string>;
}

interface WorldRun {
  readonly step: number;
  readonly item: number | null;
  state: RunState;
  result: string | null;
  reason: FailureReason | null;
  cancelling: boolean;
}

export class FlowWorld implements SeenRuns {
  readonly graph: FlowGraph;
  readonly runs = new Map<string, WorldRun>();
  /** Length of the list of each step that has one. */
  readonly lists: readonly number[];
  flow: FlowRun;
  /** Asked to stop, and kept by the store. */
  stopping: StopReason | null = null;
  /** Steps at work when the timeout came, kept with it. */
  late: readonly number[] = [];
  ends: FlowEnd[] = [];
  stepEnds = new Map<number, string>();
  crashes = 0;
  readonly #options: WorldOptions;
  readonly #inbox: FlowEvent[] = [];
  readonly #listed = new Set<number>();
  #at = 0;

  constructor(options: WorldOptions) {
    this.graph = options.graph;
    this.#options = options;
    this.lists = this.graph.steps.map(() => this.#choose(8));
    this.flow = new FlowRun(this.graph, this.#flowOptions);
  }

  get #flowOptions(): FlowRunOptions {
    const { takenOver } = this.#options;
    return { stopping: this.stopping, late: this.late, ...(takenOver === undefined ? {} : { takenOver }) };
  }

  run(step: number, item: number | null): SeenRun | null {
    const found = this.runs.get(`${step}/${item}`);
    return found === undefined ? null : { ...found, detail: null };
  }

  items(step: number): number | null {
    return this.#listed.has(step) ? this.lists[step]! : null;
  }

  /** Until the flow is over. Sweeps come as they would from a timer; after the bad choices everything is quiet. */
  play(): void {
    this.#carryOut(this.flow.begin());
    for (let turn = 0; this.flow.end === null; turn++) {
      assert.ok(turn < 20_000, 'the flow does not end');
      const choice = this.#choose(24);
      if (choice === 23 && this.#options.mayCrash) this.#crash();
      else if (choice === 22 && this.#mayStop()) this.#stop();
      else if (choice >= 20 || turn % 8 === 7 || (this.#inbox.length === 0 && this.live().length === 0))
        this.#sweep();
      else if (this.#inbox.length > 0 && (choice % 2 === 0 || this.live().length === 0)) this.#deliver();
      else if (this.live().length > 0) this.#goOn();
    }
    while (this.#inbox.length > 0) this.#deliver();
  }

  // — what may happen

  #mayStop(): boolean {
    return this.#options.mayStop && this.stopping === null && this.#choose(4) === 3;
  }

  #crash(): void {
    this.crashes++;
    this.#inbox.length = 0;
    this.flow = new FlowRun(this.graph, this.#flowOptions);
    this.#sweep();
  }

  #sweep(): void {
    this.#carryOut(this.flow.sweep(this));
  }

  #stop(): void {
    this.stopping = this.#choose(2) === 0 ? 'flow-cancelled' : 'flow-timed-out';
    if (this.stopping === 'flow-timed-out') {
      const isAtWork = (one: number) => ['ready', 'running'].includes(this.flow.stateOf(one));
      this.late = [...this.graph.steps.keys()].filter(isAtWork);
    }
    this.#carryOut(this.flow.apply({ kind: 'stop', reason: this.stopping }));
  }

  #deliver(): void {
    const at = this.#options.isFaulty ? this.#choose(this.#inbox.length) : 0;
    const [event] = this.#inbox.splice(at, 1);
    this.#carryOut(this.flow.apply(event!));
  }

  /** Runs that are not over, and do not wait for their task to come back. */
  live(): WorldRun[] {
    return [...this.runs.values()].filter((run) => !isTerminal(run.state) && run.state !== 'orphaned');
  }

  /** A run takes one step of its life; one that is told to end mostly does. */
  #goOn(): void {
    const live = this.live();
    const run = live[this.#choose(live.length)]!;
    if (run.state === 'ready') {
      run.state =
        this.#choose(this.#options.successes * 2 + 2) < this.#options.successes * 2
          ? 'running'
          : (['skipped', 'orphaned'] as const)[this.#choose(2)]!;
    } else if (this.stopping !== null && !run.cancelling) {
      // It would take for ever.
      return;
    } else {
      const end = this.#choose(this.#options.successes + 3) - this.#options.successes;
      run.state = end < 0 ? 'success' : (['failed', 'skipped', 'cancelled'] as const)[end]!;
    }
    if (run.cancelling && this.#choose(4) < 3) run.state = 'cancelled';
    if (run.state === 'failed') run.reason = FAILURES[this.#choose(3)]!;
    if (run.state === 'success') run.result = 'file';
    this.#notify(eventOf(run));
  }

  #notify(event: FlowEvent): void {
    const fault = this.#options.isFaulty ? this.#choose(20) : 0;
    if (fault === 19) return;
    this.#inbox.push(event);
    if (fault === 18) this.#inbox.push(event);
  }

  // — what is asked for

  #carryOut(effects: readonly FlowEffect[]): void {
    for (const effect of effects) this.#carryOutOne(effect);
  }

  #carryOutOne(effect: FlowEffect): void {
    const isLost = this.#options.isFaulty && effect.kind !== 'over' && this.#choose(20) === 19;
    switch (effect.kind) {
      case 'start':
        this.#expectAllowed(effect.step);
        if (effect.item !== null) this.#expectItemAllowed(effect.step);
        assert.ok(!this.runs.has(`${effect.step}/${effect.item}`), 'started twice without cause');
        if (isLost) return;
        this.runs.set(`${effect.step}/${effect.item}`, {
          ...effect,
          state: 'ready',
          result: null,
          reason: null,
          cancelling: false,
        });
        return;
      case 'list': {
        if (isLost) return;
        const { step } = effect;
        this.#listed.add(step);
        this.#notify({ kind: 'listed', step, items: this.lists[step]! });
        return;
      }
      case 'cancel': {
        if (isLost) return;
        const run = this.runs.get(`${effect.step}/${effect.item}`);
        if (run === undefined || isTerminal(run.state)) return;
        run.cancelling = true;
        if (run.state !== 'ready' && run.state !== 'orphaned') return;
        run.state = 'cancelled';
        this.#notify(eventOf(run));
        return;
      }
      case 'step-ended': {
        const { step, state, reason } = effect;
        // A daemon that takes the flow up comes to the same end of the step.
        const before = this.stepEnds.get(step);
        if (before !== undefined && this.crashes === 0) assert.fail(`step ${step} ended twice`);
        this.stepEnds.set(step, `${state} ${reason}`);
        return;
      }
      case 'over':
        this.ends.push(effect.end);
    }
  }

  /** A step starts when all before it are over, and only with its policy where one of them did not succeed. */
  #expectAllowed(step: number): void {
    const { onUpstreamFailure } = this.graph.steps[step]!;
    assert.equal(this.stopping, null, 'started while the flow is being stopped');
    for (const before of this.graph.ancestorsOf(step)) assert.ok(isStepOver(this.flow.stateOf(before)));
    const failed = this.graph.upstreamOf(step).some((up) => this.flow.stateOf(up) !== 'success');
    assert.ok(!failed || onUpstreamFailure === 'run');
  }

  #expectItemAllowed(step: number): void {
    const each = this.graph.steps[step]!.each!;
    const live = this.live().filter((run) => run.step === step);
    assert.ok(live.length < each.concurrency, 'too many items at a time');
    if (each.onFailure === 'stop') {
      const { failed, cancelled } = this.flow.itemsOf(step)!;
      assert.equal(failed + cancelled, 0);
    }
  }

  /** 0 to n − 1; 0 when the choices are used up. */
  #choose(n: number): number {
    const choice = this.#options.choices[this.#at++];
    return choice === undefined ? 0 : choice % n;
  }
}

function eventOf({ step, item, state, result, reason }: WorldRun): FlowEvent {
  switch (state) {
    case 'success':
      return { kind: 'succeeded', step, item, result };
    case 'failed':
      return { kind: 'failed', step, item, reason: reason!, detail: 'expected a, got b' };
    case 'skipped':
      return { kind: 'skipped', step, item, detail: null };
    case 'cancelled':
      return { kind: 'cancelled', step, item };
    case 'orphaned':
      return { kind: 'orphaned', step, item };
    default:
      return { kind: 'began', step, item };
  }
}
