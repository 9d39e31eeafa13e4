/**
 * The main thread's side of one other thread, through all its lives.
 *
 * ```
 *            start             ready
 *  stopped ────────▶ starting ───────▶ running
 *     ▲                 ▲  │ lost        │ lost
 *     │ stop            └──┴─────────────┘   within the restart intensity, else ▶ stopped, onEscalate
 *  stopping ◀── stop ── any
 * ```
 * What always holds:
 * - of start and stop the last call wins; each is idempotent and its callers share one promise
 * - between lives messages wait, within the bound of the outbox, for the next life
 * - a lost thread: every question to its actors is rejected with one cause, here and on the other threads; what
 *   was not known to be handled is reported as undeliverable; `onLost` is called once
 */
import { type Clock, systemClock } from './clock.ts';
import { CreditChannel, DEFAULT_CREDIT } from './credit-channel.ts';
import { Delivery } from './envelope.ts';
import { ColibriError, type ErrorData, fromErrorData } from './errors.ts';
import { setLimit } from './limit-timer.ts';
import { LinkReceiver } from './link-receiver.ts';
import { DEFAULT_RESTART, RestartWindow } from './supervisor.ts';
import { ThreadLife } from './thread-life.ts';
import { type ThreadLinkOptions, ThreadState, type ThreadStats } from './thread-link-options.ts';
import type { ThreadSight } from './thread-sight.ts';
import { UndeliverableReason } from './undeliverable.ts';
import { asEnvelope, isReplyText } from './wire.ts';

/** Threads that sit in a native call and do not end: with more of them, the process is better begun anew. */
const MAX_LEFT_BEHIND = 8;

/** Envelope ids a life may use: answers meant for one life never fit questions of another. */
const IDS_PER_LIFE = 2 ** 40;
const LIVES_BEFORE_WRAP = 4096;

export class ThreadLink {
  readonly name: string;
  /** Collections of garbage that the thread told of, in all of its lives. */
  collections = 0;
  readonly #options: ThreadLinkOptions;
  readonly #clock: Clock;
  readonly #restarts: RestartWindow;
  readonly #receiver: LinkReceiver;
  #state: ThreadState = ThreadState.Stopped;
  #channel: CreditChannel;
  #life: ThreadLife | null = null;
  #lives = 0;
  /** Settled when the thread is ready next, or will not be. */
  #ready: PromiseWithResolvers<void> | null = null;
  #stopping: Promise<void> | null = null;
  /** What the last call of start or stop asked for. */
  #wanted = false;
  #activeSeenMs = 0;
  /** Lives that have ended, whose threads may still be there: those inside a native call. */
  #ended = new Set<ThreadLife>();
  #closed: (() => void) | null = null;
  #forgetLost: (() => void) | null = null;

  constructor(options: ThreadLinkOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#restarts = new RestartWindow(options.restart ?? DEFAULT_RESTART);
    this.#receiver = new LinkReceiver(options.name, options.system, options.route);
    this.#channel = this.#createChannel();
  }

  get stats(): ThreadStats {
    return {
      ...this.#channel.stats,
      thread: this.name,
      state: this.#state,
      restarts: this.#restarts.total,
      loopDelayMs: this.#life?.loopDelayMs ?? 0,
      heapBytes: this.#life?.heapBytes ?? 0,
      malformed: this.#receiver.malformed + (this.#life?.malformed ?? 0),
    };
  }

