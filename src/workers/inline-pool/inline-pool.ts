/**
 * The async pool of functions that live on this thread: those of a program that holds the runtime as a library.
 *
 * What always holds:
 * - every order that was taken gets exactly one outcome; what a function says later is counted, logged and ignored
 * - `active` never exceeds the slots
 * - functions that end at once do not keep the event loop: after `TURN_MS` the rest waits for the next turn
 *
 *   taken ─▶ waiting for the journal, and for its input ─▶ running ── timeout, abort() ─▶ aborting ── grace ─▶ given up
 *
 * A function cannot be ended from outside. One that does not heed its signal loses its slot after the grace, and goes on
 * beside its successor.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type AbortReason,
  type ExecuteOrder,
  type Outcome,
  type Pool,
  PoolName,
} from '../../actors/execution.ts';
import type { Clock, ClockTimer } from '../../actors/kernel/clock.ts';
import { ColibriError, cutText, toErrorData } from '../../actors/kernel/errors.ts';
import { LinkedHashMap } from '../../actors/kernel/index.ts';
import type { LogRecord } from '../../actors/protocol.ts';
import { BusyMeter } from '../busy-meter.ts';
import { type ContextHost, type ContextLogLine, RunContext } from '../handler-context.ts';
import { LogLimiter } from '../log-limiter.ts';
import { failed, stopped, unread } from '../outcomes.ts';
import { runHandler } from '../run-handler.ts';
import type { InlinePoolOptions } from './inline-pool-options.ts';

/** How long functions that end at once may keep one turn of the event loop. */
const TURN_MS = 5;
const GRACE_MS = 1000;

interface Held {
  readonly order: ExecuteOrder;
  readonly context: RunContext;
  /** Since it was called; null: it waits for the journal, or for its input. */
  startMono: number | null;
  /** Why it was told to stop. */
  reason: AbortReason | null;
  /** Of its timeout, then of its grace. */
  timer: ClockTimer | null;
}

export class InlinePool implements Pool {
  readonly name = PoolName.Inline;
  readonly slots: number;
  readonly #options: InlinePoolOptions;
  readonly #clock: Clock;
  readonly #host: ContextHost;
  readonly #busy: BusyMeter;
  readonly #held = new LinkedHashMap<string, Held>();
  /** Functions run in the async context that the pool was made in, not in that of whoever happened to wake it. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #wakePlanned = false;
  /** When this turn has had its share, by the thread's own clock; null: no function ran in it yet. */
  #turnEndMono: number | null = null;
  /** There was more to do in this turn than its share. */
  #heldBack = false;
  #closed = false;
  #drained: (() => void)[] = [];
  #lateOutcomes = 0;

