/**
 * Intake: how runs come to be. A due occurrence, a trigger, a found file or a replayed dead letter passes the
 * overlap policy, then waits for room in the ready queue as the queue's answer to *full* says:
 *
 *   come ─▶ overlap ─▶ room? ─▶ ready
 *              │          ├─ block: waits here, its source with it
 *              │          ├─ reject / drop-newest: the newcomer is skipped, a trigger refused
 *              │          └─ drop-oldest: the oldest ready run is skipped
 *              ├─ waits for the run before it (held)
 *              └─ skipped
 *
 * A run that is to begin later waits for its time first. It was accepted then: overlap may skip it when its time has
 * come, but a full queue does not refuse it. Everything that waits here or there counts as *delayed*, and that queue is
 * bounded too. Bounds are in runs and in bytes; a run larger than the bound in bytes is taken by an empty queue.
 */
import { ColibriError } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import type { FoundItem } from '../protocol.ts';
import type { LaterRuns } from './later-runs.ts';
import { LinkedList } from './linked-list.ts';
import { type LiveBytes, runBytes } from './live-bytes.ts';
import { Offers } from './offers.ts';
import { decideOverlap, type OverlapDecision, type WhenFull } from './policies.ts';
import type { ReadyQueue } from './ready-queue.ts';
import { Run, type RunFields } from './run.ts';
import { shuttingDown } from './shutting-down.ts';
import type { TaskState } from './task-state.ts';

export interface IntakeOptions {
  readonly ready: ReadyQueue;
  /** A queue is above its high watermark. */
  readonly isPressed: () => boolean;
  readonly whenFull: WhenFull;
  readonly delayedCapacity: number;
  readonly delayedMaxBytes: number;
  readonly bytes: LiveBytes;
  readonly later: LaterRuns;
  readonly nowMs: () => number;
  /** True if a run of this id is live. */
  readonly isKnown: (id: string) => boolean;
  /** A run exists now: to be kept and noted. */
  readonly onNew: (run: Run) => void;
  /** The same of one that is to begin later. */
  readonly onNewLater: (run: Run) => void;
  /** A run has room: it goes to ready. */
  readonly onReady: (run: Run) => void;
  /** A run is not going to run. */
  readonly onSkip: (run: Run, error: ColibriError) => void;
  readonly abortRunning: (task: TaskState) => void;
}

/** What a source asks for. */
export type Newcomer = Omit<RunFields, 'createdAtMs'>;

