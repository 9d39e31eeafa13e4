/** `tasks:` → `TaskSpec`s, and the rules that hold between tasks and the rest of the config. */
import { describeValue, didYouMean } from '../../actors/kernel/check-schema.ts';
import type { TaskSpec } from './config.ts';
import { warnOfTemplates } from './literal-templates.ts';
import type { RawConfig, RawTask } from './raw-config.ts';
import { resolveTaskBounds, warnOfOverlap } from './resolve-concurrency.ts';
import { resolveHandler } from './resolve-handler.ts';
import { resolveSchedule } from './resolve-schedule.ts';
import type { ResolveScope } from './resolve-scope.ts';
import { resolveShared, type Shared } from './resolve-shared.ts';

export function resolveTasks(raw: RawConfig, around: TaskSurroundings): readonly TaskSpec[] {
  const { defaults, scope } = around;
  checkNames(raw, scope);
  const specs: TaskSpec[] = [];
  for (const [index, task] of raw.tasks.entries()) {
    if (task === undefined) continue;
    checkGroup(task, index, raw, scope);
    const spec = resolveTask(task, index, around);
    if (spec !== null) specs.push(spec);
  }
  checkLadder(raw, defaults, scope);
  return specs;
}

export interface TaskSurroundings {
  readonly defaults: Shared;
  readonly modules: ReadonlyMap<string, string>;
  readonly scope: ResolveScope;
}

function resolveTask(task: RawTask, index: number, around: TaskSurroundings): TaskSpec | null {
  const { scope, defaults, modules } = around;
  const path = ['tasks', index];
  const { timeZone, dst, ...shared } = resolveShared(task, defaults, path, scope);
  const schedule = resolveSchedule(task, { timeZone, dst }, path, scope);
  const handler = resolveHandler(task, modules, path, scope);
  const bounds = resolveTaskBounds(task, path, scope);
  warnOfOverlap(task, shared.overlap, { path, scope });
  warnOfTemplates(task.with, [...path, 'with'], scope);
  if (handler === null || task.name === undefined) return null;
  return {
    name: task.name,
    ...handler,
    schedule,
    ...shared,
    runOnStart: task.run_on_start,
    group: task.group ?? null,
    bounds,
  };
}

function checkNames(raw: RawConfig, scope: ResolveScope): void {
  const first = new Map<string, number>();
  for (const [index, task] of raw.tasks.entries()) {
    if (task?.name === undefined) continue;
    const before = first.get(task.name);
    if (before === undefined) {
      first.set(task.name, index);
      continue;
    }
    const where = scope.problems.where(['tasks', before, 'name']);
    const message = `expected a name that no other task has, got ${JSON.stringify(task.name)}, which is at ${where} too`;
    scope.problems.add(['tasks', index, 'name'], message);
  }
}

function checkGroup(task: RawTask, index: number, raw: RawConfig, scope: ResolveScope): void {
  if (task.group === undefined || Object.hasOwn(raw.groups, task.group)) return;
  const known = Object.keys(raw.groups);
  const remedy = didYouMean(task.group, known) || `; add it: groups: { ${task.group}: { concurrency: 10 } }`;
  scope.problems.add(
    ['tasks', index, 'group'],
    `expected a name listed under groups, got ${describeValue(task.group)}${remedy}`,
  );
}

/**
 * A run whose timeout is longer than the grace of a shutdown can be cut by it, and a store in memory forgets
 * it: legal, but seldom meant, so it is a warning, at the number that a user wrote. One
 * that all tasks inherit is said once. Nothing is said where neither number is written, or where the grace is
 * 0: then every run is meant to be cut.
 */
function checkLadder(raw: RawConfig, defaults: Shared, scope: ResolveScope): void {
  const grace = raw.shutdown.grace_seconds;
  if (grace === 0) return;
  const say = (path: (string | number)[], got: string) => {
    const message = `expected a timeout of at most shutdown.grace_seconds (${grace}), got ${got}: a longer run is cut at shutdown and begins anew at the next start; raise grace_seconds or lower the timeout`;
    scope.problems.warn(path, message);
  };
  let inherits = false;
  for (const [index, task] of raw.tasks.entries()) {
    if (task?.timeout_seconds === undefined) inherits ||= task !== undefined;
    else if (task.timeout_seconds > grace)
      say(['tasks', index, 'timeout_seconds'], String(task.timeout_seconds));
  }
  const inherited = defaults.timeoutMs / 1000;
  if (!inherits || inherited <= grace) return;
  if (raw.defaults.timeout_seconds !== undefined) say(['defaults', 'timeout_seconds'], String(inherited));
  else if (scope.isWritten(['shutdown', 'grace_seconds'])) {
    say(['shutdown', 'grace_seconds'], `the default of ${inherited} for defaults.timeout_seconds`);
  }
}
