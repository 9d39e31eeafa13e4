/**
 * What main and a cpu thread send each other: JSON text, one message a batch each way in the common case.
 *
 * main → thread: a `BatchMessage`. thread → main: the answer to it (rows of the orders that have more to
 * say than "success, null"; the others are read from the region), and on the thread's own port
 * `ThreadMessage`s. User modules share that port, so what comes from it is checked.
 */

import type { ExecuteOrder, Outcome } from '../../actors/execution.ts';
import type { ErrorData } from '../../actors/kernel/errors.ts';
import type { LogRecord } from '../../actors/protocol.ts';
import type { ResultFolderOptions } from '../../actors/results/result-folder.ts';

/** What every cpu thread is started with. */
export interface CpuWorkerData {
  readonly modules: readonly { readonly name: string; readonly file: string }[];
  /** Memory of the `SharedMark` that orders wait for; left out where they wait for nothing. */
  readonly mark?: SharedArrayBuffer;
  /** Memory of the `MemoryShort` that main sets; left out where nobody looks after memory. */
  readonly short?: SharedArrayBuffer;
  /** Where large results go; null, the default: they are refused. */
  readonly results?: ResultFolderOptions | null;
}

/** `workerData` as the thread finds it. */
export interface CpuThreadData extends CpuWorkerData {
  readonly memory: SharedArrayBuffer;
}

export interface BatchMessage {
  readonly region: number;
  readonly batch: number;
  /** When it was sent, by the clock that all threads share (`process.hrtime`), in ms. */
  readonly sentMs: number;
  readonly orders: readonly ExecuteOrder[];
}

/** index in the batch, status, result, error, durationMs, retryable */
export type OutcomeRow = readonly [
  number,
  Outcome['status'],
  string | null,
  ErrorData | null,
  number,
  boolean,
];

export type ThreadMessage =
  /** Outcomes ahead of the answer: of all orders before `upTo`; those without a row are in the region. */
  | {
      readonly kind: 'flush';
      readonly region: number;
      readonly batch: number;
      readonly upTo: number;
      readonly rows: readonly OutcomeRow[];
    }
  /** The thread ends itself, in the middle of `batch` or (0) of none. `tasks`: what it ran last, the suspects. */
  | {
      readonly kind: 'ending';
      readonly batch: number;
      readonly cause: ErrorData;
      readonly tasks: readonly string[];
    }
  | { readonly kind: 'log'; readonly record: LogRecord }
  | {
      readonly kind: 'progress';
      readonly run: string;
      readonly fraction: number;
      readonly note: string | null;
    };

const STATUSES: ReadonlySet<unknown> = new Set<Outcome['status']>([
  'success',
  'failed',
  'cancelled',
  'interrupted',
]);

/** `undefined` for what none of our threads sends. */
export function parseThreadMessage(message: unknown): ThreadMessage | undefined {
  if (typeof message !== 'string') return undefined;
  const value = parseObject(message);
  if (value === undefined) return undefined;
  switch (value.kind) {
    case 'flush':
      return isCount(value.region) && isCount(value.batch) && isCount(value.upTo) && isRows(value.rows)
        ? (value as ThreadMessage)
        : undefined;
    case 'ending':
      return isCount(value.batch) && isObject(value.cause) && Array.isArray(value.tasks)
        ? (value as ThreadMessage)
        : undefined;
    case 'log':
      return isObject(value.record) && typeof value.record.msg === 'string'
        ? (value as ThreadMessage)
        : undefined;
    case 'progress':
      return typeof value.run === 'string' && typeof value.fraction === 'number'
        ? (value as ThreadMessage)
        : undefined;
    default:
      return undefined;
  }
}

const NO_ROWS: readonly OutcomeRow[] = [];

/** The empty text is no rows; `undefined` for what is no answer. */
export function parseAnswer(answer: unknown): readonly OutcomeRow[] | undefined {
  if (answer === '') return NO_ROWS;
  if (typeof answer !== 'string') return undefined;
  try {
    const rows: unknown = JSON.parse(answer);
    return isRows(rows) ? rows : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Difference between the monotonic clock that all threads share and this thread's `performance.now()`, ms.
 * `performance.now()` counts from the start of its thread.
 */
export function sharedClockOffsetMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6 - performance.now();
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isRows(value: unknown): value is readonly OutcomeRow[] {
  return (
    Array.isArray(value) &&
    value.every((row) => Array.isArray(row) && row.length === 6 && isCount(row[0]) && STATUSES.has(row[1]))
  );
}