  /** True while the thread of an ended life is still there: it sits in a native call. */
  get leftBehind(): boolean {
    return [...this.#ended].some((life) => !life.exited);
  }

  /** Time the thread's event loop was busy since the last call, ms; 0 for a thread that was started meanwhile. */
  takeActiveMs(): number {
    const active = this.#life?.activeMs ?? 0;
    const since = Math.max(0, active - this.#activeSeenMs);
    this.#activeSeenMs = active;
    return since;
  }

  /** Resolves when the host is ready. Rejects with `thread-lost`, or `shutting-down` after a `stop` meanwhile. */
  start(): Promise<void> {
    this.#wanted = true;
    if (this.#stopping !== null) {
      return this.#stopping.then(() => {
        if (!this.#wanted) throw stoppedError(this.name);
        return this.start();
      });
    }
    if (this.#state === ThreadState.Running) return Promise.resolve();
    if (this.#ready === null) {
      if (this.#channel.closed) this.#channel = this.#createChannel();
      this.#forgetLost = this.#options.system.onThreadLost((thread, cause) => {
        if (thread !== this.name) this.#life?.control({ k: 'lost', thread, cause });
      });
      this.#expectReady();
      this.#spawn();
    }
    return this.#ready!.promise;
  }

  /** Never waits. `full`: the outbox is at its bound; `closed`: the thread is stopped. */
  trySend(text: string): Delivery {
    return this.#refuses(text) ? Delivery.Closed : this.#channel.trySend(text);
  }

  /** Waits for room in the outbox. Rejects with `mailbox-closed` (stopped) or `thread-lost` (lost meanwhile). */
  send(text: string): Promise<void> {
    return this.#refuses(text)
      ? Promise.reject(stoppedError(this.name, 'mailbox-closed'))
      : this.#channel.send(text);
  }

  /** Memory is short: has the thread collect its garbage at once. Otherwise that is its own affair. */
  collect(): void {
    if (this.#state === ThreadState.Running) this.#life?.control({ k: 'collect' });
  }

  /**
   * Its event loop is blocked: ends this life by force, as lost with this cause, once it was looked at what blocks it.
   * Resolves when the next one is ready, or there is none.
   */
  async replace(cause: ErrorData): Promise<void> {
    if (this.#state === ThreadState.Running) await this.#life?.endBlocked(cause);
    await this.#ready?.promise.catch(() => {});
  }

  /**
   * Lets the thread close its actors for at most `graceMs`, then ends it. Resolves when it is gone; a thread
   * inside a long native call is left behind after a second.
   */
  stop(graceMs: number): Promise<void> {
    this.#wanted = false;
    if (this.#state === ThreadState.Stopped) {
      this.#closeChannel(stoppedError(this.name, 'mailbox-closed'), UndeliverableReason.MailboxClosed);
      return Promise.resolve();
    }
    this.#stopping ??= this.#stop(graceMs).finally(() => {
      this.#stopping = null;
    });
    return this.#stopping;
  }

  async #stop(graceMs: number): Promise<void> {
    const life = this.#life;
    const wasRunning = this.#state === ThreadState.Running;
    this.#state = ThreadState.Stopping;
    this.#settleReady(stoppedError(this.name));
    if (life !== null && wasRunning) await this.#closeHost(life, graceMs);
    const cause: ErrorData = { code: 'thread-lost', message: `thread ${this.name} was stopped` };
    life?.end(cause);
    this.#retire(cause, UndeliverableReason.MailboxClosed);
    await life?.gone;
    this.#setStopped();
  }

