/**
 * One life of a thread, from its start to its end: readiness, heartbeats, and why it ended.
 *
 * What always holds: `onEnd` is called exactly once, whatever ends the life first (an exit, an error, an
 * exhausted heap, missed heartbeats, a start that takes too long, or `end`); after it no frame is passed on.
 * Heartbeats are counted in beats and not in time: where this side was busy or suspended itself, one beat was
 * missed and not fifty.
 */
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads';
import type { Clock, ClockTimer } from './clock.ts';
import { ERROR_CODES, type ErrorCode, type ErrorData, toErrorData } from './errors.ts';
import { lookAtThread, placeText, type ThreadSight } from './thread-sight.ts';
import { type ControlFrame, type DataFrame, encodeControl, parseFrame } from './wire.ts';

export interface Heartbeat {
  readonly everyMs: number;
  /** Without a sign of life for so long a thread counts as lost. */
  readonly missedMs: number;
}

export type StartThread = (options: WorkerOptions) => Worker;

export interface ThreadLifeOptions {
  readonly name: string;
  readonly file: string | URL | StartThread;
  readonly workerData: Readonly<Record<string, unknown>>;
  readonly resourceLimits: ResourceLimits | undefined;
  readonly clock: Clock;
  readonly heartbeat: Heartbeat;
  readonly startTimeoutMs: number;
  readonly onReady: () => void;
  readonly onData: (frame: DataFrame) => void;
  /** The host has closed its actors, as it was asked to. */
  readonly onClosed: () => void;
  /** The thread has collected its garbage. */
  readonly onCollected: () => void;
  /** Before each ping: what is owed to the thread goes along. */
  readonly onBeat: () => void;
  /** `sight`: what it was doing, where it was ended for being blocked. */
  readonly onEnd: (cause: ErrorData, sight: ThreadSight | null) => void;
}

/** A thread inside one long native call cannot be ended; nobody waits for it longer than this. */
const GONE_TIMEOUT_MS = 1000;

export class ThreadLife {
  /** Resolves when the thread is gone, or does not go. Never rejects. */
  readonly gone: Promise<void>;
  readonly #options: ThreadLifeOptions;
  readonly #worker: Worker;
  readonly #setGone: () => void;
  #ready = false;
  #ended = false;
  #exited = false;
  #error: unknown;
  #failed = false;
  #looking = false;
  #timer: ClockTimer | null = null;
  #silentBeats = 0;
  #nextPing = 0;
  #loopDelayMs = 0;
  #heapBytes = 0;
  #malformed = 0;

  /** True once the thread is gone for real. */
  get exited(): boolean {
    return this.#exited;
  }

  /** Time its event loop was busy since the start of the thread, ms. */
  get activeMs(): number {
    return this.#worker.performance.eventLoopUtilization().active;
  }

  constructor(options: ThreadLifeOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.#setGone = resolve;
    this.#options = options;
    const { file, name, workerData, resourceLimits } = options;
    const workerOptions = { workerData, name, ...(resourceLimits === undefined ? {} : { resourceLimits }) };
    this.#worker = typeof file === 'function' ? file(workerOptions) : new Worker(file, workerOptions);
    this.#worker.on('message', (message: unknown) => this.#receive(message));
    this.#worker.on('messageerror', () => this.#malformed++);
    this.#worker.on('error', (error: unknown) => {
      this.#failed = true;
      this.#error = error;
    });
    this.#worker.on('exit', (code: number) => {
      this.#exited = true;
      this.#finish(this.#causeOfExit(code), null);
      this.#setGone();
    });
    this.#timer = options.clock.setTimer(options.startTimeoutMs, () => {
      this.end(lost(options.name, `expected to be ready within ${options.startTimeoutMs} ms, got nothing`));
    });
    this.#timer.unref();
  }

  /** Worst delay of the event loop of the thread since its report before the last. */
  get loopDelayMs(): number {
    return this.#loopDelayMs;
  }

  /** What its heap used at its last report. */
  get heapBytes(): number {
    return this.#heapBytes;
  }

  get malformed(): number {
    return this.#malformed;
  }

  post(frame: string): void {
    if (!this.#ended) this.#worker.postMessage(frame);
  }

  control(frame: ControlFrame): void {
    this.post(encodeControl(frame));
  }

  /** Ends the thread by force. `onEnd` is called before this returns; `gone` tells when it is. */
  end(cause: ErrorData, sight: ThreadSight | null = null): void {
    if (this.#ended) return;
    this.#finish(cause, sight);
    const timer = this.#options.clock.setTimer(GONE_TIMEOUT_MS, this.#setGone);
    void this.gone.then(() => timer.cancel());
    this.#worker.terminate().then(this.#setGone, this.#setGone);
  }

  /** The same for a thread whose event loop is blocked: it is looked first at what blocks it. */
  async endBlocked(cause: ErrorData): Promise<void> {
    if (this.#ended || this.#looking) return;
    this.#looking = true;
    const sight = await lookAtThread(this.#worker);
    this.end({ ...cause, message: cause.message + placeText(sight) }, sight);
  }

  #finish(cause: ErrorData, sight: ThreadSight | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    this.#timer = null;
    this.#options.onEnd(cause, sight);
  }

  #receive(message: unknown): void {
    if (this.#ended) return;
    this.#silentBeats = 0;
    const frame = parseFrame(message);
    switch (frame?.k) {
      case 'data':
        return this.#options.onData(frame);
      case 'ready':
        return this.#becomeReady();
      case 'pong':
        this.#loopDelayMs = frame.delayMs;
        this.#heapBytes = frame.heapBytes;
        return;
      case 'closed':
        return this.#options.onClosed();
      case 'collected':
        return this.#options.onCollected();
      default:
        this.#malformed++;
    }
  }

  #becomeReady(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#timer?.cancel();
    this.#planBeat();
    this.#options.onReady();
  }

  #planBeat(): void {
    const { clock, heartbeat } = this.#options;
    // In the middle of a second, with all else that wakes an idle process: waking it once is what costs.
    const delayMs = 1.5 * heartbeat.everyMs - (clock.wallMs() % heartbeat.everyMs);
    this.#timer = clock.setTimer(delayMs, () => this.#beat());
    this.#timer.unref();
  }

  #beat(): void {
    const { name, heartbeat } = this.#options;
    if (this.#silentBeats * heartbeat.everyMs >= heartbeat.missedMs) {
      const message = `expected a sign of life within ${heartbeat.missedMs} ms, got none; its event loop is blocked`;
      void this.endBlocked(lost(name, message));
      return;
    }
    this.#silentBeats++;
    this.#options.onBeat();
    this.control({ k: 'ping', n: this.#nextPing++ });
    this.#planBeat();
  }

  #causeOfExit(code: number): ErrorData {
    const { name } = this.#options;
    if (!this.#failed) return lost(name, `expected it to run, got its exit with code ${code}`);
    const cause = toErrorData(this.#error, codeOf(this.#error));
    return { ...lost(name, `expected it to run, got an error: ${cause.message}`), cause };
  }
}

function lost(name: string, what: string): ErrorData {
  return { code: 'thread-lost', message: `thread ${name}: ${what}` };
}

/** Errors of ours lose their class on the way out of a thread, but not their code. */
function codeOf(error: unknown): ErrorCode {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'internal';
}
