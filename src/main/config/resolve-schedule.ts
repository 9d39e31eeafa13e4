/** `schedule`, `every` or `at` of a task, and its bounds → when it runs by itself. */
import { describeValue, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import { parseDuration, parseInstant } from '../../actors/kernel/parse-time.ts';
import type { DstPolicy, ScheduleBounds, ScheduleSpec } from './config.ts';
import type { RawSchedule } from './raw-config.ts';
import { refuseBounds, resolveBounds } from './resolve-bounds.ts';
import type { ResolveScope } from './resolve-scope.ts';
import { MAX_SECONDS } from './schema-parts.ts';

/** Timers fire up to about a millisecond early or late: below this an interval is mostly that error. */
export const MIN_EVERY_MS = 10;

/** Whose clocks a cron expression goes by, and how it takes their changes. */
interface LocalTime {
  readonly timeZone: string | null;
  readonly dst: DstPolicy;
}

const WAYS = ['schedule', 'every', 'at'] as const;

/** Null: the task runs on trigger only, or what is written is a problem. */
export function resolveSchedule(
  task: RawSchedule,
  local: LocalTime,
  path: SchemaPath,
  scope: ResolveScope,
): ScheduleSpec | null {
  const written = WAYS.filter((way) => task[way] !== undefined);
  for (const way of written.slice(1)) {
    const message = `expected one of schedule, every and at, got ${written.join(' and ')}; remove all but one`;
    scope.problems.add([...path, way], message, 'key');
  }
  if (written.length === 0) refuseBounds(task, path, scope);
  let spec: ScheduleSpec | null = null;
  if (task.at !== undefined) spec = resolveAt(task.at, [...path, 'at'], scope);
  if (task.every !== undefined) spec = resolveEvery(task.every, [...path, 'every'], scope);
  if (task.schedule !== undefined) spec = resolveCron(task.schedule, local, [...path, 'schedule'], scope);
  if (spec === null) return null;
  const bounds = resolveBounds(task, { timeZone: local.timeZone, path, scope });
  if (spec.kind === 'at' && bounds !== null) checkWithin(spec.atMs, { task, bounds, path, scope });
  return bounds === null ? spec : { ...spec, bounds };
}

function resolveCron(
  expression: string,
  { timeZone, dst }: LocalTime,
  path: SchemaPath,
  scope: ResolveScope,
): ScheduleSpec | null {
  const parsed = scope.cron(expression);
  if ('problem' in parsed) {
    scope.problems.add(path, parsed.problem);
    return null;
  }
  return { kind: 'cron', expression: expression.trim(), timeZone, dst, fields: parsed.fields };
}

function resolveEvery(every: string | number, path: SchemaPath, scope: ResolveScope): ScheduleSpec | null {
  const everyMs = typeof every === 'number' ? toMicroseconds(every * 1000) : parseDuration(every);
  const got = describeValue(every);
  if (everyMs === null) {
    scope.problems.add(
      path,
      `expected a duration such as 500ms, 5s, 1m30s or 2h, or a number of seconds, got ${got}`,
    );
    return null;
  }
  if (everyMs <= 0) {
    scope.problems.add(path, `expected an interval above 0, got ${got}; write one such as 5s or 1m30s`);
    return null;
  }
  if (everyMs < MIN_EVERY_MS) {
    const why = 'timers are late or early by about a millisecond';
    scope.problems.add(path, `expected an interval of at least ${MIN_EVERY_MS}ms (${why}), got ${got}`);
    return null;
  }
  if (everyMs > MAX_SECONDS * 1000) {
    scope.problems.add(path, `expected an interval of at most ten years, got ${got}`);
    return null;
  }
  const wholeMs = Math.floor(everyMs);
  if (wholeMs !== everyMs) {
    const remedy = `write ${wholeMs}ms or ${wholeMs + 1}ms`;
    scope.problems.add(path, `expected a whole number of milliseconds, got ${got}; ${remedy}`);
    return null;
  }
  return { kind: 'every', everyMs };
}

/** 1.1 × 1000 is not a whole number in binary. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

interface Within {
  readonly task: RawSchedule;
  readonly bounds: ScheduleBounds;
  readonly path: SchemaPath;
  readonly scope: ResolveScope;
}

/** One instant outside of its own bounds never comes, whatever the time is: nobody can mean that. */
function checkWithin(atMs: number, { task, bounds, path, scope }: Within): void {
  const { startAtMs, stopAtMs } = bounds;
  const add = (wanted: string, bound: 'start_at' | 'stop_at') => {
    const message = `expected an instant ${wanted} ${bound}, which is ${describeValue(task[bound])}, got ${describeValue(task.at)}; set one of them anew, or remove ${bound}`;
    scope.problems.add([...path, 'at'], message);
  };
  if (startAtMs !== null && atMs < startAtMs) add('from', 'start_at');
  else if (stopAtMs !== null && atMs >= stopAtMs) add('before', 'stop_at');
}

function resolveAt(at: string, path: SchemaPath, scope: ResolveScope): ScheduleSpec | null {
  const parsed = parseInstant(at);
  if ('problem' in parsed) {
    scope.problems.add(path, `expected ${parsed.problem}, got ${describeValue(at)}`);
    return null;
  }
  const { nowMs } = scope.options;
  if (nowMs !== undefined && parsed.atMs < nowMs) {
    const got = describeValue(at);
    const message = `expected an instant to come, got ${got}, which has passed: it runs only if the daemon missed it`;
    scope.problems.warn(path, message);
  }
  return { kind: 'at', atMs: parsed.atMs };
}
