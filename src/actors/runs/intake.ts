/**
 * Intake: how runs come to be. A due occurrence, a trigger, a found file or a replayed dead letter passes the
 * overlap policy, then waits for room in the ready queue as the queue's answer to *full* says:
 *
 *   come ─▶ overlap ─▶ room? ─▶ ready
 *              │          ├─ block: waits here, its source with it
 *              │          ├─ reject / drop-newest: the newcomer is skipped
 *              │          └─ drop-oldest: the oldest ready run is skipped
 *              ├─ waits for the run before it (held)
 *              └─ skipped
 *
 * A run that is to begin later waits for its time first, and was accepted then: afterwards overlap may skip it, but a full
 * queue does not refuse it. Everything that waits here or there counts as *delayed*, and that queue is bounded too. Bounds are in runs and in bytes; a
 * run larger than the bound in bytes is taken by an empty queue.
 */
import { ColibriError } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import type { FoundItem, OfferReply } from '../protocol.ts';
import type { LaterRuns } from './later-runs.ts';
import { LinkedList } from './linked-list.ts';
import type { LiveBytes } from './live-bytes.ts';
import { decideOverlap, type OverlapDecision, type WhenFull } from './policies.ts';
import type { ReadyQueue } from './ready-queue.ts';
import { Run, type RunFields } from './run.ts';
import { shuttingDown } from './shutting-down.ts';
import type { TaskState } from './task-state.ts';

export interface IntakeOptions {
  readonly ready: ReadyQueue;
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

interface WaitingOffer {
  readonly reply: OfferReply;
  readonly answer: Answer;
}

export class Intake {
  readonly #options: IntakeOptions;
  /** Runs that wait for room, in the order they came. */
  readonly #waiting = new LinkedList<Run>();
  /** By task: runs that wait for the one before them. */
  readonly #heldBy = new Map<TaskState, LinkedList<Run>>();
  readonly #offers: WaitingOffer[] = [];
  #held = 0;
  #rejectedReady = 0;
  #rejectedDelayed = 0;
  #closed = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
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
    return this.#rejectedReady;
  }

  get rejectedDelayed(): number {
    return this.#rejectedDelayed;
  }

