/**
 * What a handler is given beside its input, on any thread.
 *
 * A run that asks for nothing pays for nothing: the abort controller, the logger and the progress function
 * are made on first use. All members also work when taken apart (`{ progress, log, signal }`).
 */

import type { AbortReason, ExecuteOrder } from '../actors/execution.ts';
import type { HandlerContext, HandlerLog } from './handler.ts';
import { abortError } from './outcomes.ts';

/** At most four a second of one run are passed on. */
export const PROGRESS_INTERVAL_MS = 250;

export type ContextLogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ContextLogLine {
  readonly level: ContextLogLevel;
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** Where what a handler says goes; one object a thread, shared by all its contexts. */
export interface ContextHost {
  /** Monotonic time in ms. */
  monoMs(): number;
  log(line: ContextLogLine): void;
  /** `fraction` is within 0 to 1. */
  progress(run: string, fraction: number, note: string | null): void;
  /**
   * For a thread whose event loop a handler may block: looks up (in shared memory) whether the run was told
   * to stop. Asked on each look at `aborted`.
   */
  pollAbort?(run: string, attempt: number): AbortReason | null;
}

export class RunContext implements HandlerContext {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly #host: ContextHost;
  #reason: AbortReason | null = null;
  #controller: AbortController | null = null;
  #log: HandlerLog | null = null;
  #nextProgressMono = Number.NEGATIVE_INFINITY;
  #onKill: (() => void) | null = null;

  constructor(order: Pick<ExecuteOrder, 'run' | 'task' | 'attempt'>, host: ContextHost) {
    this.run = order.run;
    this.task = order.task;
    this.attempt = order.attempt;
    this.#host = host;
  }

  get aborted(): boolean {
    return this.abortReason !== null;
  }

  /** Why the run was told to stop; null: it was not. */
  get abortReason(): AbortReason | null {
    if (this.#reason === null) {
      const polled = this.#host.pollAbort?.(this.run, this.attempt) ?? null;
      if (polled !== null) this.abort(polled);
    }
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(abortError(this.#reason));
    }
    return this.#controller.signal;
  }

  get log(): HandlerLog {
    this.#log ??= {
      debug: (message, fields) => this.#write('debug', message, fields),
      info: (message, fields) => this.#write('info', message, fields),
      warn: (message, fields) => this.#write('warn', message, fields),
      error: (message, fields) => this.#write('error', message, fields),
    };
    return this.#log;
  }

  get progress(): (fraction: number, note?: string) => void {
    return (fraction, note) => this.#progress(fraction, note);
  }

  /** Tells the run to stop. The first reason stays; listeners that throw are the handler's own affair. */
  abort(reason: AbortReason): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#controller?.abort(abortError(reason));
  }

  /** For a handler that owns processes: called when the run is given up and nothing waits for it any more. */
  onKill(callback: () => void): void {
    this.#onKill = callback;
  }

  /** Aborts, and ends by force what `onKill` knows of. */
  kill(reason: AbortReason): void {
    this.abort(reason);
    this.#onKill?.();
    this.#onKill = null;
  }

  #write(
    level: ContextLogLevel,
    message: string,
    fields: Readonly<Record<string, unknown>> | undefined,
  ): void {
    const { run, task, attempt } = this;
    this.#host.log({ level, run, task, attempt, message: String(message), fields: fields ?? null });
  }

  /** The end (1) is passed on once, whenever it comes; a value that is no number is left out. */
  #progress(fraction: number, note: string | undefined): void {
    if (!Number.isFinite(fraction)) return;
    const nowMono = this.#host.monoMs();
    const mayEnd = fraction >= 1 && this.#nextProgressMono !== Number.POSITIVE_INFINITY;
    if (nowMono < this.#nextProgressMono && !mayEnd) return;
    this.#nextProgressMono = fraction < 1 ? nowMono + PROGRESS_INTERVAL_MS : Number.POSITIVE_INFINITY;
    this.#host.progress(this.run, Math.min(1, Math.max(0, fraction)), note ?? null);
  }
}