  /** Resolves when the host is closed, gone, or out of time. */
  #closeHost(life: ThreadLife, graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setLimit(this.#clock, graceMs, resolve);
      this.#closed = () => {
        timer.cancel();
        this.#closed = null;
        resolve();
      };
      void this.#channel.drained().then(() => life.control({ k: 'close' }));
    });
  }

  #spawn(): void {
    const options = this.#options;
    const number = this.#lives++;
    const credit = options.credit ?? DEFAULT_CREDIT;
    this.#state = ThreadState.Starting;
    const life: ThreadLife = new ThreadLife({
      name: this.name,
      file: options.file,
      workerData: {
        ...options.workerData,
        thread: this.name,
        placement: options.system.placement,
        credit,
        firstId: 1 + (number % LIVES_BEFORE_WRAP) * IDS_PER_LIFE,
      },
      resourceLimits: options.resourceLimits,
      clock: this.#clock,
      heartbeat: options.heartbeat ?? { everyMs: 1000, missedMs: 5000 },
      startTimeoutMs: options.startTimeoutMs ?? 30_000,
      onReady: () => this.#becomeRunning(life, number > 0),
      onData: (frame) => this.#channel.accept(frame),
      onClosed: () => this.#closed?.(),
      onCollected: () => void this.collections++,
      onBeat: () => this.#channel.flush(),
      onEnd: (cause, sight) => this.#lifeEnded(life, cause, sight),
    });
    this.#life = life;
  }

  #becomeRunning(life: ThreadLife, again: boolean): void {
    if (this.#state !== ThreadState.Starting) return;
    this.#state = ThreadState.Running;
    this.#channel.attach((frame) => life.post(frame), this.#receiver);
    this.#settleReady(null);
    if (again) this.#options.onRestarted?.();
  }

  #lifeEnded(life: ThreadLife, cause: ErrorData, sight: ThreadSight | null): void {
    this.#life = null;
    for (const past of this.#ended) if (past.exited) this.#ended.delete(past);
    this.#ended.add(life);
    if (this.#state === ThreadState.Stopping) {
      this.#closed?.();
      return;
    }
    this.#retire(cause, UndeliverableReason.ThreadLost);
    this.#expectReady();
    this.#state = ThreadState.Starting;
    this.#options.onLost?.(cause, sight);
    // onLost may have called stop.
    if (!this.#wanted) return;
    const left = [...this.#ended].filter((past) => !past.exited).length;
    if (left > MAX_LEFT_BEHIND || !this.#restarts.tryRestart(this.#clock.monoMs())) {
      this.#escalate(cause);
      return;
    }
    this.#channel = this.#createChannel();
    const lives = this.#lives;
    void life.gone.then(() => {
      if (this.#wanted && this.#lives === lives && this.#state === ThreadState.Starting) this.#spawn();
    });
  }

  #escalate(cause: ErrorData): void {
    const error = new ColibriError(
      'thread-lost',
      `expected thread ${this.name} to run, got more losses than its restart intensity allows; the last: ${cause.message}`,
      { cause: fromErrorData(cause) },
    );
    this.#settleReady(error);
    this.#setStopped();
    this.#options.onEscalate(error);
  }

  /** This life and its channel are over: nobody there will answer, and what it held is given up. */
  #retire(cause: ErrorData, reason: UndeliverableReason): void {
    this.#options.system.threadLost(this.name, cause);
    this.#closeChannel(fromErrorData(cause), reason);
  }

  #closeChannel(error: ColibriError, reason: UndeliverableReason): void {
    for (const text of this.#channel.close(error)) {
      const envelope = asEnvelope(JSON.parse(text));
      if (envelope !== null) this.#options.system.reportUndeliverable(envelope, reason);
    }
  }

  #setStopped(): void {
    this.#state = ThreadState.Stopped;
    this.#forgetLost?.();
    this.#forgetLost = null;
  }

  #refuses(text: string): boolean {
    return this.#state === ThreadState.Stopping && !isReplyText(text);
  }

  #expectReady(): void {
    if (this.#ready !== null) return;
    this.#ready = Promise.withResolvers<void>();
    // A restart that fails is told by onEscalate; without a caller of start nobody else listens.
    this.#ready.promise.catch(() => {});
  }

  #settleReady(error: ColibriError | null): void {
    if (error === null) this.#ready?.resolve();
    else this.#ready?.reject(error);
    this.#ready = null;
  }

  #createChannel(): CreditChannel {
    return new CreditChannel(this.#options.credit ?? DEFAULT_CREDIT, `the outbox to thread ${this.name}`);
  }
}

function stoppedError(
  name: string,
  code: 'shutting-down' | 'mailbox-closed' = 'shutting-down',
): ColibriError {
  return new ColibriError(code, `expected thread ${name} to be running, got its stop`);
}
