/**
 * When a thread collects its garbage: when its work has run dry, and where memory is short in the middle of work too, when
 * its heap has grown, but so rarely that it costs some hundredths of the thread's time at most. Nobody else can collect
 * for a thread; where there is no memory left, main asks for `collect`.
 */
import { GarbageCollector } from './collect-garbage.ts';

export interface TidierOptions {
  /** At least so long between two collections in the middle of work. */
  readonly busyEveryMs: number;
  /** The same for a heap that has grown by 5 MB. Default a quarter of it. */
  readonly fastEveryMs?: number;
  /** Between the first few collections, of which the second and third only free code. Default 1000. */
  readonly firstEveryMs?: number;
  /** Growth that is worth a collection while there is nothing to do. Default half a MB. */
  readonly idleGrownBytes?: number;
  /** Only then does it collect in the middle of work. Default never: a heap that has grown is nobody's trouble then. */
  readonly isShort?: () => boolean;
  /** Parameters for tests; `heldBytes`: resident memory of the heap. */
  readonly heldBytes?: () => number;
  readonly collect?: () => void;
  readonly monoMs?: () => number;
}

/** Growth that is worth a collection of some 30 ms in the middle of work: more than the room for new objects. */
const GROWN_BYTES = 3 * 2 ** 20;
/**
 * V8 lets a heap that lives on short garbage grow by 10 MB: growth of so much is worth one four times as often. So is
 * what the start left behind.
 */
const FAST_GROWN_BYTES = 5 * 2 ** 20;
const FAST_SHARE = 4;
const IDLE_GROWN_BYTES = 2 ** 19;
/** V8 drops code that was not run during six collections, and each of ours is two: so what only the start ran goes. */
const FIRST_COLLECTIONS = 3;
const FIRST_EVERY_MS = 1000;

export class Tidier {
  readonly #busyEveryMs: number;
  readonly #fastEveryMs: number;
  readonly #firstEveryMs: number;
  readonly #idleGrownBytes: number;
  readonly #isShort: () => boolean;
  readonly #heldBytes: () => number;
  readonly #collectNow: () => void;
  readonly #monoMs: () => number;
  /** When it last collected, or found too little in the middle of work. */
  #lookedMono: number;
  #floorBytes = 0;
  #collections = 0;

  constructor(options: TidierOptions) {
    this.#busyEveryMs = options.busyEveryMs;
    this.#fastEveryMs = options.fastEveryMs ?? options.busyEveryMs / FAST_SHARE;
    this.#firstEveryMs = options.firstEveryMs ?? FIRST_EVERY_MS;
    this.#idleGrownBytes = options.idleGrownBytes ?? IDLE_GROWN_BYTES;
    this.#isShort = options.isShort ?? (() => false);
    const collector = new GarbageCollector();
    this.#heldBytes = options.heldBytes ?? (() => collector.heldBytes());
    this.#collectNow = options.collect ?? (() => collector.collect());
    this.#monoMs = options.monoMs ?? (() => performance.now());
    this.#lookedMono = this.#monoMs();
  }

  /** Since the thread began. */
  get collections(): number {
    return this.#collections;
  }

  /** Between two pieces of work, with the next one perhaps waiting. */
  worked(): void {
    if (!this.#isShort()) return;
    const everyMs = this.#isFirst ? Math.min(this.#firstEveryMs, this.#busyEveryMs) : this.#busyEveryMs;
    const nowMono = this.#monoMs();
    const sinceMs = nowMono - this.#lookedMono;
    if (sinceMs >= this.#fastEveryMs && this.#grownBytes >= FAST_GROWN_BYTES) return this.collect();
    if (sinceMs < everyMs) return;
    if (this.#isFirst || this.#grownBytes >= GROWN_BYTES) this.collect();
    else this.#lookedMono = nowMono;
  }

  /**
   * Nothing has come for a while. Gives the ms after which it wants to be told so again if nothing comes until then;
   * null: it has done all there is to do.
   */
  idle(): number | null {
    const isTime = this.#isFirst && this.#firstInMs() <= 0;
    if (isTime || this.#grownBytes >= this.#idleGrownBytes) this.collect();
    // Time goes on between two looks at the clock, and the runtime warns of a timer of less than nothing.
    return this.#isFirst ? Math.max(0, this.#firstInMs()) : null;
  }

  /** At once: memory is short. */
  collect(): void {
    this.#collectNow();
    this.#collections++;
    this.#floorBytes = this.#heldBytes();
    this.#lookedMono = this.#monoMs();
  }

  get #isFirst(): boolean {
    return this.#collections < FIRST_COLLECTIONS;
  }

  /** Since the last collection; before the first one, all of it. */
  get #grownBytes(): number {
    return this.#heldBytes() - this.#floorBytes;
  }

  #firstInMs(): number {
    return this.#lookedMono + this.#firstEveryMs - this.#monoMs();
  }
}

export interface TidyTimerOptions {
  readonly tidier: Pick<Tidier, 'worked' | 'idle'>;
  /** The thread has nothing to do when nothing was worked for so long; twice that at most. */
  readonly quietMs: number;
  /** In the middle of a piece of work, which may wait for something: then the thread has not run dry. */
  readonly isBusy: () => boolean;
}

/** Runs a tidier on a thread without a beat, by one timer that is there after work only. */
export class TidyTimer {
  readonly #options: TidyTimerOptions;
  #worked = false;
  #resting = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: TidyTimerOptions) {
    this.#options = options;
  }

  /** After each piece of work; costs next to nothing. */
  worked(): void {
    this.#worked = true;
    if (this.#timer === null || this.#resting) this.#arm(this.#options.quietMs, false);
  }

  #arm(delayMs: number, resting: boolean): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#resting = resting;
    this.#timer = setTimeout(() => this.#look(), delayMs);
    this.#timer.unref();
  }

  #look(): void {
    const { tidier, quietMs, isBusy } = this.#options;
    this.#timer = null;
    if (this.#worked || isBusy()) {
      this.#worked = false;
      tidier.worked();
      return this.#arm(quietMs, false);
    }
    const againMs = tidier.idle();
    if (againMs !== null) this.#arm(againMs, true);
  }
}
