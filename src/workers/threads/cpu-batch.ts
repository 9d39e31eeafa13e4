/**
 * Executes batches on a cpu thread, one order at a time.
 *
 * What always holds:
 * - one order runs at a time, also where handlers are asynchronous
 * - what an order said (its row) leaves this thread once, ahead of the answer or with it
 * - an order that was told to stop before it began does not begin
 * - an error that escapes a handler (thrown in a timer, a rejected promise nobody waits for) is the failure
 *   of the order that runs; the state of the thread is unknown then, so it reports what it has and ends
 */
import { threadId } from 'node:worker_threads';
import type { AbortReason, ExecuteOrder, Outcome } from '../../actors/execution.ts';
import { ColibriError, type ErrorData, toErrorData } from '../../actors/kernel/errors.ts';
import type { SharedMark } from '../../actors/kernel/shared-mark.ts';
import { type Tidier, TidyTimer } from '../../actors/kernel/tidier.ts';
import type { ResultFolder } from '../../actors/results/result-folder.ts';
import { type BatchMessage, type OutcomeRow, sharedClockOffsetMs } from '../cpu-pool/cpu-protocol.ts';
import { CpuRegion } from '../cpu-pool/cpu-region.ts';
import type { Handler } from '../handler.ts';
import { type ContextHost, type ContextLogLine, RunContext } from '../handler-context.ts';
import { latestOf } from '../latest-of.ts';
import { failed, stopped } from '../outcomes.ts';
import { runHandler } from '../run-handler.ts';
import type { ThreadVoice } from './thread-voice.ts';

/** Outcomes wait at most so long for the orders behind them in the batch. */
const FLUSH_AFTER_MS = 2;
/** How long the thread must have had nothing to do before it counts as idle; twice that at most. */
const IDLE_AFTER_MS = 125;

export interface CpuBatchRunnerOptions {
  /** Throws or rejects where the handler is unknown or cannot be loaded. */
  readonly resolve: (handler: string) => Handler | Promise<Handler>;
  readonly memory: SharedArrayBuffer;
  readonly voice: ThreadVoice;
  /** How far the journal has come: batches whose orders say so wait for it. */
  readonly mark?: SharedMark;
  /** Ends this thread. */
  readonly exit: () => void;
  /** Where large results go; null, the default: they are refused. */
  readonly results?: ResultFolder | null;
  /** Told after each batch, and when the work has run dry. */
  readonly tidier?: Tidier;
}

interface Batch {
  readonly message: BatchMessage;
  readonly region: CpuRegion;
  /** Outcomes with more to say than "success, null", not yet sent. */
  rows: OutcomeRow[];
  /** When outcomes last left, or the batch arrived. */
  flushedMono: number;
}

interface Current {
  readonly batch: Batch;
  readonly index: number;
  readonly order: ExecuteOrder;
  readonly context: RunContext;
  readonly startMono: number;
  /** Ends the order with an error that escaped it; null while it runs synchronously. */
  stray: ((thrown: unknown) => void) | null;
  /** Someone waits on its stop word. */
  listening: boolean;
}

export class CpuBatchRunner implements ContextHost {
  readonly #options: CpuBatchRunnerOptions;
  readonly #clockOffsetMs = sharedClockOffsetMs();
  readonly #regions = new Map<number, CpuRegion>();
  readonly #tidy: TidyTimer | null;
  #batch: Batch | null = null;
  #current: Current | null = null;
  #lastTasks: ReadonlySet<string> = new Set();
  #spoiled: ErrorData | null = null;
  #slowTimer: NodeJS.Timeout | null = null;

  constructor(options: CpuBatchRunnerOptions) {
    this.#options = options;
    const { tidier } = options;
    const isBusy = (): boolean => this.#batch !== null;
    this.#tidy = tidier === undefined ? null : new TidyTimer({ tidier, quietMs: IDLE_AFTER_MS, isBusy });
  }

  /** True while an order runs. */
  get busy(): boolean {
    return this.#current !== null;
  }

