/** A `Runs` with a clock, a store that acknowledges, and pools that do what a test tells them. */

import type { WallWatch } from '../../src/actors/delay/index.ts';
import type { ExecuteOrder, Outcome, Pool, PoolName, WorkSource } from '../../src/actors/execution.ts';
import type { Answer } from '../../src/actors/kernel/index.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { RecordBatch, RunEvent } from '../../src/actors/records.ts';
import { Runs, type RunsByteLimits, type RunsOptions, type RunsTask } from '../../src/actors/runs/index.ts';

export function taskSpec(fields: Partial<RunsTask> & { name: string }): RunsTask {
  return {
    kind: 'io',
    handler: 'noop',
    pool: 'io',
    withJson: '{}',
    scanJson: null,
    scheduleText: null,
    overlap: 'allow',
    timeoutMs: 1000,
    maxRetry: 0,
    backoff: { kind: 'scaled', baseMs: 1000, capMs: 60_000 },
    onInterrupted: 'rerun',
    group: null,
    priority: 0,
    ...fields,
  };
}

/** Holds what it takes until the test gives the outcome. */
export class FakePool implements Pool {
  readonly name: PoolName;
  slots: number;
  readonly held = new Map<string, ExecuteOrder>();
  readonly taken: ExecuteOrder[] = [];
  readonly aborted: string[] = [];
  readonly #source: WorkSource;

  constructor(name: PoolName, slots: number, source: WorkSource) {
    this.name = name;
    this.slots = slots;
    this.#source = source;
  }

  get active(): number {
    return this.held.size;
  }

  wake(): void {
    while (this.held.size < this.slots && this.#source.peekTask() !== undefined) {
      const order = this.#source.take()!;
      this.held.set(order.run, order);
      this.taken.push(order);
    }
  }

  abort(run: string): boolean {
    this.aborted.push(run);
    return this.held.has(run);
  }

  async drain(): Promise<void> {}
  async destroy(): Promise<void> {}
}

export class FakeAnswer implements Answer {
  value: unknown;
  error: unknown;
  settled = false;

  ok(value: unknown): void {
    this.value = value;
    this.settled = true;
  }

  fail(error: unknown): void {
    this.error = error;
    this.settled = true;
  }
}

export interface Setup {
  readonly clock: TestClock;
  readonly runs: Runs;
  readonly pool: FakePool;
  readonly events: RunEvent[];
  /** Gives the outcome of a run that the pool holds. */
  finish(run: string, outcome?: Partial<Outcome>): void;
  trigger(
    task: string,
    options?: { force?: boolean; wait?: boolean; payload?: string; dueAtMs?: number },
  ): FakeAnswer;
  depth(queue: 'ready' | 'delayed' | 'retry' | 'dead-letter'): number;
  rejected(queue: 'ready' | 'delayed' | 'retry' | 'dead-letter'): number;
  /** States that the store was told of a run, in order. */
  states(run: string): string[];
  /** Lets the journal send and the store answer. */
  settle(): Promise<void>;
}

export function setup(
  tasks: readonly RunsTask[],
  options: {
    /** Default: one of its own. */
    clock?: TestClock;
    watch?: WallWatch;
    slots?: number;
    acknowledge?: boolean;
    queues?: Partial<RunsOptions['queues']>;
    byteLimits?: RunsByteLimits;
    durable?: boolean;
    groups?: RunsOptions['groups'];
    bounds?: RunsOptions['bounds'];
    onPressure?: RunsOptions['onPressure'];
    far?: RunsOptions['far'];
    random?: () => number;
    onBatch?: (events: readonly RunEvent[]) => void;
    onRecord?: (batch: RecordBatch) => void;
  } = {},
): Setup {
  const { clock = new TestClock() } = options;
  const events: RunEvent[] = [];
  const runs: Runs = new Runs({
    clock,
    ...(options.watch === undefined ? {} : { watch: options.watch }),
    random: options.random ?? (() => 0.5),
    tasks,
    groups: options.groups ?? {},
    ...(options.bounds === undefined ? {} : { bounds: options.bounds }),
    ...(options.onPressure === undefined ? {} : { onPressure: options.onPressure }),
    queues: {
      ready: { capacity: 100, whenFull: 'block' },
      delayed: { capacity: 100 },
      retry: { capacity: 100 },
      deadLetter: { capacity: 100, whenFull: 'drop-oldest' },
      ...options.queues,
    },
    ...(options.byteLimits === undefined ? {} : { byteLimits: options.byteLimits }),
    ...(options.durable === undefined ? {} : { durable: options.durable }),
    ...(options.far === undefined ? {} : { far: options.far }),
    record: (batch) => {
      options.onBatch?.(batch.events);
      options.onRecord?.(batch);
      events.push(...batch.events.map((event) => ({ ...event })));
      const last = batch.first + batch.events.length - 1;
      if (options.acknowledge !== false) queueMicrotask(() => runs.journal.recorded(last));
      return true;
    },
    warn: () => {},
  });
  const pool = new FakePool('io', options.slots ?? 2, runs.source('io'));
  runs.attachPool(pool);
  const queue = (name: string) => runs.figures.queues().find((view) => view.name === name)!;
  return {
    clock,
    runs,
    pool,
    events,
    finish(run, outcome) {
      const order = pool.held.get(run);
      if (order === undefined) throw new Error(`the pool does not hold ${run}`);
      pool.held.delete(run);
      runs.outcome({
        run,
        attempt: order.attempt,
        status: 'success',
        result: null,
        error: null,
        durationMs: 1,
        retryable: true,
        ...outcome,
      });
    },
    trigger(task, more = {}) {
      const answer = new FakeAnswer();
      runs.trigger(
        {
          task,
          payload: more.payload ?? null,
          force: more.force ?? false,
          wait: more.wait ?? false,
          dueAtMs: more.dueAtMs ?? null,
        },
        answer,
      );
      return answer;
    },
    depth: (name) => queue(name).depth,
    rejected: (name) => queue(name).rejected,
    states: (run) => events.filter((event) => event.run === run).map((event) => event.state),
    settle: () => clock.advance(0),
  };
}
