/**
 * Name → handler, on one thread. Built-in handlers are there at once; a user's module is imported on first
 * use, so that a daemon with many modules pays for those that run.
 */
import { pathToFileURL } from 'node:url';
import { ColibriError, toErrorData } from '../actors/kernel/errors.ts';
import type { BuiltInHandler, Handler } from './handler.ts';
import { importModule } from './threads/thread-files.ts';

/** A file with a handler in it: its default export, or its export named `handler`. */
export interface UserModule {
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
}

export interface RegistryOptions {
  readonly builtIns: readonly BuiltInHandler[];
  readonly modules: readonly UserModule[];
  /** Imports a module by its URL; a parameter for tests. */
  readonly importModule?: (url: string) => Promise<unknown>;
}

export class Registry {
  readonly #handlers = new Map<string, Handler>();
  readonly #modules = new Map<string, UserModule>();
  readonly #loading = new Map<string, Promise<Handler>>();
  readonly #importModule: (url: string) => Promise<unknown>;

  /** A built-in name wins over a module's; the config refuses such a pair. */
  constructor(options: RegistryOptions) {
    for (const module of options.modules) this.#modules.set(module.name, module);
    for (const { name, handle } of options.builtIns) this.#handlers.set(name, handle as Handler);
    this.#importModule = options.importModule ?? importModule;
  }

  /** Every name that resolves, loaded or not. */
  get names(): readonly string[] {
    return [...new Set([...this.#handlers.keys(), ...this.#modules.keys()])].sort();
  }

  /**
   * The handler itself where it is there, else a promise of it. Throws `no-such-handler`; rejects with
   * `handler-not-loaded`, naming file and cause. A module that failed is tried again on its next use.
   */
  resolve(name: string): Handler | Promise<Handler> {
    const handler = this.#handlers.get(name);
    if (handler !== undefined) return handler;
    const loading = this.#loading.get(name);
    if (loading !== undefined) return loading;
    const module = this.#modules.get(name);
    if (module === undefined) {
      throw new ColibriError(
        'no-such-handler',
        `expected a handler that exists, got ${JSON.stringify(name)}; known here: ${this.names.join(', ')}`,
      );
    }
    const load = this.#load(module).finally(() => this.#loading.delete(name));
    this.#loading.set(name, load);
    return load;
  }

  async #load(module: UserModule): Promise<Handler> {
    let found: unknown;
    try {
      const imported = (await this.#importModule(pathToFileURL(module.file).href)) as {
        readonly default?: unknown;
        readonly handler?: unknown;
      };
      // A module compiled to CommonJS has its own default one level deeper.
      const inner = imported.default as { readonly default?: unknown } | null | undefined;
      found = [imported.default, inner?.default, imported.handler].find((one) => typeof one === 'function');
    } catch (thrown) {
      throw new ColibriError(
        'handler-not-loaded',
        `expected ${module.file} to load, got ${causeText(thrown, module.file)}`,
        { cause: thrown },
      );
    }
    if (typeof found !== 'function') {
      throw new ColibriError(
        'handler-not-loaded',
        `expected ${module.file} to export a function, as default or as "handler", got ${typeof found}`,
      );
    }
    this.#handlers.set(module.name, found as Handler);
    return found as Handler;
  }
}

/** Of a cause, in UTF-16 code units; all of it is kept below the error. */
const CAUSE_EXCERPT = 300;

/** The first line of the cause, and the line of the module where its stack names one: lists show no causes. */
function causeText(thrown: unknown, file: string): string {
  const { message, stack } = toErrorData(thrown);
  const first = message.split('\n', 1)[0]!;
  const text = first.length > CAUSE_EXCERPT ? `${first.slice(0, CAUSE_EXCERPT)}…` : first;
  // A syntax error stands under `PATH:LINE`, what was thrown has frames with the address of the module.
  const place = [pathToFileURL(file).href, file].find((one) => stack?.includes(`${one}:`));
  const line =
    place === undefined
      ? undefined
      : /^\d+/.exec(stack!.slice(stack!.indexOf(`${place}:`) + place.length + 1))?.[0];
  return line === undefined ? text : `${text} (line ${line})`;
}
