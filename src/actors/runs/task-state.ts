/** A task as the owner of the runs knows it, with what it counts of its runs. */
import type { PoolName } from '../execution.ts';
import type { TaskKind } from '../views/runtime-view.ts';
import type { BackoffPolicy } from './backoff.ts';
import type { TaskBounds } from './bounds.ts';
import type { OverlapPolicy } from './policies.ts';
import type { RunState } from './run-states.ts';

/** What runs need to know of a task; or of a flow, whose runs come, wait and end as those of a task do. */
export interface RunsTask {
  readonly name: string;
  readonly kind: TaskKind;
  readonly handler: string;
  readonly pool: PoolName;
  /** The task's `with`, as JSON text of an object. */
  readonly withJson: string;
  /** Set where a due task looks for files and makes one run of each: the input of the scan, as JSON text. */
  readonly scanJson: string | null;
  /** As a person wrote it; null: runs on trigger only. */
  readonly scheduleText: string | null;
  readonly overlap: OverlapPolicy;
  readonly timeoutMs: number;
  readonly maxRetry: number;
  readonly backoff: BackoffPolicy;
  readonly onInterrupted: 'rerun' | 'skip' | 'ask';
  readonly group: string | null;
  readonly priority: number;
  /** Left out: none of its own. */
  readonly bounds?: TaskBounds;
}

/** What a step of a flow says in place of its task. */
export interface StepLimits {
  readonly timeoutMs: number;
  readonly maxRetry: number;
  readonly backoff: BackoffPolicy;
  /** Null: that of the task, also when a reload changes it. */
  readonly priority: number | null;
}

export class TaskState {
  /** Replaced when a reload changes the bounds of the task. */
  spec: RunsTask;
  /** True for one that is not in the config: runs of it are kept, and do not run. */
  readonly gone: boolean;
  /** Runs that overlap is judged by: all that are not over, without the runs of single files. */
  live = 0;
  /** Those of them that belong to a catch-up. */
  catchUps = 0;
  /** Runs on a slot. */
  active = 0;
  /** Runs not on a slot and not over. */
  queued = 0;
  lastState: RunState | null = null;
  lastEndedAtMs: number | null = null;

  constructor(spec: RunsTask, gone = false) {
    this.spec = spec;
    this.gone = gone;
  }
}

/** Stands for a task of which only the name is known. */
export function goneTask(name: string): TaskState {
  const spec: RunsTask = {
    name,
    kind: 'io',
    handler: '',
    pool: 'io',
    withJson: '{}',
    scanJson: null,
    scheduleText: null,
    overlap: 'allow',
    timeoutMs: 0,
    maxRetry: 0,
    backoff: { kind: 'scaled', baseMs: 0, capMs: 0 },
    onInterrupted: 'rerun',
    group: null,
    priority: 0,
  };
  return new TaskState(spec, true);
}
