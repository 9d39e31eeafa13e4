/**
 * The two sides of executing a run: the order that a pool takes and the outcome it owes for it, and the
 * function that does the work, built in or a user's.
 */
import type { ErrorData } from '../actors/kernel/errors.ts';
import type { JsonSchema } from '../actors/kernel/json-schema.ts';

/**
 * Where a handler runs. `guest` is the io pool of the thread that user modules of kind io live on; `scan` is a lane
 * of its own beside io, for looking for files: a scan waits for room for what it finds and must not hold a slot that
 * would make that room.
 */
export const PoolName = { Cpu: 'cpu', Io: 'io', Guest: 'guest', Scan: 'scan' } as const;
export type PoolName = (typeof PoolName)[keyof typeof PoolName];

/** A run as a pool takes it. `input` is JSON text: the router never looks into it. */
export interface ExecuteOrder {
  readonly run: string;
  readonly task: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly handler: string;
  readonly input: string;
  /** Time from its start after which the run is aborted and its slot freed. */
  readonly timeoutMs: number;
}

/** Why a run is told to stop. */
export const AbortReason = { Timeout: 'timeout', Cancel: 'cancel', Shutdown: 'shutdown' } as const;
export type AbortReason = (typeof AbortReason)[keyof typeof AbortReason];

/**
 * What became of one order. A pool owes exactly one for every order it took, at the latest when timeout,
 * grace and the replacement of a thread have passed, whatever the handler does.
 * - `success`: `result` is JSON text, `null` for undefined
 * - `failed`: the run's own doing; counts against its retries
 * - `cancelled`: it was told to stop (cancel or shutdown) and did
 * - `interrupted`: the thread under it ended for another reason; not counted against its retries
 */
export interface Outcome {
  readonly run: string;
  readonly attempt: number;
  readonly status: 'success' | 'failed' | 'cancelled' | 'interrupted';
  readonly result: string | null;
  readonly error: ErrorData | null;
  /** Wall time from its start on the thread to its end. */
  readonly durationMs: number;
  /** False where a retry cannot help: the input is invalid, the handler is not there. */
  readonly retryable: boolean;
}

/** Where a pool takes its work: the ready queue seen from one pool. */
export interface WorkSource {
  /** The task of the order that `take` would give, without taking it. */
  peekTask(): string | undefined;
  take(): ExecuteOrder | undefined;
}

/** The main-thread side of a pool. A free slot takes; nothing pushes. */
export interface Pool {
  readonly name: PoolName;
  /** Slots now, busy or not. */
  readonly slots: number;
  /** Orders taken for which no outcome was given yet. */
  readonly active: number;
  /** Tells the pool that its source may have work. Cheap, may be called any number of times. */
  wake(): void;
  /** Asks a running order to stop: abort signal, grace, then by force. False if the pool does not hold it. */
  abort(run: string, reason: AbortReason): boolean;
  /** Takes nothing more. Resolves when every order has its outcome. */
  drain(): Promise<void>;
  /** Ends all threads and process trees at once; every order held gets its outcome. Idempotent. */
  destroy(): Promise<void>;
}

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
  readonly handle: Handler<never>;
}
