/**
 * The outcomes a pool can owe, each made in one place. Every function here is total: whatever was thrown,
 * an outcome comes out, because a pool that cannot describe a failure would lose the run.
 */

import { AbortReason, type ExecuteOrder, type Outcome } from '../actors/execution.ts';
import { ColibriError, type ErrorCode, type ErrorData, toErrorData } from '../actors/kernel/errors.ts';

/** What an outcome says about the order it is for. */
export type OrderId = Pick<ExecuteOrder, 'run' | 'attempt'>;

/** Failures that the same attempt would meet again, so that a retry only repeats its side effects. */
const NEVER_RETRIED: ReadonlySet<ErrorCode> = new Set([
  'file-invalid',
  'handler-not-loaded',
  'input-invalid',
  'no-such-handler',
  'result-not-json',
  'usage',
]);

/** `result` is JSON text. */
export function succeeded(order: OrderId, result: string, durationMs: number): Outcome {
  return {
    run: order.run,
    attempt: order.attempt,
    status: 'success',
    result,
    error: null,
    durationMs: toMicroseconds(durationMs),
    retryable: false,
  };
}

/** A failure of the run's own doing. `retryable: false` on the thrown value, or a code of that kind, is kept. */
export function failed(order: OrderId, thrown: unknown, durationMs: number): Outcome {
  const error = toErrorData(thrown);
  const retryable = !NEVER_RETRIED.has(error.code) && !saysNotRetryable(thrown);
  return ended(order, 'failed', error, durationMs, retryable);
}

/** The outcome of a run that was told to stop: `failed` with `timeout`, or `cancelled`. */
export function stopped(order: OrderId, reason: AbortReason, durationMs: number, cause?: ErrorData): Outcome {
  const { code, message } = ABORTS[reason];
  const error: ErrorData = cause === undefined ? { code, message } : { code, message, cause };
  const timedOut = reason === 'timeout';
  return ended(order, timedOut ? 'failed' : 'cancelled', error, durationMs, timedOut);
}

/** The thread under the run had to be ended because the run kept its event loop to itself. */
export function blockedThread(order: OrderId, cause: ErrorData, durationMs: number): Outcome {
  const message = `expected the handler to leave the event loop of its thread free, got: ${cause.message}`;
  return ended(order, 'failed', { code: 'worker-lost', message, cause }, durationMs, true);
}

/** The thread ended by the doing of another run, or before this one had begun on it. */
export function bystander(order: OrderId, cause: ErrorData, durationMs: number): Outcome {
  const message = 'the thread ended by the doing of another run, or before this one had begun on it';
  const error: ErrorData = { code: 'thread-lost-by-another', message, cause };
  return ended(order, 'interrupted', error, durationMs, true);
}

/** What the run is given could not be read, so it has not begun: that is the doing of none of its code. */
export function unread(order: OrderId, cause: ErrorData): Outcome {
  const message = 'what the run is given could not be read before it began';
  const error: ErrorData = { code: 'thread-lost-by-another', message, cause };
  return ended(order, 'interrupted', error, 0, true);
}

/** The thread under the run ended for another reason, and nobody can tell for which run. */
export function interrupted(order: OrderId, cause: ErrorData, durationMs: number): Outcome {
  const error: ErrorData =
    cause.code === 'thread-lost'
      ? cause
      : {
          code: 'thread-lost',
          message: 'the thread that held the run ended; the run is not to blame',
          cause,
        };
  return ended(order, 'interrupted', error, durationMs, true);
}

/** What `signal.reason` is, and what a handler that stops at once rejects with. */
export function abortError(reason: AbortReason): ColibriError {
  const { code, message } = ABORTS[reason];
  return new ColibriError(code, message);
}

/** Of a `signal.reason`. */
export function abortReasonOf(error: unknown): AbortReason {
  const { message } = toErrorData(error);
  return Object.values(AbortReason).find((reason) => ABORTS[reason].message === message) ?? 'cancel';
}

const ABORTS = {
  timeout: { code: 'timeout', message: 'expected the run to end within its timeout, it did not' },
  cancel: { code: 'cancelled', message: 'the run was cancelled' },
  shutdown: { code: 'cancelled', message: 'the run was cancelled because the daemon stops' },
} as const satisfies Readonly<Record<AbortReason, ErrorData>>;

function ended(
  order: OrderId,
  status: Outcome['status'],
  error: ErrorData,
  durationMs: number,
  retryable: boolean,
): Outcome {
  return {
    run: order.run,
    attempt: order.attempt,
    status,
    result: null,
    error,
    durationMs: toMicroseconds(durationMs),
    retryable,
  };
}

function saysNotRetryable(thrown: unknown): boolean {
  try {
    return (thrown as { readonly retryable?: unknown } | null | undefined)?.retryable === false;
  } catch {
    return false;
  }
}

/** Three decimals: shorter as JSON, and finer than any clock here. */
function toMicroseconds(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000);
}
