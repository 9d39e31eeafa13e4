/**
 * Errors: one base class with a stable code, one table of all codes, and their form as plain data.
 *
 * An error crosses a thread as `ErrorData` and is rebuilt by its code on the other side, so that code which
 * handles an error never depends on the thread it was raised on. Texts are cut to a bound, and the cut is
 * marked, so that a handler cannot fill the memory of the daemon with its messages.
 */

/** Every code, with what it means and what a user can do. `docs/errors.md` is written from this table. */
export const ERROR_CODES = {
  'ask-timeout': 'An actor did not answer before its deadline. The thread it lives on is busy or gone.',
  cancelled: 'The run was cancelled by a user or by the shutdown of the daemon.',
  'command-failed':
    'The command ended with an exit code other than 0 or by a signal; the tail of its output is kept.',
  'config-invalid': 'The config has problems; each is listed with file, line and column.',
  'daemon-lost': 'The daemon ended, or was ended, while the run was on a slot.',
  'file-changed': 'The source file changed while it was read; it is taken again once it is still.',
  'file-failed': 'A file could not be read or written; the message carries the path and the system error.',
  'file-invalid':
    'The content of the file is not what its handler takes: damaged, cut short, or beyond the bounds of the task.',
  'flow-failed':
    'A step of the flow failed, or did not run; the message names it and says why, the cause is its error. `colibri flow show` shows all.',
  'handler-failed': 'The handler threw, or its promise was rejected; its message is kept.',
  'handler-not-loaded': 'The module of the handler could not be imported; the message names file and cause.',
  'input-invalid': 'The input of the run does not fit the schema of its handler.',
  internal: 'A fault of the daemon itself. Please report it with the log line.',
  'listen-failed':
    'The metrics address or the control socket cannot be listened on; the message says which and why.',
  'mailbox-closed': 'The receiver of a message is stopped.',
  'mailbox-full': 'The receiver of a message has no room, and its policy is to refuse.',
  'message-invalid': 'A message that crossed a thread does not have the shape its kind requires.',
  'no-daemon': 'No daemon answers on the control socket.',
  'no-such-handler': 'The task names a handler that is neither built in nor a loaded module.',
  'no-such-run': 'No run with this id is known.',
  'no-such-task': 'No task with this name is in the config.',
  'overlap-refused':
    'The task is still running and its overlap policy refuses another run; --force overrides.',
  'queue-full': 'The ready queue is at its capacity and its policy is to reject.',
  'rerun-refused':
    'The flow cannot be run again as was asked: it is not over, or no step of it failed; the message says which.',
  'restart-needed': 'The config differs from the one in use in what only a start takes up.',
  'result-forgotten': 'The result of the run was kept as long as retention says, and is no more.',
  'result-not-json': 'The result of the handler cannot be written as JSON.',
  'shutting-down': 'The daemon is stopping and takes no new work.',
  'state-dir-held':
    "Another daemon holds the state directory, also from another container, where its control socket answers; or its lock cannot be read, most often as another user's.",
  'store-failed':
    'The journal in the state directory cannot be opened, copied, or was written by a newer version of colibri.',
  'store-unavailable':
    'The journal cannot be written just now, so nothing can be accepted for keeping; the message says why.',
  'thread-lost': 'The thread that held the run ended; the run itself is not to blame.',
  'thread-lost-by-another':
    'The thread that held the run ended by the doing of another run, or before this one had begun on it.',
  timeout: 'The run took longer than its timeout.',
  usage: 'The command line is wrong; --help shows the right form.',
  'worker-lost':
    'The handler ended its own thread: process.exit, an exhausted heap, a fatal error, or an event loop that it kept blocked.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * An error as plain data: what crosses threads and goes into the store. `name` and `stack` are for the log and for a program
 * that waits, and not kept.
 */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly message: string;
  /** Of an error that has one of its own: `TypeError`. */
  readonly name?: string;
  readonly stack?: string;
  readonly cause?: ErrorData;
}

/** The longest message or stack kept of one error, in UTF-16 code units. */
export const ERROR_TEXT_LIMIT = 4096;

/** The same of a name, which a handler chooses too. */
const NAME_LIMIT = 100;

/** The most causes kept of one error; a chain that leads back to itself ends here too. */
export const CAUSE_LIMIT = 5;

