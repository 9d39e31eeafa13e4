/**
 * The thread side of an async pool: starts handlers, many in flight, and answers each order with exactly
 * one outcome.
 *
 * It has no deadlines and no slots: main sends as many orders as there are slots and owns the deadlines
 * (`IoPool`). `abort` trips the run's signal; `kill` gives the run up at once, and what its handler says
 * later is counted and logged as late, never sent.
 */

import type { AbortReason, ExecuteOrder, Outcome } from '../../actors/execution.ts';
import type { Clock } from '../../actors/kernel/clock.ts';
import { type ActorRef, Delivery, type EnvelopeOf } from '../../actors/kernel/envelope.ts';
import {
  assertNever,
  type ColibriError,
  cutText,
  errorTextLength,
  toErrorData,
} from '../../actors/kernel/errors.ts';
import {
  type ActorContext,
  type ActorDefinition,
  type Answer,
  type Behaviour,
  LinkedHashMap,
  type SharedMark,
} from '../../actors/kernel/index.ts';
import { IO_MAILBOX_BYTES } from '../../actors/mailboxes.ts';
import type { IoMessages, LogRecord, RunsMessages, TelemetryMessages } from '../../actors/protocol.ts';
import type { ResultFolder } from '../../actors/results/result-folder.ts';
import type { Handler } from '../handler.ts';
import { type ContextHost, type ContextLogLine, RunContext } from '../handler-context.ts';
import { latestOf } from '../latest-of.ts';
import { LogLimiter } from '../log-limiter.ts';
import { failed, interrupted, stopped } from '../outcomes.ts';
import type { Registry } from '../registry.ts';
import { runHandler } from '../run-handler.ts';
import type { BegunRun } from './begun-run.ts';
import { type GuardHandlers, guardThread, type ThreadGuard } from './guard-thread.ts';
import { ioChecks } from './io-checks.ts';

export interface IoActorOptions {
  readonly name: 'io' | 'guest';
  readonly registry: Registry;
  readonly reportTo: 'runs';
  /** Where handlers' log lines go; null: nowhere. Default `telemetry`. */
  readonly logTo?: 'telemetry' | null;
  /** The most orders main has in flight here; the mailbox holds three messages of each. Default 256. */
  readonly maxSlots?: number;
  /** How far the journal has come: orders that say so wait for it. */
  readonly mark?: SharedMark;
  /** Where it notes which handler it has called; for a thread with users' modules. */
  readonly begun?: BegunRun;
  /** Attributes stray errors to their runs; for a thread with users' modules. Default: on for `guest`. */
  readonly guard?: ((handlers: GuardHandlers) => ThreadGuard) | null;
  /** Where large results go; null, the default: they are refused. */
  readonly results?: ResultFolder | null;
  readonly clock?: Clock;
}

/** Describes the actor; the kernel creates it on the thread of its placement. */
export function ioActor(options: IoActorOptions): ActorDefinition<IoMessages> {
  return {
    name: options.name,
    mailbox: {
      capacity: 3 * (options.maxSlots ?? 256),
      capacityBytes: IO_MAILBOX_BYTES,
      whenFull: 'reject',
    },
    checks: ioChecks,
    create: (context) => new IoActor(options, context),
  };
}

/**
 * Bounds of one message: outcomes, and code units of what they carry, unless a single one carries more. Few, so that main
 * works on the first while the others are made.
 */
export const LETTER_OUTCOMES = 16;
export const LETTER_TEXT = 256 * 1024;

interface LiveRun {
  readonly order: ExecuteOrder;
  readonly context: RunContext;
  readonly startMono: number;
}

class IoActor implements Behaviour<IoMessages> {
  readonly #name: string;
  readonly #registry: Registry;
  readonly #mark: SharedMark | null;
  readonly #clock: Clock;
  readonly #monoMs: () => number;
  readonly #runs: ActorRef<RunsMessages>;
  readonly #telemetry: ActorRef<TelemetryMessages> | null;
  readonly #host: ContextHost;
  readonly #guard: ThreadGuard | null;
  readonly #begun: BegunRun | null;
  readonly #results: ResultFolder | null;
  readonly #limiter: LogLimiter;
  readonly #live = new LinkedHashMap<string, LiveRun>();
  /** Not reported yet: what ended in this turn. */
  #ended: Outcome[] = [];
  #lateResults = 0;

