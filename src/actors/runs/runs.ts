/**
 * Owner of all live runs: wires their table, the four queues and what happens in between, and answers commands.
 *
 *   intake ─▶ ready ─ a slot takes (pool door) ─▶ running ─▶ settlement ─▶ over
 *               ▲                                               │
 *               └──────────── retry queue, interruptions ◀──────┘
 *
 * Invariants: a run is in exactly one place (intake, ready, a pool, the retry queue, or over); every change of
 * state goes through `Lifecycle` and into the journal; an outcome for anything but the running attempt is late,
 * counted, and changes nothing.
 */
import type { AbortReason, Outcome, Pool, PoolName, WorkSource } from '../execution.ts';
import { ColibriError } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import type { DeadLetterChoice, FoundItem, TriggerBody } from '../protocol.ts';
import type { LastEnd, RunOrigin, StoredLetter, StoredRun } from '../records.ts';
import type { BoundView, PressureView, QueueView } from '../views/runtime-view.ts';
import type { Bounds } from './bounds.ts';
import { DEFAULT_BYTE_LIMITS } from './byte-limits.ts';
import { DeadLetters } from './dead-letters.ts';
import { FlowMeter } from './flow-meter.ts';
import { Intake, type Newcomer } from './intake.ts';
import { Journal } from './journal.ts';
import { KEY_BYTES } from './key-lanes.ts';
import { LaterRuns, NEAR } from './later-runs.ts';
import { Lifecycle } from './lifecycle.ts';
import { bytesByPlace, LiveBytes } from './live-bytes.ts';
import { replayIdOf } from './occurrence.ts';
import { PoolDoor } from './pool-door.ts';
import { type DueOccurrence, Postponed } from './postponed.ts';
import { ReadyQueue } from './ready-queue.ts';
import { placeWaiting, type RestorationParts, restoredLetter, restoreRun } from './restoration.ts';
import { RetryQueue } from './retry-queue.ts';
import type { Run } from './run.ts';
import { isTerminal, type RunState } from './run-states.ts';
import { RunTable } from './run-table.ts';
import { DEFAULT_AGEING_MS, type RunsBytes, type RunsOptions } from './runs-options.ts';
import { Settlement } from './settlement.ts';
import { StepRuns } from './step-runs.ts';
import type { RunsTask, TaskState } from './task-state.ts';
import { type TakenOver, Triggers } from './triggers.ts';
import { DEFAULT_WATERMARKS } from './watermarks.ts';

const NO_BOUNDS = { concurrency: null, ageingMs: DEFAULT_AGEING_MS } as const;

export class Runs {
  readonly #options: RunsOptions;
  readonly #table: RunTable;
  readonly #ready: ReadyQueue;
  readonly #retries: RetryQueue;
  readonly #dead: DeadLetters;
  readonly #journal: Journal;
  readonly #lifecycle: Lifecycle;
  readonly #settlement: Settlement;
  readonly #intake: Intake;
  readonly #later: LaterRuns;
  readonly #triggers: Triggers;
  readonly #door: PoolDoor;
  readonly #postponed: Postponed;
  readonly #restoration: RestorationParts;
  readonly #steps: StepRuns;
  readonly #bytes = new LiveBytes();
  readonly #flow: FlowMeter;
  /** Why the store cannot write; null: it can. */
  #trouble: string | null = null;
  #lateOutcomes = 0;
  #ended = 0;
  #closed = false;

