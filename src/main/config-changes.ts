/** What differs between two configs, named as a person wrote it. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config/index.ts';

/** Names of the file for those of `Config` that are not the same in another case. */
const KEYS: Readonly<Record<string, string>> = {
  graceMs: 'grace_seconds',
  resultTtlMs: 'result_ttl_hours',
  maxBytes: 'max_mb',
  budgetBytes: 'budget_mb',
  idleMs: 'idle_seconds',
  sizing: 'slots',
  modules: 'handlers',
  metrics: 'metrics.listen',
  ageingMs: 'ageing_seconds',
  high: 'high_water',
  low: 'low_water',
};

/**
 * One text a change: `task hash added`, `task hash removed`, `task hash changed`, `queues.ready.capacity changed`.
 * Flows as tasks. The order of both, and of keys, is no difference.
 */
export function configChanges(before: Config, after: Config): string[] {
  const { tasks: _before, flows: _flows, ...old } = before;
  const { tasks: _after, flows: _later, ...fresh } = after;
  const keys = new Set<string>();
  collectKeys(old, fresh, '', keys);
  return [
    ...[...keys].map((key) => `${key} changed`),
    ...entryChanges('task', before.tasks, after.tasks),
    ...entryChanges('flow', before.flows, after.flows),
  ];
}

/** `config` with all that a running daemon can take up as it is in `other`. */
export function withBoundsOf(config: Config, other: Config): Config {
  const { version, concurrency, groups } = other;
  const { ageingMs } = other.queues.ready;
  const tasks = new Map(other.tasks.map((task) => [task.name, task]));
  return {
    ...config,
    version,
    concurrency,
    groups,
    queues: { ...config.queues, ready: { ...config.queues.ready, ageingMs } },
    tasks: config.tasks.map((task) => {
      const { group, bounds, priority } = tasks.get(task.name) ?? task;
      return { ...task, group, bounds, priority };
    }),
  };
}

interface Entry {
  readonly name: string;
}

function entryChanges(kind: 'task' | 'flow', before: readonly Entry[], after: readonly Entry[]): string[] {
  const left = new Map(before.map((task) => [task.name, task]));
  const changes: string[] = [];
  for (const task of after) {
    const old = left.get(task.name);
    left.delete(task.name);
    if (old === undefined) changes.push(`${kind} ${task.name} added`);
    else if (!isDeepStrictEqual(old, task)) changes.push(`${kind} ${task.name} changed`);
  }
  for (const name of left.keys()) changes.push(`${kind} ${name} removed`);
  return changes;
}

function collectKeys(before: unknown, after: unknown, path: string, keys: Set<string>): void {
  if (isDeepStrictEqual(before, after)) return;
  if (!isSection(before) || !isSection(after)) {
    keys.add(path);
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    collectKeys(before[name], after[name], pathOf(path, name), keys);
  }
}

function pathOf(path: string, name: string): string {
  // One key of the file for host and port, as for a rate; two keys beside what is made of them.
  if (path === KEYS.metrics || /^groups\..*\.rate$/.test(path) || name === 'rates' || name === 'watermarks')
    return path;
  const key =
    path === 'groups' ? name : (KEYS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return path === '' ? key : `${path}.${key}`;
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
