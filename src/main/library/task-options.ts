/**
 * What a user writes of a task, and the handle that stands for it. The types say what TypeScript can see of a task: what
 * its function takes and gives, and that one that starts by itself has all of its input from `with`.
 */
import type { RawTask } from '../config/index.ts';
import type { InCamelCase } from './camel-case.ts';
import type { EachItemOf, StepContext, UpstreamFailure } from './flow-options.ts';
import type { ByItself, OnTrigger, Starts } from './starts.ts';
import type { AnyTask } from './task-handle.ts';

export type TaskFunction<
  Input,
  Output,
  Tasks extends readonly AnyTask[] = readonly [],
  Policy extends UpstreamFailure = 'skip',
> = (input: Input, context: StepContext<Tasks, Policy>) => Output | Promise<Output>;

/** All keys of a task in the config file but those that say what it runs, and when. */
export interface TaskSettings
  extends InCamelCase<Omit<RawTask, Starts | 'name' | 'kind' | 'handler' | 'with' | 'each'>> {
  /** Unique. */
  readonly name: string;
}

interface EachFile {
  /** One run for each file that matches; it adds `path`, `relative`, `root`, `size` and `mtime_ms` to the input. */
  readonly each: { readonly files: string };
}

interface NoFiles {
  readonly each?: undefined;
}

/** `with` may give a part of the input where the rest comes from elsewhere. */
interface SomeInput<Input> {
  readonly with?: (Partial<Input> & object) | undefined;
}

/** The whole input; it may be missing only where nothing of it is needed. */
type WholeInput<Input> =
  Record<never, never> extends Input
    ? { readonly with?: (Input & object) | undefined }
    : { readonly with: Input & object };

type InputOf<Input> =
  | (OnTrigger & NoFiles & SomeInput<Input>)
  | (ByItself & NoFiles & WholeInput<Input>)
  | (ByItself & EachFile & SomeInput<Input>);

interface IsFunction {
  readonly kind?: 'io' | undefined;
}

export type FunctionTask<Input> = TaskSettings & IsFunction & InputOf<Input>;

/** A function whose task has all of its input: a trigger may leave any of it out. */
export type GivenFunctionTask<Input> = TaskSettings &
  IsFunction &
  ByItself &
  NoFiles & { readonly with: Input & object };

/** A function whose input is an item of a list that a task before it gave. */
export type ItemFunctionTask<Item> = TaskSettings & IsFunction & OnTrigger & EachItemOf<Item> & NoInput;

interface NoInput {
  readonly with?: undefined;
}

interface IsModule {
  /** cpu: on a thread of its own while it runs; io, the default: many at a time on one thread. */
  readonly kind?: 'cpu' | 'io' | undefined;
  /** `new URL('./digest.ts', import.meta.url)`, or an absolute path. */
  readonly module: URL | string;
  readonly handler?: undefined;
}

/** A file whose default export is the handler. */
export type ModuleTask<Input> = TaskSettings & IsModule & InputOf<Input>;

export type ItemModuleTask<Item> = TaskSettings & IsModule & OnTrigger & EachItemOf<Item> & SomeInput<Item>;

interface IsHandler {
  readonly kind?: 'cpu' | 'io' | undefined;
  readonly handler: string;
  readonly module?: undefined;
  /** In the handler's own spelling, see docs/handlers.md. */
  readonly with?: Readonly<Record<string, unknown>> | undefined;
}

/** A built-in handler by its name, or a module that `handlers` of the app finds. */
export type HandlerTask = TaskSettings &
  ByItself &
  IsHandler & { readonly each?: { readonly files: string; readonly list?: undefined } | undefined };

/** What it is given of an item, the `with` of its step says. */
export type ItemHandlerTask = TaskSettings & IsHandler & OnTrigger & EachItemOf<unknown>;

/** What a trigger may give: nothing, where nothing is needed. */
export type Payload<Input> = Record<never, never> extends Input ? Input | undefined : Input;
