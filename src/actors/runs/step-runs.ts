/**
 * The runs of steps, for whoever has the flows: made here, found, cancelled. Their flow was accepted, so they are never refused;
 * but while the ready queue is full only a few of them are let in beside it, so that flows come to an end and what stands in
 * the queue gets its turn.
 */
import type { Clock } from '../kernel/clock.ts';
import { ColibriError } from '../kernel/errors.ts';
import type { Answer } from '../kernel/index.ts';
import type { RerunChoice } from '../protocol.ts';
import type { FlowView } from '../views/run-view.ts';
import type { Journal } from './journal.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { PoolDoor } from './pool-door.ts';
import type { ReadyQueue } from './ready-queue.ts';
import { Run } from './run.ts';
import { isTerminal } from './run-states.ts';
import type { RunTable } from './run-table.ts';
import type { StepLimits } from './task-state.ts';

/** Whoever has the flows. */
export interface FlowSeat {
  /** The run of a step has begun, is over, or waits for its task to come back. No run is to be changed within the call. */
  onStep(run: FlowedRun): void;
  /** What the step of this run says in place of its task. */
  limitsOf(run: string, flow: string): StepLimits | null;
}

/** What users ask of flows. */
export interface FlowQuestions {
  /** Rejects with `no-such-run`. */
  show(run: string): Promise<FlowView>;
  /** Answered as a trigger, and with `no-such-run`, `rerun-refused`, `usage`. */
  rerun(body: { readonly run: string; readonly choice: RerunChoice }, answer: Answer): Promise<void>;
}

/** A run as the flow looks at it. */
export type FlowedRun = Pick<
  Run,
  'id' | 'flow' | 'state' | 'attempt' | 'createdAtMs' | 'dueAtMs' | 'past' | 'note' | 'effectiveInput'
>;

export interface StepStart {
  readonly flow: string;
  /** Follows from flow run, step and item. */
  readonly id: string;
  readonly task: string;
  /** JSON text laid over the task's `with`; null: nothing. */
  readonly input: string | null;
  readonly limits: StepLimits | null;
}

export interface StepRunsOptions {
  readonly clock: Clock;
  readonly table: RunTable;
  readonly journal: Journal;
  readonly lifecycle: Lifecycle;
  readonly ready: ReadyQueue;
  readonly door: PoolDoor;
  readonly isClosed: () => boolean;
  readonly cancel: (run: Run) => void;
}

/** Runs of steps that are let in although the ready queue is full. */
export const STEPS_BESIDE = 32;

export class StepRuns {
  readonly #options: StepRunsOptions;

  constructor(options: StepRunsOptions) {
    this.#options = options;
  }

  /** Whether one more may be made. Where not, the pools are woken when there is room. */
  get hasRoom(): boolean {
    const { isClosed, journal, lifecycle, ready } = this.#options;
    if (isClosed() || journal.blocked) return false;
    return !ready.full || lifecycle.steps < STEPS_BESIDE;
  }

  /** Makes the run; without effect where it is there. Throws `no-such-task`. */
  start({ flow, id, task, input, limits }: StepStart): void {
    const { clock, table, lifecycle, ready, door } = this.#options;
    if (table.has(id)) return;
    const atMs = clock.wallMs();
    const run = new Run({
      id,
      task: table.task(task),
      origin: 'flow',
      createdAtMs: atMs,
      dueAtMs: atMs,
      input,
      mark: null,
      flow,
      limits,
    });
    table.add(run);
    lifecycle.created(run);
    lifecycle.ready(run);
    ready.push(run);
    door.poolOf(run)?.wake();
  }

  /** Null: it is not in memory, and if there is one the store has its end. */
  find(id: string): FlowedRun | null {
    return this.#options.table.get(id) ?? null;
  }

  /** False: there is no such run, or it is over. */
  cancel(id: string): boolean {
    const run = this.#options.table.get(id);
    if (run === undefined || isTerminal(run.state)) return false;
    this.#options.cancel(run);
    return true;
  }

  /** What the run of a flow keeps of itself: in the journal before all that follows from it. */
  note(flow: string, note: string): void {
    const run = this.#options.table.get(flow);
    if (run === undefined || isTerminal(run.state)) {
      throw new ColibriError('internal', `expected a live run of a flow, got ${flow}`);
    }
    this.#options.lifecycle.noted(run, note);
  }
}
