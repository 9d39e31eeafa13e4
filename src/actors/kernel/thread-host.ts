/**
 * The other side of a thread link: what a thread that hosts actors runs. It spawns those actors of the catalog
 * whose placement row names this thread, and has one way out: the uplink to the main thread.
 *
 * An error that no actor caught, and an actor that failed too often, end the thread; the link starts it anew.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { AnyActorDefinition } from './actor.ts';
import { ActorSystem } from './actor-system.ts';
import { usedHeapBytes } from './collect-garbage.ts';
import { type Credit, CreditChannel } from './credit-channel.ts';
import type { Envelope } from './envelope.ts';
import { ColibriError } from './errors.ts';
import { Tidier } from './tidier.ts';
import type { UndeliverableReason } from './undeliverable.ts';
import { asEnvelope, asReply, type ControlFrame, encodeControl, parseFrame } from './wire.ts';

/** What the link puts into `workerData`, beside what its owner does. */
export interface HostData {
  readonly thread: string;
  readonly placement: Readonly<Record<string, string>>;
  readonly credit: Credit;
  readonly firstId: number;
}

export interface ThreadHostOptions {
  /** Default: what the thread was started with. */
  readonly data?: HostData;
  /** The whole catalog; the placement picks. Spawned in this order, stopped in reverse. */
  readonly definitions: readonly AnyActorDefinition[];
  /** Memory is short: the thread collects in the middle of work too. Default never. */
  readonly isShort?: () => boolean;
  /** Before the main thread is told that this one is ready. */
  readonly onReady?: (system: ActorSystem) => void | Promise<void>;
  /** After the actors are stopped, before the thread ends. */
  readonly onClose?: () => void | Promise<void>;
  readonly onUndeliverable?: (envelope: Envelope, reason: UndeliverableReason) => void;
}

/** How often the delay of the event loop is looked at while there is work. */
const SAMPLE_EVERY_MS = 250;
/** Nobody waits for the thread when nothing was sent to it for so long. */
const QUIET_MS = 1500;
/**
 * Collections are to be a small part of what an idle process takes, and some two hundredths of the thread's time in the
 * middle of work: requests that wait for their run outlive two collections of new objects, half a MB of them a second.
 */
const TIDYING = { busyEveryMs: 2500, fastEveryMs: 1000, firstEveryMs: 90_000, idleGrownBytes: 2 ** 20 };

/** @throws `internal` on a thread that no link started */
export function runThreadHost(options: ThreadHostOptions): ActorSystem {
  if (parentPort === null) {
    throw new ColibriError(
      'internal',
      'expected to run on a thread that a thread link started, got the main thread',
    );
  }
  const host = new ThreadHost(parentPort, options.data ?? (workerData as HostData), options);
  void host.open();
  return host.system;
}

class ThreadHost {
  readonly system: ActorSystem;
  readonly #port: MessagePort;
  readonly #options: ThreadHostOptions;
  readonly #channel: CreditChannel;
  readonly #tidier: Tidier;
  #worstDelayMs = 0;
  #sampling = false;
  /** When something was last sent to this thread, beats apart. */
  #workedMono = performance.now();
  #closing = false;

  constructor(port: MessagePort, data: HostData, options: ThreadHostOptions) {
    this.#port = port;
    this.#options = options;
    const { isShort = () => false } = options;
    this.#tidier = new Tidier({ ...TIDYING, isShort });
    const channel = new CreditChannel(data.credit, `the uplink of thread ${data.thread}`);
    this.#channel = channel;
    this.system = new ActorSystem({
      thread: data.thread,
      placement: data.placement,
      firstId: data.firstId,
      // Everything that is not here goes up; the main thread knows the way.
      remote: {
        trySend: (_thread, text) => channel.trySend(text),
        send: (_thread, text) => channel.send(text),
      },
      onEscalate: (_actor, error) => endThread(error),
      ...(options.onUndeliverable === undefined ? {} : { onUndeliverable: options.onUndeliverable }),
    });
    port.on('message', (message: unknown) => this.#receive(message));
    channel.attach((frame) => port.postMessage(frame), {
      onEnvelope: (value, bytes, consumed) => {
        const envelope = asEnvelope(value);
        if (envelope === null) consumed();
        else this.system.deliver(envelope, bytes, consumed);
      },
      onReply: (value) => {
        const reply = asReply(value);
        if (reply !== null) this.system.settleReply(reply);
      },
    });
  }

  /** A failure here is an unhandled rejection and so ends the thread, as it should. */
  async open(): Promise<void> {
    this.system.spawnPlaced(this.#options.definitions);
    await this.#options.onReady?.(this.system);
    this.#control({ k: 'ready' });
  }

  #receive(message: unknown): void {
    const frame = parseFrame(message);
    switch (frame?.k) {
      case 'data':
        this.#workedMono = performance.now();
        if (!this.#sampling) this.#sampleDelay();
        return this.#channel.accept(frame);
      case 'ping':
        this.#channel.flush();
        this.#control({ k: 'pong', n: frame.n, delayMs: this.#worstDelayMs, heapBytes: usedHeapBytes() });
        this.#worstDelayMs = 0;
        // The answer is on its way. An idle thread is woken by the beat alone: it has no timer of its own.
        return this.#tidy(performance.now() - this.#workedMono < QUIET_MS ? 'worked' : 'idle');
      case 'collect':
        return this.#tidy('collect');
      case 'lost':
        return this.system.threadLost(frame.thread, frame.cause);
      case 'close':
        void this.#close();
        return;
      default:
      // Not for this side, or broken; the main thread is not suspected of the latter.
    }
  }

  async #close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    await this.system.close();
    await this.#options.onClose?.();
    await this.#channel.drained();
    this.#channel.flush();
    this.#control({ k: 'closed' });
  }

  #control(frame: ControlFrame): void {
    this.#port.postMessage(encodeControl(frame));
  }

  #tidy(occasion: 'worked' | 'idle' | 'collect'): void {
    const before = this.#tidier.collections;
    this.#tidier[occasion]();
    if (this.#tidier.collections > before) this.#control({ k: 'collected' });
  }

  /** Until nothing has been sent to this thread since the last look. */
  #sampleDelay(): void {
    this.#sampling = true;
    const armedMono = performance.now();
    const timer = setTimeout(() => {
      this.#worstDelayMs = Math.max(this.#worstDelayMs, performance.now() - armedMono - SAMPLE_EVERY_MS);
      if (this.#workedMono >= armedMono) this.#sampleDelay();
      else this.#sampling = false;
    }, SAMPLE_EVERY_MS);
    timer.unref();
  }
}

/** Thrown where nobody catches it: the thread ends, and the link learns why. */
function endThread(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
