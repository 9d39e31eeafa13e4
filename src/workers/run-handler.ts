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
import type { ResultFolder } from '../actors/results/result-folder.ts';
import { referenceIn } from '../actors/results/result-reference.ts';
import type { Handler, HandlerContext } from './handler.ts';
import { abortReasonOf, failed, stopped, succeeded } from './outcomes.ts';
import { messageText, resultText } from './result-text.ts';

export interface RunHandlerOptions {
  readonly handle: Handler;
  readonly order: ExecuteOrder;
  /** `signal.reason` of an aborted context is read to tell a timeout from a cancel and a shutdown. */
  readonly context: HandlerContext;
  /** Monotonic time in ms. */
  readonly monoMs: () => number;
  /** Where large results go; null: they are refused. */
  readonly results?: ResultFolder | null;
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

function fulfilled(
  options: RunHandlerOptions,
  value: unknown,
  startMono: number,
): Outcome | Promise<Outcome> {
  const { order, context, results = null } = options;
  const durationMs = options.monoMs() - startMono;
  if (isTimeout(context)) return stopped(order, 'timeout', durationMs);
  try {
    const text = results === null ? resultText(value) : messageText(value);
    if (text === null) return written(options, value, startMono);
    return succeeded(order, text, durationMs);
  } catch (thrown) {
    return failed(order, thrown, durationMs);
  }
}

/** Its result goes to a file: the run is over when that is whole, and its timeout counts until then. */
async function written(options: RunHandlerOptions, value: unknown, startMono: number): Promise<Outcome> {
  const { order, context, monoMs } = options;
  const results = options.results!;
  try {
    const text = await results.write(order.run, order.attempt, value);
    if (!isTimeout(context)) return succeeded(order, text, monoMs() - startMono);
    results.discard(referenceIn(text)!);
    return stopped(order, 'timeout', monoMs() - startMono);
  } catch (thrown) {
    return failed(order, thrown, monoMs() - startMono);
  }
}

function rejected(options: RunHandlerOptions, thrown: unknown, startMono: number): Outcome {
  const { context, order } = options;
  const durationMs = options.monoMs() - startMono;
  if (!context.aborted) return failed(order, thrown, durationMs);
  const cause = thrown === context.signal.reason ? undefined : toErrorData(thrown);
  return stopped(order, abortReasonOf(context.signal.reason), durationMs, cause);
}

/** The signal is made only where there is something to read off it. */
function isTimeout(context: HandlerContext): boolean {
  return context.aborted && abortReasonOf(context.signal.reason) === 'timeout';
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
