/**
 * The config of an app: its options and each of its tasks pass the loader of the config file, one by one and at once, so
 * that what is wrong is told at the line that says it.
 */
import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeValue } from '../../actors/kernel/index.ts';
import type { Handler } from '../../workers/index.ts';
import type { Config, Problem, TaskSpec } from '../config/index.ts';
import { AppFlows, type FlowTask } from './app-flows.ts';
import type { AppOptions } from './app-options.ts';
import { type FlowOptions, stepHandler } from './flow-options.ts';
import { resolveOptions } from './resolve-options.ts';
import type { AnyTask } from './task-handle.ts';

/** A task as it is written: its form is looked at here. */
interface WrittenTask extends Readonly<Record<string, unknown>> {
  readonly name?: unknown;
  readonly module?: unknown;
  readonly dependsOn?: unknown;
}

export class AppConfig {
  readonly #directory: string;
  readonly #nowMs: () => number;
  readonly #hasOwnTime: boolean;
  /** What a task inherits or names. */
  readonly #around: Readonly<Record<string, unknown>>;
  readonly #base: Config;
  /** What the globs of `handlers` found. */
  readonly #found: ReadonlyMap<string, string>;
  /** Modules of single tasks, by the name of the handler. */
  readonly #modules = new Map<string, string>();
  readonly #functions = new Map<string, Handler>();
  readonly #tasks = new Map<string, TaskSpec>();
  readonly #steps = new Map<string, FlowTask>();
  readonly flows = new AppFlows();
  readonly #warnings = new Map<string, Problem>();

