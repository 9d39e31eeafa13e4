/** The handler of a task: which one it is, where it runs, and whether `with` and `each` fit it. */

import { resolve } from 'node:path';
import { PoolName } from '../../actors/execution.ts';
import {
  describeValue,
  didYouMean,
  type SchemaPath,
  withDefaults,
} from '../../actors/kernel/check-schema.ts';
import type { BuiltInHandler } from '../../workers/handler.ts';
import type { TaskSpec } from './config.ts';
import { findNotJson } from './not-json.ts';
import type { RawTask } from './raw-config.ts';
import { isObject } from './raw-tree.ts';
import type { ResolveScope } from './resolve-scope.ts';
import { splitGlob } from './split-glob.ts';

export type HandlerPart = Pick<TaskSpec, 'kind' | 'handler' | 'pool' | 'with' | 'each'>;

/** Null where the handler is not known: a problem, or missing and reported already. */
export function resolveHandler(
  task: RawTask,
  modules: ReadonlyMap<string, string>,
  path: SchemaPath,
  scope: ResolveScope,
): HandlerPart | null {
  const each = resolveEach(task, path, scope);
  const { handler } = task;
  if (handler === undefined) return null;
  const builtIn = scope.builtIn(handler);
  if (builtIn !== undefined) return { ...resolveBuiltIn(task, builtIn, path, scope), each };
  if (scope.options.functions?.has(handler) === true) {
    checkJson(task, path, scope);
    return { kind: 'io', handler, pool: PoolName.Inline, with: task.with, each };
  }
  if (modules.has(handler)) {
    checkJson(task, path, scope);
    const kind = task.kind ?? 'io';
    return { kind, handler, pool: kind === 'cpu' ? PoolName.Cpu : PoolName.Guest, with: task.with, each };
  }
  const known = [...scope.builtInNames, ...modules.keys()];
  const bare = handler.replace(/^.*\//, '').replace(/\.[cm]?[jt]s$/, '');
  const hint = known.includes(bare) ? `; did you mean ${JSON.stringify(bare)}?` : didYouMean(handler, known);
  const remedy = hint === '' ? `; built in are ${[...scope.builtInNames].join(', ')}` : hint;
  const message = `expected a built-in handler or the name of a module of handlers, got ${describeValue(handler)}${remedy}`;
  scope.problems.add([...path, 'handler'], message);
  return null;
}

function resolveBuiltIn(
  task: RawTask,
  builtIn: BuiltInHandler,
  path: SchemaPath,
  scope: ResolveScope,
): Omit<HandlerPart, 'each'> {
  const { name } = builtIn;
  const kinds = builtIn.kinds ?? [builtIn.kind];
  const kind = task.kind !== undefined && kinds.includes(task.kind) ? task.kind : builtIn.kind;
  if (task.kind !== undefined && task.kind !== kind) {
    const message = `expected ${kind}, which the built-in handler ${name} is, got ${task.kind}; remove the key`;
    scope.problems.add([...path, 'kind'], message);
  }
  const fits = scope.check(builtIn.inputSchema, task.with, [...path, 'with']);
  if (fits) {
    checkJson(task, path, scope);
    const problem = builtIn.checkInput?.(task.with) ?? null;
    if (problem !== null) scope.problems.add([...path, 'with', ...problem.key.split('.')], problem.message);
  }
  const starts = task.schedule ?? task.every ?? task.at ?? (task.run_on_start ? 'run_on_start' : undefined);
  if (builtIn.perFile && starts !== undefined && task.each === undefined && task.with.path === undefined) {
    const message = `expected each: { files: GLOB } or with: { path: FILE }, which ${name} needs to run by itself, got neither`;
    scope.problems.add(path, message);
  }
  return {
    kind,
    handler: name,
    pool: kind,
    with: fits ? absolutePaths(builtIn, task.with, scope) : task.with,
  };
}

function absolutePaths(
  builtIn: BuiltInHandler,
  given: Readonly<Record<string, unknown>>,
  scope: ResolveScope,
): Readonly<Record<string, unknown>> {
  const filled = withDefaults(builtIn.inputSchema, given);
  if (!isObject(filled)) return given;
  const { directory } = scope.options;
  let absolute: Record<string, unknown> | undefined;
  for (const key of builtIn.pathKeys) {
    const value = Object.hasOwn(filled, key) ? filled[key] : undefined;
    if (typeof value === 'string') {
      absolute ??= { ...filled };
      absolute[key] = resolve(directory, value);
    } else if (Array.isArray(value)) {
      absolute ??= { ...filled };
      absolute[key] = value.map((one) => (typeof one === 'string' ? resolve(directory, one) : one));
    }
  }
  return absolute ?? filled;
}

function resolveEach(task: RawTask, path: SchemaPath, scope: ResolveScope): TaskSpec['each'] {
  const files = task.each?.files;
  if (files === undefined) return null;
  const glob = splitGlob(files, scope.options.directory);
  if (!('problem' in glob)) {
    if (!scope.isFolder(glob.root)) {
      const message = `expected a folder to look through, got ${describeValue(glob.root)}, which is none yet: scans fail until it is there`;
      scope.problems.warn([...path, 'each', 'files'], message);
    }
    return { root: glob.root, pattern: glob.pattern };
  }
  scope.problems.add([...path, 'each', 'files'], `expected ${glob.problem}, got ${describeValue(files)}`);
  return null;
}

/** The input of a run crosses threads and goes into the store as JSON. */
function checkJson(task: RawTask, path: SchemaPath, scope: ResolveScope): void {
  const place = findNotJson(task.with);
  if (place === null) return;
  scope.problems.add(
    [...path, 'with', ...place.path],
    `expected a value that JSON can hold, got ${place.got}`,
  );
}
