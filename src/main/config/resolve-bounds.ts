/** `start_at`, `stop_at` and `exclude` of a task → which instants of its schedule count. */
import { describeValue, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import { parseInstant, parseLocalDate } from '../../actors/kernel/parse-time.ts';
import type { DateRange, ScheduleBounds } from './config.ts';
import type { RawSchedule } from './raw-config.ts';
import type { ResolveScope } from './resolve-scope.ts';

const KEYS = ['start_at', 'stop_at', 'exclude'] as const;

export interface BoundsOf {
  /** Of the task; null: the machine's. */
  readonly timeZone: string | null;
  readonly path: SchemaPath;
  readonly scope: ResolveScope;
}

/** Of a task that has a schedule. Null: all of them. */
export function resolveBounds(task: RawSchedule, { timeZone, path, scope }: BoundsOf): ScheduleBounds | null {
  const startAtMs = resolveInstant(task.start_at, [...path, 'start_at'], scope);
  const stopAtMs = resolveInstant(task.stop_at, [...path, 'stop_at'], scope);
  const exclude = resolveExclude(task.exclude ?? [], [...path, 'exclude'], scope);
  if (stopAtMs !== null) checkStop(task, { startAtMs, stopAtMs, path: [...path, 'stop_at'] }, scope);
  if (startAtMs === null && stopAtMs === null && exclude.length === 0) return null;
  return { startAtMs, stopAtMs, exclude, timeZone };
}

/** Of a task that runs on trigger only: there is nothing that they could bound. */
export function refuseBounds(task: RawSchedule, path: SchemaPath, scope: ResolveScope): void {
  for (const key of KEYS) {
    if (task[key] === undefined) continue;
    const message = `expected ${key} beside one of schedule, every and at, got none of them; add one, or remove ${key}`;
    scope.problems.add([...path, key], message, 'key');
  }
}

function resolveInstant(text: string | undefined, path: SchemaPath, scope: ResolveScope): number | null {
  if (text === undefined) return null;
  const parsed = parseInstant(text);
  if ('atMs' in parsed) return parsed.atMs;
  scope.problems.add(path, `expected ${parsed.problem}, got ${describeValue(text)}`);
  return null;
}

interface Stop {
  readonly startAtMs: number | null;
  readonly stopAtMs: number;
  readonly path: SchemaPath;
}

function checkStop(task: RawSchedule, { startAtMs, stopAtMs, path }: Stop, scope: ResolveScope): void {
  const got = describeValue(task.stop_at);
  const { nowMs } = scope.options;
  if (startAtMs !== null && stopAtMs <= startAtMs) {
    const message = `expected an instant after start_at, which is ${describeValue(task.start_at)}, got ${got}; set one of them anew, or remove it`;
    scope.problems.add(path, message);
  } else if (nowMs !== undefined && stopAtMs <= nowMs) {
    const message = `expected an instant to come, got ${got}, which has passed: the task does not run by its schedule any more`;
    scope.problems.warn(path, message);
  }
}

/** In order, and joined where they touch. */
function resolveExclude(
  entries: readonly (string | undefined)[],
  path: SchemaPath,
  scope: ResolveScope,
): readonly DateRange[] {
  const ranges: DateRange[] = [];
  for (const [index, entry] of entries.entries()) {
    if (entry === undefined) continue;
    const range = parseRange(entry);
    if ('problem' in range) {
      scope.problems.add([...path, index], `expected ${range.problem}, got ${describeValue(entry)}`);
    } else ranges.push(range);
  }
  ranges.sort((a, b) => a.firstDay - b.firstDay);
  const joined: DateRange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last === undefined || range.firstDay > last.lastDay + 1) joined.push(range);
    else joined[joined.length - 1] = { ...last, lastDay: Math.max(last.lastDay, range.lastDay) };
  }
  return joined;
}

function parseRange(text: string): DateRange | { readonly problem: string } {
  const [first = '', last = first, ...more] = text.split('..');
  const firstDay = parseLocalDate(first);
  const lastDay = parseLocalDate(last);
  if (firstDay === null || lastDay === null || more.length > 0) {
    return { problem: 'a date that exists such as 2026-12-25, or a range such as 2026-12-24..2027-01-02' };
  }
  if (lastDay < firstDay) return { problem: 'a range whose first date is not after its last' };
  return { firstDay, lastDay };
}