  constructor(options: InlinePoolOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.slots = Math.max(1, Math.floor(options.slots));
    this.#busy = new BusyMeter(this.#clock.monoMs());
    const limiter = new LogLimiter({ clock: this.#clock, thread: 'main', write: options.onLog });
    this.#host = {
      monoMs: () => this.#clock.monoMs(),
      log: (line) => {
        if (limiter.take()) options.onLog(this.#record(line));
      },
      progress: (run, fraction, note) =>
        options.onProgress(run, fraction, note === null ? null : cutText(note, 500)),
    };
  }

  get active(): number {
    return this.#held.size;
  }

  /** Results of runs that were given up before; each was counted and ignored. */
  get lateOutcomes(): number {
    return this.#lateOutcomes;
  }

  /** Share of slot time in use since the last look, 0 to 1. */
  get busyRatio(): number {
    this.#measure();
    return this.#busy.read(this.#clock.monoMs());
  }

  wake(): void {
    if (this.#wakePlanned) return;
    this.#wakePlanned = true;
    queueMicrotask(this.#fill);
  }

  abort(run: string, reason: AbortReason): boolean {
    const held = this.#held.get(run);
    if (held === undefined) return false;
    if (held.reason === null) this.#abort(held, reason);
    return true;
  }

  drain(): Promise<void> {
    this.#closed = true;
    if (this.active === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Aborts what runs and gives the outcomes at once: nothing here can be ended by force. */
  async destroy(): Promise<void> {
    this.#closed = true;
    for (const held of this.#held.values()) {
      held.reason ??= 'shutdown';
      held.context.abort(held.reason);
      this.#giveUp(held);
    }
  }

  readonly #fill = (): void => {
    this.#wakePlanned = false;
    const { source } = this.#options;
    while (!this.#closed && this.active < this.slots && source.peekTask() !== undefined) {
      this.#turnEndMono ??= this.#openTurn();
      if (performance.now() > this.#turnEndMono) {
        this.#heldBack = true;
        return;
      }
      const order = source.take();
      if (order === undefined) return;
      this.#take(order);
    }
  };

  #openTurn(): number {
    setImmediate(() => {
      this.#turnEndMono = null;
      if (this.#heldBack) this.wake();
      this.#heldBack = false;
    });
    return performance.now() + TURN_MS;
  }

  #take(order: ExecuteOrder): void {
    this.#measure();
    const context = new RunContext(order, this.#host);
    const held: Held = { order, context, startMono: null, reason: null, timer: null };
    this.#held.set(order.run, held);
    const { mark } = this.#options;
    const { after } = order;
    if (after === undefined || mark.passed(after)) return this.#read(held);
    void mark.wait(after).then(() => {
      if (this.#isHeld(held)) this.#read(held);
    });
  }

  #read(held: Held): void {
    const { order } = held;
    const reading = this.#options.wholeInput?.(order) ?? null;
    if (reading === null) return this.#start(held, order.input);
    reading.then(
      (input) => {
        if (this.#isHeld(held)) this.#start(held, input);
      },
      (error: unknown) => {
        if (this.#isHeld(held)) this.#settle(held, unreadOutcome(order, error));
      },
    );
  }

  #start(held: Held, input: string): void {
    const { order, context } = held;
    const { functions, watch, results = null } = this.#options;
    held.startMono = this.#clock.monoMs();
    const handle = functions.get(order.handler);
    if (handle === undefined) {
      const got = JSON.stringify(order.handler);
      const error = new ColibriError('no-such-handler', `expected a function of this program, got ${got}`);
      return this.#settle(held, failed(order, error, 0));
    }
    held.timer = this.#clock.setTimer(order.timeoutMs, () => this.#abort(held, 'timeout'));
    const monoMs = this.#host.monoMs;
    const given = input === order.input ? order : { ...order, input };
    const outcome = watch.call(order, () =>
      this.#outside(() => runHandler({ handle, order: given, context, monoMs, results })),
    );
    if (outcome instanceof Promise) outcome.then((settled) => this.#settle(held, settled));
    else this.#settle(held, outcome);
  }

  #abort(held: Held, reason: AbortReason): void {
    held.reason = reason;
    held.timer?.cancel();
    if (held.startMono === null) return this.#giveUp(held);
    held.timer = this.#clock.setTimer(this.#options.graceMs ?? GRACE_MS, () => this.#giveUp(held));
    held.context.abort(reason);
  }

  #giveUp(held: Held): void {
    const ranMs = held.startMono === null ? 0 : this.#clock.monoMs() - held.startMono;
    this.#settle(held, stopped(held.order, held.reason ?? 'timeout', ranMs));
  }

  /** The one place an outcome leaves by: the first one of an order does, the others are late. */
  #settle(held: Held, outcome: Outcome): void {
    const { order } = held;
    this.#options.watch.ended(order);
    if (!this.#isHeld(held)) return this.#late(order, outcome);
    this.#measure();
    this.#held.delete(order.run);
    held.timer?.cancel();
    this.#options.onOutcome(outcome);
    if (!this.#closed || this.active > 0) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #late({ run, task, attempt }: ExecuteOrder, { status }: Outcome): void {
    this.#lateOutcomes++;
    this.#options.onLog({
      level: 'info',
      atMs: this.#clock.wallMs(),
      msg: 'ignored what a run that was given up came to in the end',
      fields: { run, task, attempt, result: status, late_results: this.#lateOutcomes },
    });
  }

  #isHeld(held: Held): boolean {
    return this.#held.get(held.order.run) === held;
  }

  #measure(): void {
    this.#busy.add(this.active, this.slots, this.#clock.monoMs());
  }

  #record({ level, message, fields, run, task, attempt }: ContextLogLine): LogRecord {
    const msg = cutText(message);
    return { level, atMs: this.#clock.wallMs(), msg, fields: { ...jsonFields(fields), run, task, attempt } };
  }
}

/** What is gone stays gone; whoever could not answer may do so later, and until then no try of the run is used up. */
function unreadOutcome(order: ExecuteOrder, error: unknown): Outcome {
  const cause = toErrorData(error, 'internal');
  return cause.code === 'input-invalid' ? failed(order, error, 0) : unread(order, cause);
}

/** Fields as they will be read: what is no JSON, or is long, must not reach the link between threads. */
function jsonFields(fields: ContextLogLine['fields']): Readonly<Record<string, unknown>> {
  if (fields === null) return {};
  try {
    const text = JSON.stringify(fields);
    return text.length <= 8192 ? JSON.parse(text) : { fields_cut: `${text.length} characters` };
  } catch {
    return { fields_cut: 'not JSON' };
  }
}
