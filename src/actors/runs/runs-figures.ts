/** What is counted of the runs and their queues, to look at. */
import type { BoundView, PressureView, QueueView } from '../views/runtime-view.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { FlowMeter } from './flow-meter.ts';
import type { Intake } from './intake.ts';
import type { Journal } from './journal.ts';
import { KEY_BYTES } from './key-lanes.ts';
import type { LaterRuns } from './later-runs.ts';
import { bytesByPlace, type LiveBytesByPlace } from './live-bytes.ts';
import type { ReadyQueue } from './ready-queue.ts';
import type { RetryQueue } from './retry-queue.ts';
import { isTerminal } from './run-states.ts';
import type { RunTable } from './run-table.ts';

export interface RunsFiguresOptions {
  readonly table: RunTable;
  readonly ready: ReadyQueue;
  readonly retries: RetryQueue;
  readonly dead: DeadLetters;
  readonly later: LaterRuns;
  readonly intake: Intake;
  readonly journal: Journal;
  readonly flow: FlowMeter;
}

/** What runs hold, bytes. */
export interface RunsBytes extends LiveBytesByPlace {
  readonly deadLetters: number;
  /** Lanes of keys. */
  readonly keys: number;
  /** Transitions without an answer, and the runs that ended with them. */
  readonly journal: number;
}

export class RunsFigures {
  readonly #options: RunsFiguresOptions;

  constructor(options: RunsFiguresOptions) {
    this.#options = options;
  }

  /** Runs that are not over; those that come again with their schedule do not count. */
  get unfinished(): number {
    const { table, later } = this.#options;
    let count = later.far;
    for (const run of table.runs) if (run.noted && !isTerminal(run.state)) count++;
    return count;
  }

  /** Some run only waits for a slot, and not for a bound that others or a rate keep shut. */
  get isOpen(): boolean {
    return this.#options.ready.isOpen;
  }

  /** Of the unfinished, those that are to begin later. */
  get later(): number {
    return this.#options.later.depth;
  }

  /** Runs whose task is not in the config. */
  get orphaned(): number {
    let count = 0;
    for (const run of this.#options.table.runs) if (run.state === 'orphaned' && run.task.gone) count++;
    return count;
  }

  /** What runs came and went lately. */
  get flow(): FlowMeter {
    return this.#options.flow;
  }

  /** Bytes that the runs hold; walks through all of them. */
  heldBytes(): RunsBytes {
    const { table, ready, dead, journal } = this.#options;
    return {
      ...bytesByPlace(table.runs),
      deadLetters: dead.bytes,
      keys: ready.keys * KEY_BYTES,
      journal: journal.bytes,
    };
  }

  /** What the bounds of the config count and hold back. */
  bounds(): BoundView[] {
    return this.#options.ready.view();
  }

  /** Queues whose sources wait while they are too full. */
  pressures(): PressureView[] {
    const { ready, retries, journal } = this.#options;
    return [
      { queue: 'ready', isHigh: ready.pressure.isHigh, rises: ready.pressure.rises },
      { queue: 'retry', isHigh: retries.pressure.isHigh, rises: retries.pressure.rises },
      { queue: 'journal', isHigh: journal.blocked, rises: journal.blocks },
    ];
  }

  queues(): QueueView[] {
    const { ready, retries, dead, intake } = this.#options;
    const { depth, capacity } = ready;
    return [
      { name: 'ready', depth, capacity, rejected: intake.rejectedReady },
      { name: 'delayed', depth: intake.delayed, capacity: intake.capacity, rejected: intake.rejectedDelayed },
      { name: 'retry', ...retries.view() },
      { name: 'dead-letter', ...dead.view() },
    ];
  }
}
