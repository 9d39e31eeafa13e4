/**
 * The config of an app: its options and each of its tasks pass the loader of the config file, one by one and at once, so
 * that what is wrong is told at the line that says it.
 */
import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeValue } from '../../actors/kernel/index.ts';
import type { Handler } from '../../workers/index.ts';
import type { Config, FlowSpec, Problem, TaskSpec } from '../config/index.ts';
import { AppFlows, type FlowTask, stepTree, type WrittenStep } from './app-flows.ts';
import type { AppOptions } from './app-options.ts';
import type { FlowOptions } from './flow-options.ts';
import { invalidOptions } from './handles.ts';
import { resolveOptions } from './resolve-options.ts';
import { stepHandler } from './step-handler.ts';
import type { AnyTask } from './task-handle.ts';

/** A task as it is written: its form is looked at here. */
interface WrittenTask extends Readonly<Record<string, unknown>> {
  readonly name?: unknown;
  readonly module?: unknown;
  readonly dependsOn?: unknown;
  readonly onUpstreamFailure?: unknown;
  readonly each?: unknown;
}

/** A flow as it is written, with the tasks of this app in place of their handles. */
export interface WrittenFlow {
  readonly steps: readonly (Omit<WrittenStep, 'task'> & { readonly task: string })[];
  readonly failure: { readonly task: string; readonly with: unknown } | null;
  readonly options: FlowOptions;
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
    const isPath = typeof directory === 'string';
    this.#directory = isPath ? resolve(directory) : process.cwd();
    this.#nowMs = nowMs;
    this.#hasOwnTime = clock !== undefined;
    const { groups, defaults, shutdown } = written;
    this.#around = { groups, defaults, shutdown };
    const problems = ['tasks', 'flows']
      .filter((key) => Object.hasOwn(written, key))
      .map((key) => `${key}: expected app.task for each task, got a list in the options`);
    if (!isPath && directory !== undefined) {
      problems.push(
        `directory: expected a path such as import.meta.dirname, got ${describeValue(directory)}`,
      );
    }
    const around = { subject: null, problems, directory: this.#directory, nowMs: nowMs() };
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
  add(given: object, handle: Handler | null): string {
    const { module, dependsOn, onUpstreamFailure, ...rest } = { ...given } as WrittenTask;
    const list = listOf(rest.each);
    const task = list === null ? rest : { ...rest, each: undefined };
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
    // One that runs nothing has its problem already.
    const written = { ...task, handler: handler ?? 'noop' };
    const step: FlowTask = {
      name,
      written,
      dependsOn: ((dependsOn ?? []) as readonly AnyTask[]).map((one) => one.name),
      onUpstreamFailure,
      each: list,
      takes: handle !== null ? 'results' : file !== null ? 'payload' : 'nothing',
    };
    const { config, warnings } = resolveOptions({
      tree: { ...this.#around, ...asAStep(step) },
      subject: { kind: 'task', name },
      problems,
      directory: this.#directory,
      nowMs: this.#nowMs(),
      functions: new Set(handle === null ? [] : [`function:${name}`]),
      modules: file === null ? this.#found : new Map([...this.#found, [`module:${name}`, file]]),
      added: Object.hasOwn(task, 'handler') ? [] : ['tasks[0].handler'],
    });
    const [spec] = config.tasks as readonly [TaskSpec];
    if (handle !== null) this.#functions.set(spec.handler, stepHandler(handle));
    if (file !== null) this.#modules.set(spec.handler, file);
    this.#tasks.set(name, spec);
    this.#steps.set(name, step);
    this.#warn(warnings);
    return name;
  }

  /** Throws `ConfigInvalid`: then there is no such flow. */
  addFlow(name: string, { steps: given, failure, options }: WrittenFlow): void {
    const { onFinished, onFailed, onFailure: _, ...settings } = options;
    if (this.#tasks.has(name) || this.flows.has(name)) {
      const message = `flow ${name}: name: expected a name that no other flow or task has, got ${describeValue(name)}`;
      throw invalidOptions(message);
    }
    const steps = given.map((step) => ({ ...step, task: this.#steps.get(step.task)! }));
    const failureTask = failure === null ? null : this.#steps.get(failure.task)!;
    const onFailure = failure === null ? undefined : failure;
    const tasks = new Set([...steps.map(({ task }) => task), ...(failureTask === null ? [] : [failureTask])]);
    const { config, warnings } = resolveOptions({
      tree: {
        ...this.#around,
        tasks: [...tasks].map(({ written }) => written),
        flows: [{ ...settings, name, steps: steps.map(stepTree), onFailure }],
      },
      subject: { kind: 'flow', name, steps: steps.map(({ task }) => task.name) },
      problems: [],
      directory: this.#directory,
      nowMs: this.#nowMs(),
      functions: new Set(this.#functions.keys()),
      modules: new Map([...this.#found, ...this.#modules]),
    });
    const [spec] = config.flows as readonly [FlowSpec];
    this.flows.add(spec, { steps, failure: failureTask }, { onFinished, onFailed });
    this.#warn(warnings);
  }

  #warn(warnings: readonly Problem[]): void {
    for (const warning of warnings) this.#warnings.set(warning.message, warning);
  }
}

/** `each` of a list, with the name of its task in place of the handle; null: it is none, or says something else. */
function listOf(each: unknown): FlowTask['each'] {
  if (typeof each !== 'object' || each === null || !Object.hasOwn(each, 'list')) return null;
  return { ...each, list: (each as { readonly list: AnyTask }).list.name };
}

/** The task, and where it says what only a step can: a flow of it and those it waits for, for the loader to look at. */
function asAStep(task: FlowTask): {
  readonly tasks: readonly unknown[];
  readonly flows?: readonly unknown[];
} {
  const { name, written, dependsOn, each, onUpstreamFailure } = task;
  if (dependsOn.length === 0 && each === null && onUpstreamFailure === undefined) return { tasks: [written] };
  const others = [...new Set([...dependsOn, ...(each === null ? [] : [each.list])])];
  let flow = 'flow';
  while (flow === name || others.includes(flow)) flow += '-';
  return {
    tasks: [written, ...others.map((one) => ({ name: one, handler: 'noop' }))],
    flows: [
      {
        name: flow,
        steps: [stepTree({ task, settings: {}, with: undefined }), ...others.map((one) => ({ task: one }))],
      },
    ],
  };
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
