/**
 * A tree of plain data in the shape of the config file → `Config`. All or nothing: every problem is found,
 * then either all of them are thrown or a whole config is given.
 */

import { resolve } from 'node:path';
import { checkSchema, describeValue, withDefaults } from '../../actors/kernel/check-schema.ts';
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import type { Config } from './config.ts';
import { ProblemList, placesInOptions } from './places.ts';
import type { Problem } from './problem.ts';
import type { RawConfig } from './raw-config.ts';
import { copyTree, isObject, type RawObject, removeAt } from './raw-tree.ts';
import { resolveGroups } from './resolve-concurrency.ts';
import { resolveFlows } from './resolve-flows.ts';
import { type ResolveOptions, ResolveScope } from './resolve-scope.ts';
import {
  resolveCpuPool,
  resolveIoPool,
  resolveMetrics,
  resolveModules,
  resolveReadyQueue,
} from './resolve-sections.ts';
import { PRODUCT_DEFAULTS, resolveShared } from './resolve-shared.ts';
import { resolveTasks } from './resolve-task.ts';
import { configSchema } from './schema.ts';
import { checkShortForms, expandShortForms } from './short-forms.ts';
import { withRemedy } from './with-remedy.ts';

export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly Problem[];
  /** The same text means the same on the same machine: it has no `handlers`, whose modules come and go. */
  readonly selfContained: boolean;
}

const MB = 1024 * 1024;

/**
 * For configs made in code: a plain object with the keys of the file. It is not changed. Throws
 * `ConfigInvalid`, whose problems have no line but name the path.
 */
export function resolveConfig(raw: unknown, options: ResolveOptions): LoadedConfig {
  const problems = new ProblemList(placesInOptions);
  const tree = copyTree(raw ?? {});
  if (!isObject(tree)) {
    problems.add([], `expected an object of options, got ${describeValue(tree)}`);
    problems.throwIfAny();
  }
  const root = isObject(tree) ? tree : {};
  problems.nameEntries(root);
  checkShortForms(root, problems);
  expandShortForms(root);
  return resolveTree(root, problems, options);
}

/** The last part of every load. `tree` is the caller's own copy, short forms expanded; it is changed. */
export function resolveTree(tree: RawObject, problems: ProblemList, options: ResolveOptions): LoadedConfig {
  dropEmptySections(configSchema, tree);
  for (const problem of checkSchema(configSchema, tree)) {
    const message = withRemedy(problem, configSchema, options.added);
    problems.add(problem.path, message, problem.onKey ? 'key' : 'value');
    // What does not fit is taken away, so that everything else is still checked and can be relied on.
    if (problem.missing !== true) removeAt(tree, problem.path);
  }
  const scope = new ResolveScope(options, problems, tree);
  const raw = withDefaults(configSchema, tree) as RawConfig;
  const config = toConfig(raw, scope);
  problems.throwIfAny();
  warnOfSchedules(config, scope);
  return { config, warnings: problems.warnings, selfContained: raw.handlers.length === 0 };
}

/** Only of a config without problems: then its tasks and flows are those that were written, one by one. */
function warnOfSchedules({ tasks, flows }: Config, { options, problems }: ResolveScope): void {
  const all = [...tasks, ...flows];
  for (const { task, key, message } of options.warnOfSchedules?.(all) ?? []) {
    const kind = all[task]?.schedule?.kind;
    const place = task < tasks.length ? ['tasks', task] : ['flows', task - tasks.length];
    problems.warn([...place, key ?? (kind === 'every' || kind === 'at' ? kind : 'schedule')], message);
  }
}

function toConfig(raw: RawConfig, scope: ResolveScope): Config {
  const { directory, file = null } = scope.options;
  const modules = resolveModules(raw.handlers, scope);
  const { retention, queues, log } = raw;
  const defaults = resolveShared(raw.defaults, PRODUCT_DEFAULTS, ['defaults'], scope);
  const tasks = resolveTasks(raw, { defaults, modules, scope });
  return {
    file,
    directory,
    version: raw.version,
    stateDir: resolve(directory, raw.state_dir),
    memory: { budgetBytes: raw.memory.budget_mb * MB },
    shutdown: { graceMs: Math.round(raw.shutdown.grace_seconds * 1000) },
    store: raw.store,
    retention: {
      runs: retention.runs,
      results: retention.results,
      resultTtlMs: Math.round(retention.result_ttl_hours * 3_600_000),
      maxBytes: Math.round(retention.max_mb * MB),
      resultFilesBytes: Math.round(retention.result_files_mb * MB),
    },
    pools: { cpu: resolveCpuPool(raw.pools.cpu, scope), io: resolveIoPool(raw.pools.io, scope) },
    queues: {
      ready: resolveReadyQueue(queues.ready, scope),
      delayed: { capacity: queues.delayed.capacity },
      retry: { capacity: queues.retry.capacity },
      deadLetter: {
        capacity: Math.min(queues.dead_letter.capacity, retention.dead_letters),
        whenFull: queues.dead_letter.when_full,
      },
    },
    concurrency: raw.concurrency ?? null,
    groups: resolveGroups(raw.groups, scope),
    metrics: resolveMetrics(raw.metrics, scope),
    log: {
      level: log.level,
      file: log.file === null ? null : resolve(directory, log.file),
      maxBytes: Math.round(log.max_mb * MB),
      keepDays: log.keep_days,
    },
    modules: [...modules].map(([name, file]) => ({ name, file })),
    tasks,
    flows: resolveFlows(raw, { defaults, tasks, scope }),
  };
}

/** A section whose lines are all commented out is null in YAML; it means that nothing is said. */
function dropEmptySections(schema: JsonSchema, value: unknown): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) dropEmptySections(schema.items, item);
    return;
  }
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const inner = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    if (inner === undefined) continue;
    if (value[key] === null && (inner.type === 'object' || inner.type === 'array')) delete value[key];
    else dropEmptySections(inner, value[key]);
  }
}