export class Intake {
  readonly #options: IntakeOptions;
  /** Runs that wait for room, in the order they came. */
  readonly #waiting = new LinkedList<Run>();
  /** By task: runs that wait for the one before them. */
  readonly #heldBy = new Map<TaskState, LinkedList<Run>>();
  readonly #offers: Offers;
  #held = 0;
  #rejectedReady = 0;
  #rejectedDelayed = 0;
  #closed = false;
  /** While places are made for a newcomer they are not for whoever waits. */
  #makingRoom = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#offers = new Offers({ ...options, makeRoom: () => this.#makeRoom() });
  }

  /** Runs that wait for their time, for room, or for the run before them. */
  get delayed(): number {
    return this.#options.later.depth + this.waiting;
  }

  /** Those that wait although they are due. */
  get waiting(): number {
    return this.#waiting.length + this.#held;
  }

  /** Of the delayed queue. */
  get capacity(): number {
    return this.#options.delayedCapacity;
  }

  get rejectedReady(): number {
    return this.#rejectedReady + this.#offers.rejected;
  }

  get rejectedDelayed(): number {
    return this.#rejectedDelayed;
  }

  /** Takes nothing more: waiting sources get `shutting-down`. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#offers.close();
    for (const run of this.#waiting) {
      run.admission?.fail(shuttingDown());
      run.admission = null;
    }
  }

  /**
   * Makes a run of a newcomer, or gives the error that says why not. `force` passes by overlap.
   * Where a full queue blocks, the run waits and `admission` is answered when it is ready.
   */
  admit(newcomer: Newcomer, force: boolean): Run | ColibriError {
    if (this.#closed) return shuttingDown();
    if (this.#options.isKnown(newcomer.id)) {
      return new ColibriError(
        'overlap-refused',
        `expected a new run, got ${newcomer.id}, which is live already`,
      );
    }
    const { task } = newcomer;
    const decision = force ? 'run' : this.decide(task, newcomer.catchUp);
    const run = new Run({ ...newcomer, createdAtMs: this.#options.nowMs() });
    const refusal = this.#refusal(decision, run);
    // Who asked is told, and there is nothing to keep: a source that is too fast costs no more than its answers.
    if (refusal !== null && run.origin === 'manual') return refusal;
    this.#options.onNew(run);
    if (refusal !== null) {
      this.#options.onSkip(run, refusal);
      return refusal;
    }
    if (decision === 'run') return this.#place(run);
    return this.#hold(run, decision);
  }

  /** Makes a run that begins later, or gives the error that says why not: then there is none. */
  admitLater(newcomer: Newcomer): Run | ColibriError {
    if (this.#closed) return shuttingDown();
    const run = new Run({ ...newcomer, createdAtMs: this.#options.nowMs() });
    const refusal = this.#refusal('wait', run);
    if (refusal !== null) return refusal;
    this.#options.onNewLater(run);
    this.#options.later.add(run);
    return run;
  }

  /** The time of such a run has come; it counts at its task from now on. */
  enterDue(run: Run, decision: OverlapDecision): void {
    if (decision === 'run') this.readmit(run);
    else this.#hold(run, decision);
  }

  /**
   * What is to become of a run of this task that comes now. Late occurrences that are all to run do not skip or cancel
   * each other: behind those before it, one of them waits.
   */
  decide(task: TaskState, catchUp = false): OverlapDecision {
    const { overlap } = task.spec;
    if (catchUp && task.catchUps > 0 && overlap !== 'allow') return 'wait';
    return decideOverlap(overlap, task.live, this.#heldOf(task).length);
  }

  /** It does not run now: it is skipped, or waits for the run before it. */
  #hold(run: Run, decision: Exclude<OverlapDecision, 'run'>): Run | ColibriError {
    const { task } = run;
    if (decision === 'skip') {
      const error = new ColibriError(
        'overlap-refused',
        `expected no run of ${task.spec.name} in progress, got ${task.live - 1}; overlap is ${task.spec.overlap}`,
      );
      this.#options.onSkip(run, error);
      return error;
    }
    this.#waitForOthers(run);
    if (decision === 'cancel-then-wait') this.#options.abortRunning(task);
    return run;
  }

  /** See `Offers.offer`. */
  offer(task: TaskState, items: readonly FoundItem[], answer: Answer): void {
    this.#offers.offer(task, items, answer);
  }

  /** The run a task waited for is over: the next held one may go. */
  releaseHeld(task: TaskState): void {
    const held = this.#heldBy.get(task);
    if (held === undefined || task.live > held.length) return;
    const run = held.shift();
    if (run === null) return;
    this.#held--;
    this.readmit(run);
  }

  /**
   * A run of a daemon before that had not begun: it was accepted, so it is not skipped now, and it does not run beside
   * another one. It waits for the one before it, or for room.
   */
  restore(run: Run): void {
    const { task } = run;
    if (run.overlaps && task.live > 1 && task.spec.overlap !== 'allow') this.#waitForOthers(run);
    else this.readmit(run);
  }

  #waitForOthers(run: Run): void {
    this.#heldOf(run.task).push(run);
    this.#held++;
  }

  /**
   * A run that was accepted and is due again (a retry, an interruption): never refused, waits for room. Not so the run of a step:
   * it was let in beside the queue, and what stands there may be flows that wait for the end of its own.
   */
  readmit(run: Run): void {
    const hasRoom = this.#hasRoom && !this.#makingRoom;
    if (!hasRoom && run.flow === null) this.#waiting.push(run);
    else this.#options.onReady(run);
  }

  /** Lets in what waits, as far as there is room. */
  refill(): void {
    const { ready } = this.#options;
    while (this.#waiting.length > 0 && !ready.full) this.#options.onReady(this.#waiting.shift()!);
    this.#offers.refill();
  }

  /** True for a run that was accepted although it does not run yet: it waits for its time, or for the one before it. */
  isWaitingItsTurn(run: Run): boolean {
    return this.#options.later.has(run) || this.isHeld(run);
  }

  /** True for a run that waits for the one before it. */
  isHeld(run: Run): boolean {
    return run.list !== null && run.list === this.#heldBy.get(run.task);
  }

  /** Takes a run out that waits here. */
  remove(run: Run): void {
    if (run.list === null) return;
    if (this.isHeld(run)) this.#held--;
    run.list.remove(run);
  }

  #heldOf(task: TaskState): LinkedList<Run> {
    let held = this.#heldBy.get(task);
    if (held === undefined) {
      held = new LinkedList<Run>();
      this.#heldBy.set(task, held);
    }
    return held;
  }

  /** Why there is no room for this one; counted. Null: there is, or it is made. */
  #refusal(decision: OverlapDecision, run: Run): ColibriError | null {
    const { ready, whenFull, bytes } = this.#options;
    if (decision === 'skip') return null;
    if (decision === 'run') {
      if (this.#hasRoom || whenFull === 'drop-oldest') return null;
      if (whenFull !== 'block') {
        this.#rejectedReady++;
        if (ready.heavy) return heavyError('ready', ready.depth, bytes.accepted);
        return new ColibriError(
          'queue-full',
          `expected room in the ready queue, got ${ready.depth} of ${ready.capacity} in use`,
        );
      }
    }
    if (!this.#isDelayedFull(run)) return null;
    this.#rejectedDelayed++;
    return this.#delayedError();
  }

  get #hasRoom(): boolean {
    return !this.#options.ready.full && this.#waiting.length === 0;
  }

  #place(run: Run): Run {
    if (!this.#hasRoom && this.#options.whenFull === 'block') {
      this.#waiting.push(run);
      return run;
    }
    this.#makeRoom();
    this.#options.onReady(run);
    return run;
  }

  #isDelayedFull(run: Run): boolean {
    const { delayedCapacity, delayedMaxBytes, bytes } = this.#options;
    const { delayed } = this;
    return delayed >= delayedCapacity || (delayed > 0 && bytes.waiting + runBytes(run) > delayedMaxBytes);
  }

  #delayedError(): ColibriError {
    const { delayedCapacity, bytes } = this.#options;
    if (this.delayed < delayedCapacity) return heavyError('delayed', this.delayed, bytes.waiting);
    return new ColibriError(
      'queue-full',
      `expected room in the delayed queue, got ${this.delayed} of ${delayedCapacity} in use; raise queues.delayed.capacity`,
    );
  }

  /** Drops the oldest until there is a place. Who waited for one of them was accepted: it waits for room. */
  #makeRoom(): void {
    const { ready, onSkip } = this.#options;
    this.#makingRoom = true;
    while (ready.full) {
      const victim = ready.oldest();
      if (victim === null) break;
      this.#rejectedReady++;
      onSkip(victim, new ColibriError('queue-full', 'dropped from the full ready queue for a newer run'));
    }
    this.#makingRoom = false;
  }
}

function heavyError(queue: 'ready' | 'delayed', depth: number, bytes: number): ColibriError {
  const held = `${depth} runs in it and ${(bytes / 2 ** 20).toFixed(1)} MB of runs`;
  return new ColibriError(
    'queue-full',
    `expected room in the ${queue} queue, got ${held}; send paths in place of data, or raise memory.budget_mb`,
  );
}