  /** Throws `ConfigInvalid`. */
  constructor({ directory, clock, random: _random, ...written }: AppOptions, nowMs: () => number) {
    this.#directory = resolve(directory ?? process.cwd());
    this.#nowMs = nowMs;
    this.#hasOwnTime = clock !== undefined;
    const { groups, defaults, shutdown } = written;
    this.#around = { groups, defaults, shutdown };
    const problems = ['tasks', 'flows']
      .filter((key) => Object.hasOwn(written, key))
      .map((key) => `${key}: expected app.task for each task, got a list in the options`);
    const around = { task: null, problems, directory: this.#directory, nowMs: nowMs() };
    const { config, warnings } = resolveOptions({ ...around, ...withGuestDefaults(written) });
    this.#base = config;
    this.#found = new Map(config.modules.map(({ name, file }) => [name, file]));
    this.#warn(warnings);
  }

  /** By the name of the handler. */
  get functions(): ReadonlyMap<string, Handler> {
    return this.#functions;
  }

  /** What all of them inherit is said once. */
  get warnings(): Iterable<Problem> {
    return this.#warnings.values();
  }

  get config(): Config {
    const { retention, ...base } = this.#base;
    const modules = [...this.#found, ...this.#modules].map(([name, file]) => ({ name, file }));
    return {
      ...base,
      // The store goes by the machine's clock: by another one, results of now would be old.
      retention: this.#hasOwnTime ? { ...retention, resultTtlMs: Number.MAX_SAFE_INTEGER } : retention,
      modules,
      tasks: [...this.#tasks.values()],
      flows: this.flows.specs,
    };
  }

  /** Gives the name of the task. `handle`: its function; null: it has none. Throws `ConfigInvalid`: then there is no such task. */
  add(written: object, handle: Handler | null): string {
    const { module, dependsOn, ...task } = { ...written } as WrittenTask;
    const name = typeof task.name === 'string' ? task.name : describeValue(task.name);
    const problems: string[] = [];
    if ([handle, module, task.handler].filter((way) => way !== undefined && way !== null).length !== 1) {
      problems.push('expected one of a function, module and handler');
    }
    if (this.#tasks.has(name) || this.flows.has(name)) {
      problems.push(`name: expected a name that no other task has, got ${describeValue(name)}`);
    }
    if (handle !== null) problems.push(...functionProblems(handle, task.kind));
    const file = module === undefined ? null : moduleFile(module, problems);
    const handler = handle !== null ? `function:${name}` : file !== null ? `module:${name}` : task.handler;
    const { config, warnings } = resolveOptions({
      // One that runs nothing has its problem already.
      tree: { ...this.#around, tasks: [{ ...task, handler: handler ?? 'noop' }] },
      task: name,
      problems,
      directory: this.#directory,
      nowMs: this.#nowMs(),
      functions: new Set(handle === null ? [] : [`function:${name}`]),
      modules: file === null ? this.#found : new Map([...this.#found, [`module:${name}`, file]]),
      added: Object.hasOwn(task, 'handler') ? [] : ['tasks[0].handler'],
    });
    const [spec] = config.tasks as [TaskSpec];
    if (handle !== null) this.#functions.set(spec.handler, stepHandler(handle));
    if (file !== null) this.#modules.set(spec.handler, file);
    this.#tasks.set(name, spec);
    this.#steps.set(name, {
      spec,
      dependsOn: ((dependsOn ?? []) as readonly AnyTask[]).map((one) => one.name),
      isFunction: handle !== null,
      takesPayload: handle !== null || file !== null,
    });
    this.#warn(warnings);
    return name;
  }

  /** Throws `ConfigInvalid`: then there is no such flow. */
  addFlow(name: string, tasks: readonly string[], options: FlowOptions): void {
    const { onFinished: _finished, onFailed: _failed, timeoutSeconds, ...written } = options;
    const problems =
      this.#tasks.has(name) || this.flows.has(name)
        ? [`name: expected a name that no other flow or task has, got ${describeValue(name)}`]
        : [];
    if (timeoutSeconds != null && !(timeoutSeconds > 0 && Number.isFinite(timeoutSeconds))) {
      problems.push(`timeoutSeconds: expected a number above 0, got ${describeValue(timeoutSeconds)}`);
    }
    // What says when a flow is due is looked at as that of a task.
    const { config, warnings } = resolveOptions({
      tree: { ...this.#around, tasks: [{ ...written, name, handler: 'noop' }] },
      task: name,
      problems,
      directory: this.#directory,
      nowMs: this.#nowMs(),
    });
    const [when] = config.tasks as [TaskSpec];
    this.flows.add(
      when,
      tasks.map((one) => this.#steps.get(one)!),
      options,
    );
    this.#warn(warnings);
  }

  #warn(warnings: readonly Problem[]): void {
    for (const warning of warnings) this.#warnings.set(warning.message, warning);
  }
}

/** A guest listens on nothing and says little, unless it is told to. */
function withGuestDefaults(written: AppOptions): { readonly tree: unknown; readonly added: string[] } {
  const { metrics, log, logLevel } = written;
  const level = log?.level ?? (logLevel === undefined ? 'warn' : undefined);
  const tree = { ...written, metrics: metrics ?? { listen: null }, log: { ...log, level } };
  const own = { metrics, log, 'log.level': log?.level };
  return { tree, added: Object.keys(own).filter((key) => own[key as keyof typeof own] === undefined) };
}

function functionProblems(handle: unknown, kind: unknown): string[] {
  if (typeof handle !== 'function') return [`expected a function, got ${describeValue(handle)}`];
  if (kind !== 'cpu') return [];
  return ['kind: expected a module for kind cpu, got a function, which has no thread of its own'];
}

/** The absolute path of a module that is there. */
function moduleFile(module: unknown, problems: string[]): string {
  let file = '';
  try {
    if (module instanceof URL) file = fileURLToPath(module);
    else if (typeof module === 'string') file = module.startsWith('file:') ? fileURLToPath(module) : module;
  } catch {
    // Of another kind, or of another machine.
  }
  if (!isAbsolute(file)) {
    const got = module instanceof URL ? module.href : describeValue(module);
    problems.push(`module: expected new URL('./file.ts', import.meta.url) or an absolute path, got ${got}`);
  } else if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    problems.push(`module: expected a file that is there, got ${describeValue(file)}`);
  }
  return file;
}