  /** What Piscina calls: text of a `BatchMessage` in, text of rows out (empty: none). */
  async run(text: string): Promise<string> {
    const message = JSON.parse(text) as BatchMessage;
    const region = this.#region(message.region);
    if (this.#spoiled !== null || !region.accept(message.batch, threadId)) return '';
    const arrivedMono = this.monoMs();
    const sentMono = message.sentMs - this.#clockOffsetMs;
    const batch: Batch = { message, region, rows: [], flushedMono: arrivedMono };
    this.#batch = batch;
    const { orders } = message;
    const after = latestOf(orders);
    if (after !== null) this.#options.mark?.waitSync(after);
    const tasks = new Set<string>();
    this.#lastTasks = tasks;
    for (let index = 0; index < orders.length; index++) {
      const order = orders[index] as ExecuteOrder;
      tasks.add(order.task);
      const nowMono = this.monoMs();
      if (index > 0 && nowMono - batch.flushedMono > FLUSH_AFTER_MS) this.#flush(batch, index);
      region.begin(index, Math.max(0, nowMono - sentMono));
      const reason = region.stopReason(index);
      let outcome = reason === null ? this.#start(batch, index, order, nowMono) : stopped(order, reason, 0);
      if (outcome instanceof Promise) outcome = await outcome;
      this.#finish(batch, index, outcome);
      if (this.#spoiled !== null) return this.#endWithin(batch, index + 1, this.#spoiled);
    }
    // What escaped one of several shows now. Whose it was cannot be told, but all that is done is reported.
    if (orders.length > 1) await new Promise(setImmediate);
    this.#batch = null;
    if (this.#spoiled !== null) return this.#endWithin(batch, orders.length, this.#spoiled);
    this.#tidy?.worked();
    return batch.rows.length === 0 ? '' : JSON.stringify(batch.rows);
  }

  /** For the thread's `uncaughtException` and `unhandledRejection`. */
  escaped(thrown: unknown): void {
    const current = this.#current;
    if (current !== null && current.stray !== null) {
      current.stray(thrown);
      return;
    }
    this.#spoiled ??= toErrorData(thrown);
    // Within a batch, `run` ends the thread, with what is done.
    if (this.#batch === null) this.#end(this.#spoiled, 0);
  }

  monoMs(): number {
    return performance.now();
  }

  log(line: ContextLogLine): void {
    this.#options.voice.log(line);
  }

  progress(run: string, fraction: number, note: string | null): void {
    this.#options.voice.progress(run, fraction, note);
  }

  pollAbort(run: string, attempt: number): AbortReason | null {
    const current = this.#current;
    if (current === null || current.order.run !== run || current.order.attempt !== attempt) return null;
    return current.batch.region.stopReason(current.index);
  }

  #start(batch: Batch, index: number, order: ExecuteOrder, startMono: number): Outcome | Promise<Outcome> {
    const context = new RunContext(order, this);
    const current: Current = {
      batch,
      index,
      order,
      context,
      startMono,
      stray: null,
      listening: false,
    };
    this.#current = current;
    let outcome: Outcome | Promise<Outcome>;
    try {
      const handle = this.#options.resolve(order.handler);
      outcome = handle instanceof Promise ? this.#load(handle, current) : this.#handle(handle, current);
    } catch (thrown) {
      outcome = failed(order, thrown, 0);
    }
    // An order that came alone may be one of which nothing is known: what escapes it at once is its own.
    const alone = batch.message.orders.length === 1;
    return outcome instanceof Promise || alone ? this.#attend(outcome, current, alone) : outcome;
  }

  async #load(handle: Promise<Handler>, current: Current): Promise<Outcome> {
    try {
      return await this.#handle(await handle, current);
    } catch (thrown) {
      return failed(current.order, thrown, this.monoMs() - current.startMono);
    }
  }

  #handle(handle: Handler, current: Current): Outcome | Promise<Outcome> {
    const { order, context } = current;
    return runHandler({ handle, order, context, monoMs, results: this.#options.results ?? null });
  }

  /** Waits for the outcome of the current order, or for an error that escapes it, whichever is first. */
  #attend(outcome: Outcome | Promise<Outcome>, current: Current, oneTurnMore: boolean): Promise<Outcome> {
    return new Promise((resolve) => {
      current.stray = (thrown) => {
        this.#spoiled ??= toErrorData(thrown);
        resolve(failed(current.order, escapedError(thrown), this.monoMs() - current.startMono));
      };
      const done = (settled: Outcome): void => {
        if (oneTurnMore) setImmediate(resolve, settled);
        else resolve(settled);
      };
      if (outcome instanceof Promise) {
        this.#watchSlow();
        outcome.then(done);
      } else {
        done(outcome);
      }
    });
  }

  #finish(batch: Batch, index: number, outcome: Outcome): void {
    if (this.#current?.listening === true) batch.region.release(index);
    this.#current = null;
    if (outcome.status === 'success' && outcome.result === 'null') {
      batch.region.endEmpty(index, outcome.durationMs);
      return;
    }
    const { status, result, error, durationMs, retryable } = outcome;
    batch.rows.push([index, status, result, error, durationMs, retryable]);
    batch.region.end(index);
  }

  #flush(batch: Batch, upTo: number): void {
    this.#options.voice.say({
      kind: 'flush',
      region: batch.message.region,
      batch: batch.message.batch,
      upTo,
      rows: batch.rows,
    });
    batch.rows = [];
    batch.flushedMono = this.monoMs();
  }

  /** Soon looks again at the order that waits for its promise; one timer serves all orders. */
  #watchSlow(): void {
    if (this.#slowTimer === null) {
      this.#slowTimer = setTimeout(() => this.#lookAtSlow(), FLUSH_AFTER_MS);
    } else {
      this.#slowTimer.refresh();
    }
  }

  /** The order takes long: what was done before it leaves, and its `signal` gets to know of a stop. */
  #lookAtSlow(): void {
    const current = this.#current;
    if (current === null || current.listening) return;
    const { batch, index, context } = current;
    if (this.monoMs() - current.startMono < FLUSH_AFTER_MS / 2) {
      this.#watchSlow();
      return;
    }
    if (index > 0) this.#flush(batch, index);
    current.listening = true;
    batch.region.stopped(index).then(() => {
      if (this.#current !== current) return;
      const reason = batch.region.stopReason(index);
      if (reason !== null) context.abort(reason);
    });
  }

  #endWithin(batch: Batch, upTo: number, cause: ErrorData): string {
    this.#flush(batch, upTo);
    this.#end(cause, batch.message.batch);
    return '';
  }

  #end(cause: ErrorData, batch: number): void {
    this.#options.voice.say({ kind: 'ending', batch, cause, tasks: [...this.#lastTasks] });
    this.#options.exit();
  }

  #region(index: number): CpuRegion {
    let region = this.#regions.get(index);
    if (region === undefined) {
      region = new CpuRegion(this.#options.memory, index);
      this.#regions.set(index, region);
    }
    return region;
  }
}

function monoMs(): number {
  return performance.now();
}

function escapedError(thrown: unknown): ColibriError {
  const { message } = toErrorData(thrown);
  return new ColibriError(
    'handler-failed',
    `expected the handler to wait for all it starts, got an error from a timer, an event or a promise that nobody waits for: ${message}`,
    { cause: thrown },
  );
}