  constructor(options: IoActorOptions, context: ActorContext) {
    const clock = options.clock ?? context.clock;
    this.#name = options.name;
    this.#clock = clock;
    this.#monoMs = () => clock.monoMs();
    this.#registry = options.registry;
    this.#results = options.results ?? null;
    this.#mark = options.mark ?? null;
    this.#begun = options.begun ?? null;
    this.#runs = context.ref<RunsMessages>(options.reportTo);
    const logTo = options.logTo === undefined ? 'telemetry' : options.logTo;
    this.#telemetry = logTo === null ? null : context.ref<TelemetryMessages>(logTo);
    this.#limiter = new LogLimiter({
      clock,
      thread: options.name,
      write: (record) => void this.#telemetry?.tryTell('log', record),
    });
    this.#host = {
      monoMs: this.#monoMs,
      log: (line) => this.#logLine(line),
      progress: (run, fraction, note) => {
        this.#runs.tryTell('progress', { run, fraction, note: note === null ? null : cutText(note, 500) });
      },
    };
    const guard = options.guard === undefined ? defaultGuard(options.name) : options.guard;
    this.#guard =
      guard?.({
        onOwned: (run, error) => this.#onStray(run, error),
        onUnowned: (error) => this.#log('error', `a handler of no known run failed: ${error.message}`, null),
      }) ?? null;
  }

  receive(envelope: EnvelopeOf<IoMessages>, _answer: Answer): void | Promise<void> {
    switch (envelope.kind) {
      case 'execute':
        return this.#executeAll(envelope.body.orders);
      case 'abort':
        this.#live.get(envelope.body.run)?.context.abort(envelope.body.reason);
        break;
      case 'kill':
        this.#kill(envelope.body.run, envelope.body.reason);
        break;
      default:
        assertNever(envelope, 'message of an io actor');
    }
  }

  /** Main has ended its orders before it stops a thread; whatever is held now is not to blame. */
  stop(): void {
    const message = `the ${this.#name} actor was stopped while it held the run`;
    for (const live of this.#live.values()) {
      live.context.kill('shutdown');
      this.#settle(live, interrupted(live.order, { code: 'thread-lost', message }, this.#ranMs(live)));
    }
    this.#report();
    this.#guard?.close();
  }

  /** What comes behind it waits too: an order must not be told to stop before it is there. */
  #executeAll(orders: readonly ExecuteOrder[]): void | Promise<void> {
    const after = latestOf(orders);
    if (this.#mark !== null && after !== null && !this.#mark.passed(after)) {
      return this.#mark.wait(after).then(() => this.#startAll(orders));
    }
    this.#startAll(orders);
  }

  #startAll(orders: readonly ExecuteOrder[]): void {
    for (const order of orders) this.#execute(order);
  }

  #execute(order: ExecuteOrder): void {
    // The same run twice at once would be two outcomes for one order; main never sends it.
    if (this.#live.has(order.run)) return;
    const live: LiveRun = {
      order,
      context: new RunContext(order, this.#host),
      startMono: this.#clock.monoMs(),
    };
    this.#live.set(order.run, live);
    if (this.#guard === null) this.#start(live);
    else this.#guard.runAs(order.run, () => this.#start(live));
  }

  #start(live: LiveRun): void {
    let handle: Handler | Promise<Handler>;
    try {
      handle = this.#registry.resolve(live.order.handler);
    } catch (thrown) {
      this.#settle(live, failed(live.order, thrown, 0));
      return;
    }
    if (typeof handle === 'function') {
      this.#run(live, handle);
      return;
    }
    handle.then(
      (loaded) => {
        if (this.#live.get(live.order.run) === live) this.#run(live, loaded);
      },
      (thrown: unknown) => this.#settle(live, failed(live.order, thrown, this.#ranMs(live))),
    );
  }

  #run(live: LiveRun, handle: Handler): void {
    if (live.context.abortReason !== null) {
      this.#settle(live, stopped(live.order, live.context.abortReason, this.#ranMs(live)));
      return;
    }
    const { order, context } = live;
    this.#begun?.enter(order.run);
    const results = this.#results;
    const outcome = runHandler({ handle, order, context, monoMs: this.#monoMs, results });
    this.#begun?.leave();
    if (outcome instanceof Promise) outcome.then((settled) => this.#settle(live, settled));
    else this.#settle(live, outcome);
  }

  #kill(run: string, reason: AbortReason): void {
    const live = this.#live.get(run);
    if (live === undefined) return;
    // Processes first: who gets the outcome may end this thread.
    live.context.kill(reason);
    this.#settle(live, stopped(live.order, live.context.abortReason ?? reason, this.#ranMs(live)));
  }

  #onStray(run: string, error: ColibriError): void {
    const live = this.#live.get(run);
    if (live === undefined) {
      this.#log('warn', `run ${run} had ended when its handler failed again: ${error.message}`, { run });
      return;
    }
    this.#settle(live, failed(live.order, error, this.#ranMs(live)));
    live.context.abort('cancel');
  }

  /** The one place an outcome leaves by: the first one of an order does, the others are late. */
  #settle(live: LiveRun, outcome: Outcome): void {
    const { run, task, attempt } = live.order;
    if (this.#live.get(run) !== live) {
      this.#lateResults++;
      const fields = { run, task, attempt, result: outcome.status, late_results: this.#lateResults };
      this.#log('info', 'ignored what a run that was given up came to in the end', fields);
      return;
    }
    this.#live.delete(run);
    this.#ended.push(outcome);
    if (this.#ended.length === 1) queueMicrotask(() => this.#report());
  }

  /** What ended within one turn travels together, in letters of a bounded size, in the order it ended. */
  #report(): void {
    const ended = this.#ended;
    this.#ended = [];
    for (let from = 0; from < ended.length; ) {
      const to = letterEnd(ended, from);
      this.#tellRuns(ended.slice(from, to));
      from = to;
    }
  }

  /**
   * Waits where there is no room: at most one letter a slot. Refused for good (the receiver is stopped), the
   * outcomes are lost here but not the runs: main holds each until its deadline and then ends it itself.
   */
  #tellRuns(outcomes: readonly Outcome[]): void {
    if (this.#runs.tryTell('outcomes', { outcomes }) === Delivery.Delivered) return;
    this.#runs.tell('outcomes', { outcomes }).catch((thrown: unknown) => {
      const why = toErrorData(thrown).message;
      const fields = { runs: outcomes.slice(0, 10).map(({ run }) => run), count: outcomes.length };
      this.#log('error', `could not report outcomes; deadlines will end their runs: ${why}`, fields);
    });
  }

  #ranMs(live: LiveRun): number {
    return this.#clock.monoMs() - live.startMono;
  }

  #logLine(line: ContextLogLine): void {
    if (!this.#limiter.take()) return;
    const { run, task, attempt } = line;
    this.#log(line.level, cutText(line.message), { ...line.fields, run, task, attempt });
  }

  #log(level: LogRecord['level'], msg: string, fields: Readonly<Record<string, unknown>> | null): void {
    this.#telemetry?.tryTell('log', {
      level,
      atMs: this.#clock.wallMs(),
      msg,
      fields: fields === null ? null : jsonFields(fields),
    });
  }
}

/** Where the letter that starts at `from` ends. */
function letterEnd(ended: readonly Outcome[], from: number): number {
  const limit = Math.min(ended.length, from + LETTER_OUTCOMES);
  let text = 0;
  for (let at = from; at < limit; at++) {
    text += textOf(ended[at]!);
    if (text > LETTER_TEXT && at > from) return at;
  }
  return limit;
}

/** Code units of the result or, for a failure, of its texts: some 48 Ki at most, cut where it was made. */
function textOf({ result, error }: Outcome): number {
  return (result?.length ?? 0) + errorTextLength(error);
}

function defaultGuard(name: 'io' | 'guest'): typeof guardThread | null {
  return name === 'guest' ? guardThread : null;
}

/** Fields as they will be read: what is no JSON, or is long, must not reach the link between threads. */
function jsonFields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { run, task, attempt } = fields;
  try {
    const text = JSON.stringify(fields);
    if (text.length <= 8192) return JSON.parse(text);
    return { run, task, attempt, fields_cut: `${text.length} characters` };
  } catch {
    return { run, task, attempt, fields_cut: 'not JSON' };
  }
}