  /** Takes nothing more: waiting sources get `shutting-down`. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const offer of this.#offers.splice(0)) offer.answer.fail(shuttingDown());
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
    const decision = force ? 'run' : this.decide(task);
    const run = this.#create(newcomer);
    if (decision === 'run') return this.#findRoom(run);
    if (decision !== 'skip' && this.#delayedFull) return this.#refuseDelayed(run);
    return this.#hold(run, decision);
  }

  /** Makes a run that begins later, or gives the error that says why not: then there is none. */
  admitLater(newcomer: Newcomer): Run | ColibriError {
    if (this.#closed) return shuttingDown();
    if (this.#delayedFull) {
      this.#rejectedDelayed++;
      return this.#delayedError();
    }
    const run = new Run({ ...newcomer, createdAtMs: this.#options.nowMs() });
    this.#options.onNewLater(run);
    this.#options.later.add(run);
    return run;
  }

  /** The time of such a run has come; it counts at its task from now on. */
  enterDue(run: Run, decision: OverlapDecision): void {
    if (decision === 'run') this.readmit(run);
    else this.#hold(run, decision);
  }

  /** What is to become of a run of this task that comes now. */
  decide(task: TaskState): OverlapDecision {
    return decideOverlap(task.spec.overlap, task.live, this.#heldOf(task).length);
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
    this.#heldOf(task).push(run);
    this.#held++;
    if (decision === 'cancel-then-wait') this.#options.abortRunning(task);
    return run;
  }

  /**
   * Files found by a scan: those for which there is room become runs. `rest` names those for which there was none;
   * with `block` the answer waits until there is, and the source offers them anew. They are not kept here, because
   * what the store knew of them when they were offered may not be true any more.
   */
  offer(task: TaskState, items: readonly FoundItem[], answer: Answer): void {
    if (this.#closed) {
      answer.fail(shuttingDown());
      return;
    }
    const reply = this.#takeItems(task, items);
    if (reply.rest.length === 0) answer.ok(reply);
    else this.#offers.push({ reply, answer });
  }

  /** The run a task waited for is over: the next held one may go. */
  releaseHeld(task: TaskState): void {
    const held = this.#heldBy.get(task);
    if (held === undefined || task.live > held.length) return;
    const run = held.shift();
    if (run === null) return;
    this.#held--;
    this.#findRoom(run);
  }

  /** A pending run of a daemon before: waits for the one before it, or for room. */
  restore(run: Run): void {
    const { overlap } = run.task.spec;
    if (run.overlaps && run.task.live > 1 && overlap !== 'allow' && overlap !== 'skip') {
      this.#heldOf(run.task).push(run);
      this.#held++;
    } else this.readmit(run);
  }

  /** A run that was accepted and is due again (a retry, an interruption): never refused, waits for room. */
  readmit(run: Run): void {
    if (this.#options.ready.full || this.#waiting.length > 0) this.#waiting.push(run);
    else this.#options.onReady(run);
  }

  /** Lets in what waits, as far as there is room. */
  refill(): void {
    const { ready } = this.#options;
    while (this.#waiting.length > 0 && !ready.full) this.#options.onReady(this.#waiting.shift()!);
    // Not for every single place: a source that is told has a batch ready.
    if (this.#offers.length === 0 || !ready.low) return;
    for (const { reply, answer } of this.#offers.splice(0)) answer.ok(reply);
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

  #takeItems(task: TaskState, items: readonly FoundItem[]): OfferReply {
    const { ready, whenFull } = this.#options;
    let accepted = 0;
    let known = 0;
    let rejected = 0;
    for (const [index, { mark, input }] of items.entries()) {
      const id = `${task.spec.name}@${mark}`;
      if (this.#options.isKnown(id)) {
        known++;
        continue;
      }
      if (ready.full && whenFull === 'block') {
        return { accepted, known, rejected, rest: items.slice(index).map((item) => item.mark) };
      }
      if (ready.full && whenFull !== 'drop-oldest') {
        // Not made into a run: the next scan finds the file again.
        this.#rejectedReady++;
        rejected++;
        continue;
      }
      this.#makeRoom();
      const dueAtMs = this.#options.nowMs();
      const run = this.#create({ task, id, origin: 'each', dueAtMs, input, mark });
      accepted++;
      this.#options.onReady(run);
    }
    return { accepted, known, rejected, rest: [] };
  }

  #heldOf(task: TaskState): LinkedList<Run> {
    let held = this.#heldBy.get(task);
    if (held === undefined) {
      held = new LinkedList<Run>();
      this.#heldBy.set(task, held);
    }
    return held;
  }

  #create(newcomer: Newcomer): Run {
    const run = new Run({ ...newcomer, createdAtMs: this.#options.nowMs() });
    this.#options.onNew(run);
    return run;
  }

  #findRoom(run: Run): Run | ColibriError {
    const { ready, whenFull } = this.#options;
    if (!ready.full && this.#waiting.length === 0) {
      this.#options.onReady(run);
      return run;
    }
    switch (whenFull) {
      case 'block':
        if (this.#delayedFull) return this.#refuseDelayed(run);
        this.#waiting.push(run);
        return run;
      case 'drop-oldest':
        this.#makeRoom();
        this.#options.onReady(run);
        return run;
      case 'reject':
      case 'drop-newest': {
        this.#rejectedReady++;
        const error = ready.heavy
          ? heavyError('ready', ready.depth, this.#options.bytes.accepted)
          : new ColibriError(
              'queue-full',
              `expected room in the ready queue, got ${ready.depth} of ${ready.capacity} in use`,
            );
        this.#options.onSkip(run, error);
        return error;
      }
    }
  }

  get #delayedFull(): boolean {
    const { delayedCapacity, delayedMaxBytes, bytes } = this.#options;
    return this.delayed >= delayedCapacity || (this.delayed > 0 && bytes.waiting > delayedMaxBytes);
  }

  #refuseDelayed(run: Run): ColibriError {
    this.#rejectedDelayed++;
    const error = this.#delayedError();
    this.#options.onSkip(run, error);
    return error;
  }

  #delayedError(): ColibriError {
    const { delayedCapacity, bytes } = this.#options;
    if (this.delayed < delayedCapacity) return heavyError('delayed', this.delayed, bytes.waiting);
    return new ColibriError(
      'queue-full',
      `expected room in the delayed queue, got ${this.delayed} of ${delayedCapacity} in use; raise queues.delayed.capacity`,
    );
  }

  /** Drops the oldest until there is a place: who waited for one of them may have taken it first. */
  #makeRoom(): void {
    const { ready, onSkip } = this.#options;
    while (ready.full) {
      const victim = ready.oldest();
      if (victim === null) return;
      this.#rejectedReady++;
      onSkip(victim, new ColibriError('queue-full', 'dropped from the full ready queue for a newer run'));
    }
  }
}

function heavyError(queue: 'ready' | 'delayed', depth: number, bytes: number): ColibriError {
  const held = `${depth} runs in it and ${(bytes / 2 ** 20).toFixed(1)} MB of runs`;
  return new ColibriError(
    'queue-full',
    `expected room in the ${queue} queue, got ${held}; send paths in place of data, or raise memory.budget_mb`,
  );
}
