/**
 * Runs one handler for one order and says what became of it. The same on every thread.
 *
 * It never throws and its promise never rejects: whatever the handler does, exactly one outcome comes out.
 * A handler that returns no promise gets its outcome in the same call, with no promise made. A result that
 * comes after the run was aborted for its timeout is late and stays a `timeout`; after a cancel, work that
 * was finished all the same counts as done.
 */

import type { ExecuteOrder, Outcome } from '../actors/execution.ts';
import { ColibriError, toErrorData } from '../actors/kernel/errors.ts';
import type { Handler, HandlerContext } from './handler.ts';
import { abortReasonOf, failed, stopped, succeeded } from './outcomes.ts';
import { resultText } from './result-text.ts';

export interface RunHandlerOptions {
  readonly handle: Handler;
  readonly order: ExecuteOrder;
  /** `signal.reason` of an aborted context is read to tell a timeout from a cancel and a shutdown. */
  readonly context: HandlerContext;
  /** Monotonic time in ms. */
  readonly monoMs: () => number;
}

/** Runs the handler; see the head of the file for what is promised. */
export function runHandler(options: RunHandlerOptions): Outcome | Promise<Outcome> {
  const startMono = options.monoMs();
  let returned: unknown;
  try {
    returned = options.handle(parseInput(options.order.input), options.context);
    if (isThenable(returned)) {
      return Promise.resolve(returned).then(
        (value) => fulfilled(options, value, startMono),
        (thrown: unknown) => rejected(options, thrown, startMono),
      );
    }
  } catch (thrown) {
    return rejected(options, thrown, startMono);
  }
  return fulfilled(options, returned, startMono);
}

function fulfilled(options: RunHandlerOptions, value: unknown, startMono: number): Outcome {
  const durationMs = options.monoMs() - startMono;
  if (options.context.aborted && isTimeout(options.context)) {
    return stopped(options.order, 'timeout', durationMs);
  }
  try {
    return succeeded(options.order, resultText(value), durationMs);
  } catch (thrown) {
    return failed(options.order, thrown, durationMs);
  }
}

function rejected(options: RunHandlerOptions, thrown: unknown, startMono: number): Outcome {
  const { context, order } = options;
  const durationMs = options.monoMs() - startMono;
  if (!context.aborted) return failed(order, thrown, durationMs);
  const cause = thrown === context.signal.reason ? undefined : toErrorData(thrown);
  return stopped(order, abortReasonOf(context.signal.reason), durationMs, cause);
}

function isTimeout({ signal }: HandlerContext): boolean {
  return abortReasonOf(signal.reason) === 'timeout';
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

function parseInput(text: string): unknown {
  if (text === '{}') return {};
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new ColibriError('input-invalid', 'expected the input of the run to be JSON text', {
      cause: thrown,
    });
  }
}
