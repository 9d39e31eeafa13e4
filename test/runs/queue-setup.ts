/** A ready queue alone, with runs made for it. */
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { Bounds } from '../../src/actors/runs/bounds.ts';
import { FlowMeter } from '../../src/actors/runs/flow-meter.ts';
import { ReadyQueue, type ReadyQueueOptions } from '../../src/actors/runs/ready-queue.ts';
import { Run } from '../../src/actors/runs/run.ts';
import { type RunsTask, TaskState } from '../../src/actors/runs/task-state.ts';
import { taskSpec } from './runs-setup.ts';

export const NO_BOUNDS: Bounds = { concurrency: null, groups: {}, ageingMs: 60_000 };

/** Its key is `payload.key`. */
export const byKey = (concurrency: number) => ({
  concurrency,
  keyOf: (input: string): string => String((JSON.parse(input) as { key?: unknown }).key),
});

export interface QueueSetup {
  readonly clock: TestClock;
  readonly queue: ReadyQueue;
  /** How often a bound had room again by time alone. */
  readonly rooms: () => number;
  /** A new run, pushed. */
  push(task: TaskState, key?: string, priority?: number | null): Run;
}

export function queueSetup(bounds: Partial<Bounds>, options: Partial<ReadyQueueOptions> = {}): QueueSetup {
  const clock = new TestClock();
  let rooms = 0;
  let runs = 0;
  const queue = new ReadyQueue({
    clock,
    capacity: 1_000_000,
    watermarks: { high: 0.9, low: 0.75 },
    bounds: { ...NO_BOUNDS, ...bounds },
    load: () => 0,
    flow: new FlowMeter(clock),
    onRoom: () => rooms++,
    onPressure: () => {},
    ...options,
  });
  return {
    clock,
    queue,
    rooms: () => rooms,
    push(task, key, priority = null) {
      const input = key === undefined ? null : JSON.stringify({ key });
      const id = `${task.spec.name}@${runs++}`;
      const limits = priority === null ? null : { ...task.spec, priority };
      const run = new Run({
        id,
        task,
        origin: 'manual',
        createdAtMs: 0,
        dueAtMs: 0,
        input,
        mark: null,
        limits,
      });
      queue.push(run);
      return run;
    },
  };
}

export const taskOf = (fields: Partial<RunsTask> & { name: string }): TaskState =>
  new TaskState(taskSpec(fields));
