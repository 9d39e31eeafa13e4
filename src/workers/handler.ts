/** The function that does the work, built in or a user's, and what it is given. */
import type { JsonSchema } from '../actors/kernel/json-schema.ts';

/** What a handler is given beside its input. */
export interface HandlerContext {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  /** Aborted on timeout, cancel and shutdown. Made on first use. */
  readonly signal: AbortSignal;
  /** The same as a plain look, for synchronous work between two chunks. */
  readonly aborted: boolean;
  /** Goes to the daemon's log with task, run and attempt. */
  readonly log: HandlerLog;
  /** `fraction` 0 to 1; shown by `colibri show`. At most a few a second are passed on. */
  progress(fraction: number, note?: string): void;
}

export interface HandlerLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * The function that does the work. `input` is an object: the task's `with`, over it what `each` found
 * (`path`, `relative`, `root`, `size`, `mtime_ms`), over it the payload of a trigger; a payload that is no
 * object replaces it whole. It should poll `context.aborted` or pass `context.signal` on.
 */
export type Handler<Input = unknown, Result = unknown> = (
  input: Input,
  context: HandlerContext,
) => Result | Promise<Result>;

/** A handler that comes with the daemon. */
export interface BuiltInHandler {
  readonly name: string;
  readonly kind: 'cpu' | 'io';
  /** Kinds a task may name instead; default: `kind` alone. */
  readonly kinds?: readonly ('cpu' | 'io')[];
  readonly summary: string;
  /** Of `with:` alone. */
  readonly inputSchema: JsonSchema;
  /** True where it works on one file and so needs `each: { files }` or a payload with `path`. */
  readonly perFile: boolean;
  /** Keys of `with:` that are paths, resolved against the config's folder at load. */
  readonly pathKeys: readonly string[];
  /** What the schema cannot say of an input that fits it; the config refuses a task whose `with:` has a problem. */
  readonly checkInput?: (input: unknown) => InputProblem | null;
  readonly handle: Handler<never>;
}

export interface InputProblem {
  /** Of `with:`; a dot stands between the levels. */
  readonly key: string;
  /** *expected …, got …*. */
  readonly message: string;
}