/** They say no more than the code does. */
const COMMON_NAMES: ReadonlySet<string> = new Set(['Error', 'ColibriError']);

/** The same in every copy of this class: a built program has one in each of its parts. */
const BRAND = Symbol.for('colibri.error');

export class ColibriError extends Error {
  readonly code: ErrorCode;

  /** Errors of the other parts count too; those of a subclass are its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a subclass inherits this, and is asked in its own name
    if (!isBase(this)) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ColibriError';
    this.code = code;
  }

  get [BRAND](): true {
    return true;
  }
}

/** The class does not name itself within: built, it would be called `_ColibriError`, and so would each that nobody catches. */
function isBase(given: unknown): boolean {
  return given === ColibriError;
}

/** Cuts a text to `limit` code units; a cut text says how much is missing. */
export function cutText(text: string, limit = ERROR_TEXT_LIMIT): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit)}… [${text.length - limit} more characters cut]`;
}

/**
 * Turns anything that was thrown into plain data. Never throws itself, whatever the value does when it is
 * looked at. `fallback` is the code for values that carry none of ours.
 */
export function toErrorData(thrown: unknown, fallback: ErrorCode = 'handler-failed'): ErrorData {
  return toData(thrown, fallback, CAUSE_LIMIT);
}

function toData(thrown: unknown, fallback: ErrorCode, causes: number): ErrorData {
  try {
    if (thrown instanceof ColibriError) {
      const code = Object.hasOwn(ERROR_CODES, thrown.code) ? thrown.code : fallback;
      return dataOf(thrown, { code, text: thrown.message, causes });
    }
    if (thrown instanceof Error) {
      const text = thrown.message === '' ? thrown.name : thrown.message;
      return dataOf(thrown, { code: fallback, text, causes });
    }
    return {
      code: fallback,
      message: cutText(`a value that is not an Error was thrown: ${describe(thrown)}`),
    };
  } catch {
    return { code: fallback, message: 'a value that cannot be described was thrown' };
  }
}

/** The error as it is kept: without names and stacks, which have gone to the log. */
export function withoutStack(error: ErrorData): ErrorData;
export function withoutStack(error: ErrorData | null): ErrorData | null;
export function withoutStack(error: ErrorData | null): ErrorData | null {
  if (error === null) return null;
  const { code, message, cause } = error;
  return cause === undefined ? { code, message } : { code, message, cause: withoutStack(cause) };
}

/** Code units of text in an error and its causes: what keeping or sending it costs. */
export function errorTextLength(error: ErrorData | null | undefined): number {
  let length = 0;
  for (let one = error; one !== null && one !== undefined; one = one.cause) {
    length += one.message.length + (one.stack?.length ?? 0) + (one.name?.length ?? 0);
  }
  return length;
}

/**
 * Rebuilds an error from its data; the cause chain is kept. One that has no stack gets none: where it is rebuilt says nothing
 * of where it was thrown.
 */
export function fromErrorData(data: ErrorData): ColibriError {
  const error = new ColibriError(
    data.code,
    data.message,
    data.cause === undefined ? undefined : { cause: fromErrorData(data.cause) },
  );
  if (data.name !== undefined) error.name = data.name;
  error.stack = data.stack ?? `${error.name}: ${error.message}`;
  return error;
}

/** For the end of a `switch` over a closed set: a new member that is not handled is a compile error. */
export function assertNever(value: never, what: string): never {
  throw new ColibriError('internal', `expected a known ${what}, got ${describe(value)}`);
}

interface DataParts {
  readonly code: ErrorCode;
  readonly text: unknown;
  readonly causes: number;
}

function dataOf({ name, stack, cause }: Error, { code, text, causes }: DataParts): ErrorData {
  return {
    code,
    message: cutText(String(text)),
    ...(typeof name === 'string' && !COMMON_NAMES.has(name) ? { name: cutText(name, NAME_LIMIT) } : {}),
    ...(typeof stack === 'string' ? { stack: cutText(stack) } : {}),
    ...(cause === undefined || cause === null || causes === 0
      ? {}
      : { cause: toData(cause, 'handler-failed', causes - 1) }),
  };
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) {
    try {
      return JSON.stringify(value) ?? Object.prototype.toString.call(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  }
  return String(value);
}
