/** From the config's tasks to what the runs and the scheduler need of them. Pure. */
import type { RunsTask, TaskBounds } from '../actors/runs/index.ts';
import { keyReader } from './concurrency-key.ts';
import type { FlowSpec, TaskSpec } from './config/index.ts';
import { scheduleText } from './schedule/index.ts';

export function runsTask(spec: TaskSpec): RunsTask {
  return {
    name: spec.name,
    kind: spec.kind,
    handler: spec.handler,
    pool: spec.pool,
    withJson: JSON.stringify(spec.with),
    scanJson: spec.each === null ? null : JSON.stringify(spec.each),
    scheduleText: scheduleText(spec.schedule),
    overlap: spec.overlap,
    timeoutMs: spec.timeoutMs,
    maxRetry: spec.maxRetry,
    backoff: spec.backoff,
    onInterrupted: spec.onInterrupted,
    group: spec.group,
    priority: spec.priority,
    ...(spec.bounds === null ? {} : { bounds: boundsOf(spec.bounds) }),
  };
}

function boundsOf({ concurrency, key }: NonNullable<TaskSpec['bounds']>): TaskBounds {
  return {
    concurrency,
    key: key === null ? null : { concurrency: key.concurrency, keyOf: keyReader(key.parts) },
  };
}

/** Its runs come, wait and end as those of a task; what they do meanwhile is the business of the flows. */
export function flowTask(spec: FlowSpec): RunsTask {
  return {
    name: spec.name,
    kind: 'flow',
    handler: '',
    pool: 'flow',
    withJson: '{}',
    scanJson: null,
    scheduleText: scheduleText(spec.schedule),
    overlap: spec.overlap,
    timeoutMs: spec.timeoutMs ?? 0,
    maxRetry: 0,
    backoff: { kind: 'scaled', baseMs: 0, capMs: 0 },
    onInterrupted: 'rerun',
    group: null,
    priority: spec.priority,
  };
}