  constructor(options: RunsOptions) {
    const { clock, random, queues, byteLimits: limits = DEFAULT_BYTE_LIMITS, durable = true } = options;
    this.#options = options;
    this.#flow = new FlowMeter(clock);
    this.#table = new RunTable(options.tasks);
    this.#ready = new ReadyQueue({
      clock,
      capacity: queues.ready.capacity,
      watermarks: queues.ready.watermarks ?? DEFAULT_WATERMARKS,
      bounds: { ...(options.bounds ?? NO_BOUNDS), groups: options.groups },
      load: () => this.#bytes.accepted / limits.ready,
      flow: this.#flow,
      onRoom: () => this.#door.wakeAll(),
      onPressure: (isHigh, share) => {
        options.onPressure?.('ready', isHigh, share);
        if (!isHigh) this.#door.wake('scan');
      },
    });
    this.#dead = new DeadLetters({
      ...queues.deadLetter,
      maxBytes: limits.deadLetters,
      onDropped: (run) => this.#journal.drop(run),
    });
    this.#door = new PoolDoor({
      ready: this.#ready,
      isPressed: () => this.#isPressed,
      isShut: () => this.#closed || this.#journal.blocked,
      writesAhead: durable,
      onTaken: (run) => {
        this.#lifecycle.started(run);
        this.#intake.refill();
      },
    });
    this.#journal = new Journal({
      clock,
      send: options.record,
      forget: (run) => this.#table.forget(run),
      onRoom: () => {
        this.#postponed.release();
        this.#door.wakeAll();
      },
      onPressure: (isHigh, share) => options.onPressure?.('journal', isHigh, share),
      durable,
      maxBytes: limits.journal,
    });
    this.#postponed = new Postponed({
      isBlocked: () => this.#journal.blocked,
      maxBytes: limits.delayed,
      onDue: (occurrence) => this.due(occurrence),
    });
    const { flows = null } = options;
    this.#lifecycle = new Lifecycle({
      clock,
      journal: this.#journal,
      bytes: this.#bytes,
      onStep: (run) => flows?.onStep(run),
    });
    this.#retries = new RetryQueue({
      clock,
      capacity: queues.retry.capacity,
      load: () => this.#bytes.accepted / limits.retry,
      onPressure: (isHigh, share) => {
        options.onPressure?.('retry', isHigh, share);
        if (isHigh) return;
        this.#intake.refill();
        this.#door.wake('scan');
      },
      onDue: (run) => {
        this.#intake.readmit(run);
        this.#door.poolOf(run)?.wake();
      },
    });
    this.#settlement = new Settlement({
      clock,
      random,
      lifecycle: this.#lifecycle,
      retries: this.#retries,
      dead: this.#dead,
      readmit: (run) => this.#intake.readmit(run),
      onOver: (task) => this.#intake.releaseHeld(task),
    });
    this.#later = new LaterRuns({
      clock,
      watch: options.watch ?? null,
      far: options.far ?? null,
      maxNearBytes: limits.delayed / 2,
      whenKept: (run, resolve) => this.#journal.whenKept(run, resolve),
      onLeft: (run) => {
        this.#lifecycle.left(run);
        this.#table.forget(run);
      },
      onBack: (stored) => {
        if (this.#table.has(stored.run)) return false;
        this.restore(stored);
        // Those whose time has come meanwhile: they are judged now, as they would have been in memory.
        for (const run of this.#restoration.waiting.splice(0)) this.#enter(run);
        return true;
      },
      onDue: (run) => this.#enter(run),
      hasRoom: () => !this.#journal.blocked && this.#intake.waiting < NEAR.stay,
    });
    this.#intake = new Intake({
      ready: this.#ready,
      isPressed: () => this.#isPressed,
      whenFull: queues.ready.whenFull,
      delayedCapacity: queues.delayed.capacity,
      delayedMaxBytes: limits.delayed,
      bytes: this.#bytes,
      later: this.#later,
      nowMs: () => clock.wallMs(),
      isKnown: (id) => this.#table.has(id),
      onNew: (run) => {
        this.#table.add(run);
        this.#lifecycle.created(run);
      },
      onNewLater: (run) => {
        this.#table.add(run);
        this.#lifecycle.delayed(run);
      },
      onReady: (run) => {
        this.#lifecycle.ready(run);
        this.#ready.push(run);
      },
      onSkip: (run, error) => {
        if (run.state === 'ready') this.#ready.remove(run);
        this.#settlement.skip(run, error);
      },
      abortRunning: (task) => this.#abortRunning(task),
    });
    this.#triggers = new Triggers({
      clock,
      table: this.#table,
      journal: this.#journal,
      postponed: this.#postponed,
      intake: this.#intake,
      lifecycle: this.#lifecycle,
      admit: (newcomer, force) => this.#admit(newcomer, force),
      isClosed: () => this.#closed,
      expectWritable: () => this.#expectWritable(),
      warn: options.warn,
    });
    this.#restoration = {
      clock,
      table: this.#table,
      waiting: [],
      later: this.#later,
      ready: this.#ready,
      retries: this.#retries,
      intake: this.#intake,
      lifecycle: this.#lifecycle,
      settlement: this.#settlement,
      limitsOf: (run, flow) => flows?.limitsOf(run, flow) ?? null,
    };
    this.#steps = new StepRuns({
      clock,
      table: this.#table,
      journal: this.#journal,
      lifecycle: this.#lifecycle,
      ready: this.#ready,
      door: this.#door,
      isClosed: () => this.#closed,
      cancel: (run) => this.#cancel(run),
    });
  }

  // — what a daemon before left behind: before anything else comes

  restore(stored: StoredRun): void {
    restoreRun(stored, this.#restoration);
  }

  /** All of them are there: slots may take what is ready. `delayed`: so many more are in the store, and begin later. */
  restored(delayed = 0): void {
    placeWaiting(this.#restoration);
    this.#later.found(delayed);
    this.#door.wakeAll();
  }

  restoreLetter(letter: StoredLetter): void {
    this.#dead.add(restoredLetter(letter, this.#table));
  }

  /** How tasks ended before this daemon. */
  knowEnds(ends: readonly LastEnd[]): void {
    for (const end of ends) this.#table.knowEnd(end);
  }

  // — where work comes from

  /** A task is due: one run per occurrence, however often this is called for it. */
  due(occurrence: DueOccurrence): void {
    const { task, id, dueAtMs, origin, catchUp = false } = occurrence;
    if (this.#table.has(id)) return;
    if (this.#journal.blocked) return this.#postponed.due(occurrence);
    this.#admit({ ...this.#newcomer(this.#table.task(task), id, origin), dueAtMs, catchUp }, false);
  }

  /** Accepts a trigger: see `Triggers.trigger`. */
  trigger(body: TriggerBody, answer: Answer, takenOver?: TakenOver): void {
    this.#triggers.trigger(body, answer, takenOver);
  }

  /** The runs of steps, for whoever has the flows. */
  get steps(): StepRuns {
    return this.#steps;
  }

  /** See `Triggers.wait`; a run that stands in the store alone comes back first. */
  async wait(run: string, answer: Answer): Promise<void> {
    await this.recall(run);
    this.#triggers.wait(run, answer);
  }

  /** Files that a scan found. Answered as `Intake.offer` says. Fails with `no-such-task`, `shutting-down`. */
  offer(body: { task: string; items: readonly FoundItem[] }, answer: Answer): void {
    if (this.#journal.blocked && !this.#closed) {
      return this.#postponed.call(0, answer, () => this.offer(body, answer));
    }
    this.#intake.offer(this.#table.task(body.task), body.items, answer);
    this.#door.wakeAll();
  }

  // — pools

  attachPool(pool: Pool): void {
    this.#door.attach(pool);
  }

  /** The ready queue as one pool sees it. */
  source(pool: PoolName): WorkSource {
    return this.#door.source(pool);
  }

  outcome(outcome: Outcome): void {
    this.#ended++;
    const run = this.#table.get(outcome.run);
    if (run === undefined || run.state !== 'running' || run.attempt !== outcome.attempt) {
      this.#lateOutcomes++;
      return;
    }
    this.#ready.release(run);
    if (run.pool !== 'flow') this.#flow.ended(outcome.durationMs);
    this.#settlement.outcome(run, outcome);
    this.#intake.refill();
    this.#later.lookAhead();
    this.#door.wakeAll();
  }

  progress(body: { run: string; fraction: number; note: string | null }): void {
    const run = this.#table.get(body.run);
    if (run?.state === 'running') run.ownPast.progress = { fraction: body.fraction, note: body.note };
  }

  recorded(seq: number): void {
    this.#journal.recorded(seq);
  }

  /** The store lost what it had not acknowledged: it is sent again. */
  resend(): void {
    this.#trouble = null;
    this.#journal.resend();
  }

  /** The store cannot write for now, and why. Work goes on; nothing is accepted that it would have to keep. */
  storeFailing(reason: string): void {
    this.#trouble = reason;
    this.#journal.pause();
  }

  /** What the journal stands at: ordinals, and why the store cannot write (null: it can). */
  get journal(): { readonly kept: number; readonly unrecorded: number; readonly trouble: string | null } {
    const { kept, unrecorded } = this.#journal;
    return { kept, unrecorded, trouble: this.#trouble };
  }

  // — commands

  /** Brings a run into memory that begins later and stands in the store alone, so that it can be cancelled. */
  recall(id: string): Promise<void> {
    return this.#table.has(id) ? Promise.resolve() : this.#later.recall(id);
  }

  /** Cancels a run wherever it is in memory. Throws `no-such-run` if it is not live. */
  cancel(id: string): RunState {
    const run = this.#table.get(id);
    if (run === undefined || isTerminal(run.state)) {
      throw new ColibriError('no-such-run', `expected a run that is not over, got ${id}`);
    }
    this.#cancel(run);
    return run.state;
  }

  /**
   * Other bounds from now on, of all runs, of groups, and of tasks that are known; of these the group, the bounds and the
   * priority are taken over. What waits keeps its place, and what runs goes on.
   */
  rebound(bounds: Bounds, tasks: readonly RunsTask[]): void {
    for (const { name, group, priority, bounds: own } of tasks) {
      if (!this.#table.hasTask(name)) continue;
      const task = this.#table.task(name);
      const { bounds: _, ...spec } = task.spec;
      task.spec = { ...spec, group, priority, ...(own === undefined ? {} : { bounds: own }) };
    }
    this.#ready.rebound(
      bounds,
      [...this.#table.runs].filter((run) => run.state === 'running'),
    );
    this.#door.wakeAll();
  }

  /** Asks everything on a slot to stop. */
  abortAll(reason: AbortReason): void {
    for (const run of this.#table.runs) {
      if (run.state === 'running') this.#door.poolOf(run)?.abort(run.id, reason);
    }
  }

  get deadLetters(): DeadLetters {
    return this.#dead;
  }

  /** Runs dead letters again, each as a new run; what is refused stays a dead letter. */
  replay(choice: DeadLetterChoice): { runs: string[]; refused: number } {
    this.#expectWritable();
    return this.#dead.replay(choice, (letter) => {
      const { name } = letter.spec;
      if (!this.#table.hasTask(name)) return null;
      const newcomer = this.#newcomer(this.#table.task(name), replayIdOf(letter.run), 'replay');
      const { rawInput: input, mark } = letter;
      // A flow again is for the same instant, and says so to its steps.
      const { dueAtMs } = newcomer.task.spec.pool === 'flow' ? letter : newcomer;
      const run = this.#admit({ ...newcomer, dueAtMs, input, mark }, true);
      return run instanceof ColibriError ? null : run.id;
    });
  }

  // — looking

  /** The live runs, to look at. */
  get table(): Pick<RunTable, 'size' | 'tasks' | 'get' | 'list'> {
    return this.#table;
  }

  /** Runs that are not over; those that come again with their schedule do not count. */
  get unfinished(): number {
    let count = this.#later.far;
    for (const run of this.#table.runs) if (run.noted && !isTerminal(run.state)) count++;
    return count;
  }

  /** Of those, the ones that are to begin later. */
  get later(): number {
    return this.#later.depth;
  }

  /** Runs whose task is not in the config. */
  get orphaned(): number {
    let count = 0;
    for (const run of this.#table.runs) if (run.state === 'orphaned' && run.task.gone) count++;
    return count;
  }

  /** Attempts that have ended since the start. */
  get ended(): number {
    return this.#ended;
  }

  get lateOutcomes(): number {
    return this.#lateOutcomes;
  }

  /** What runs came and went lately. */
  get flow(): FlowMeter {
    return this.#flow;
  }

  /** Bytes that the runs hold; walks through all of them. */
  heldBytes(): RunsBytes {
    return {
      ...bytesByPlace(this.#table.runs),
      deadLetters: this.#dead.bytes,
      keys: this.#ready.keys * KEY_BYTES,
      journal: this.#journal.bytes,
    };
  }

  /** What the bounds of the config count and hold back. */
  bounds(): BoundView[] {
    return this.#ready.view();
  }

  get #isPressed(): boolean {
    return this.#ready.pressure.isHigh || this.#retries.pressure.isHigh;
  }

  /** Queues whose sources wait while they are too full. */
  pressures(): PressureView[] {
    return [
      { queue: 'ready', isHigh: this.#ready.pressure.isHigh, rises: this.#ready.pressure.rises },
      { queue: 'retry', isHigh: this.#retries.pressure.isHigh, rises: this.#retries.pressure.rises },
      { queue: 'journal', isHigh: this.#journal.blocked, rises: this.#journal.blocks },
    ];
  }

  queues(): QueueView[] {
    const intake = this.#intake;
    const { depth: ready, capacity } = this.#ready;
    return [
      { name: 'ready', depth: ready, capacity, rejected: intake.rejectedReady },
      { name: 'delayed', depth: intake.delayed, capacity: intake.capacity, rejected: intake.rejectedDelayed },
      { name: 'retry', ...this.#retries.view() },
      { name: 'dead-letter', ...this.#dead.view() },
    ];
  }

  // — the end

  /** Takes nothing more in and gives nothing more out; running work goes on. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#postponed.close();
    this.#intake.close();
    this.#later.close();
    this.#settlement.close();
    this.#retries.close();
    this.#ready.close();
  }

  /** Resolves when the store has every transition so far. */
  settled(): Promise<void> {
    return this.#journal.idle();
  }

  destroy(): void {
    this.close();
    this.#journal.close();
  }

  // — inside

  #expectWritable(): void {
    if (this.#trouble === null) return;
    throw new ColibriError(
      'store-unavailable',
      `expected a journal that can be written, got: ${this.#trouble}; scheduled work goes on, try again when that is mended`,
    );
  }

  #newcomer(task: TaskState, id: string, origin: RunOrigin): Newcomer {
    return { task, id, origin, dueAtMs: this.#options.clock.wallMs(), input: null, mark: null };
  }

  #admit(newcomer: Newcomer, force: boolean): Run | ColibriError {
    const admitted = this.#intake.admit(newcomer, force);
    if (admitted instanceof ColibriError) return admitted;
    this.#door.poolOf(admitted)?.wake();
    return admitted;
  }

  /** Its time has come. */
  #enter(run: Run): void {
    const decision = this.#intake.decide(run.task, run.catchUp);
    this.#lifecycle.due(run);
    this.#intake.enterDue(run, decision);
    this.#door.poolOf(run)?.wake();
  }

  #cancel(run: Run): void {
    if (run.state === 'running') {
      run.ownPast.cancelling = true;
      this.#door.poolOf(run)?.abort(run.id, 'cancel');
      if (this.#closed) this.#cancelSteps(run);
      return;
    }
    if (run.state === 'ready') this.#ready.remove(run);
    else if (this.#later.has(run)) {
      this.#later.remove(run);
      this.#lifecycle.due(run);
    } else if (run.ownPast.retryTimer !== null) this.#retries.remove(run);
    else this.#intake.remove(run);
    run.ownPast.error = { code: 'cancelled', message: 'cancelled before it ran' };
    this.#settlement.end(run, 'cancelled');
    this.#cancelSteps(run);
    this.#intake.refill();
    this.#door.wakeAll();
  }

  /** Of a flow that has begun and has nobody to do it: it waits to be taken up, it is gone from the config, the daemon ends. */
  #cancelSteps(flow: Run): void {
    if (flow.attempt === 0 || (flow.pool !== 'flow' && !flow.task.gone)) return;
    for (const run of this.#table.runs) {
      if (run.flow === flow.id && !isTerminal(run.state)) this.#cancel(run);
    }
  }

  /** Whom a newcomer is to replace: gathered first, because the end of one may let the newcomer itself go on. */
  #abortRunning(task: TaskState): void {
    const replaced = [...this.#table.runs].filter(
      (run) => run.task === task && run.overlaps && !isTerminal(run.state) && !this.#intake.isHeld(run),
    );
    for (const run of replaced) if (!isTerminal(run.state)) this.#cancel(run);
  }
}
