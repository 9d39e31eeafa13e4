/**
 * The way of transitions to the store: gathered over one turn of the event loop, merged by run, sent in batches, and
 * acknowledged. Each transition has an ordinal, counted from 1 on: what the store acknowledges is an ordinal, and so is
 * what an order waits for before it begins. A run that is over is forgotten only when the store has its end, so that a
 * file found again in between is still known.
 *
 *   note ─▶ unsent ─ end of the turn ─▶ sent ─ recorded ─▶ gone
 *                                        └── the store lost it, or could not write ─▶ sent again, same ordinals
 *
 * Bounded: at `maxUnrecorded` transitions or `maxBytes` without an acknowledgement the journal is `blocked`: no slot
 * takes work and nothing new is taken in until the store has caught up with a quarter of it.
 */
import { type Clock, type ClockTimer, systemClock } from '../kernel/clock.ts';
import { ColibriError, errorTextLength } from '../kernel/errors.ts';
import { errorBytes, Ring, textBytes } from '../kernel/index.ts';
import type { RecordBatch, RunEvent } from '../records.ts';
import type { Run, UnsentEvent, Writable } from './run.ts';
import { isTerminal, type RunState } from './run-states.ts';
import { Watermarks } from './watermarks.ts';

export interface JournalOptions {
  readonly clock: Clock;
  /** False: no room now. */
  readonly send: (batch: RecordBatch) => boolean;
  /** The store has the end of this run. */
  readonly forget: (run: Run) => void;
  /** The journal is not blocked any more. */
  readonly onRoom: () => void;
  /** It is blocked, or is not any more; `share`: of what it may hold. */
  readonly onPressure?: (isHigh: boolean, share: number) => void;
  /** False: what is acknowledged is not kept for longer than the process lives, so nobody waits for it. */
  readonly durable: boolean;
  readonly maxUnrecorded?: number;
  readonly maxBytes: number;
}

/** A batch is sent at the latest at this many transitions or code units of text. */
const BATCH_EVENTS = 512;
const BATCH_TEXT = 256 * 1024;

/**
 * What nobody waits for is sent so long after the batch before, or when a batch is full: each wakes the store's thread,
 * and what that answers wakes main, which costs more than the batch itself where runs are some hundred a second.
 */
const GATHER_MS = 20;

/** Shares of what it may hold without an acknowledgement. */
const WATERMARKS = { high: 1, low: 0.75 } as const;

/** When the link had no room and no answer is on its way: look again after this time. */
const RETRY_MS = 5;

/** Of one transition beside its texts. */
const EVENT_BYTES = 200;

interface SentBatch extends RecordBatch {
  readonly bytes: number;
  readonly ended: readonly Run[];
}

interface Waiter {
  readonly ordinal: number;
  readonly resolve: () => void;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #maxUnrecorded: number;
  readonly #water: Watermarks;
  #events: UnsentEvent[] = [];
  /** Dead letters that are no more, since the last batch. */
  #dropped: string[] = [];
  #sent: SentBatch[] = [];
  /** Batches from this index on are to be sent again; its length: none. */
  #resendFrom = 0;
  #bytes = 0;
  /** Of that, what was not sent. */
  #unsentBytes = 0;
  /** Ordinals of the last transition noted, sent, and acknowledged. */
  #noted = 0;
  #sentUpTo = 0;
  #kept = 0;
  /** Why the store cannot write; null: it can. */
  #trouble: string | null = null;
  #closed = false;
  #scheduled = false;
  #retry: ClockTimer | null = null;
  #gathering: ClockTimer | null = null;
  #flushedMono = Number.NEGATIVE_INFINITY;
  readonly #waiters = new Ring<Waiter>();
  #idleWaiters: (() => void)[] = [];

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#maxUnrecorded = options.maxUnrecorded ?? 20_000;
    this.#water = new Watermarks(WATERMARKS, (isHigh, share) => {
      options.onPressure?.(isHigh, share);
      if (!isHigh) options.onRoom();
    });
  }

  /** Transitions that the store has not acknowledged. */
  get unrecorded(): number {
    return this.#noted - this.#kept;
  }

  /** Ordinal of the last transition that the store has acknowledged. */
  get kept(): number {
    return this.#kept;
  }

  /** What they hold, with the runs that are over and only wait for this. */
  get bytes(): number {
    return this.#bytes;
  }

  /** From when it is full until there is some room again. */
  get blocked(): boolean {
    return this.#water.isHigh;
  }

  /** How often it became so. */
  get blocks(): number {
    return this.#water.rises;
  }

  get durable(): boolean {
    return this.#options.durable;
  }

  /** Notes that a run is now as it is, with what else is to be kept of this transition. `run.ordinal` says which it is. */
  note(run: Run, atMs: number, more?: Partial<RunEvent>): void {
    const { unsent } = run;
    // What ends an attempt stays an event of its own: its error and its duration are counted.
    if (unsent !== null && !endsAttempt(unsent.event.state)) {
      const { event } = unsent;
      event.state = run.state;
      event.attempt = run.attempt;
      event.atMs = atMs;
      if (more !== undefined) Object.assign(event, more);
      this.#weigh(unsent);
      return this.#schedule();
    }
    const fresh: Writable<RunEvent> = {
      run: run.id,
      task: run.task.spec.name,
      state: run.state,
      attempt: run.attempt,
      atMs,
    };
    if (more !== undefined) Object.assign(fresh, more);
    run.unsent = { run, event: fresh, bytes: 0 };
    run.ordinal = ++this.#noted;
    this.#weigh(run.unsent);
    this.#events.push(run.unsent);
    this.#schedule();
  }

  /** This run is no dead letter any more. */
  drop(run: string): void {
    if (!this.#options.durable) return;
    this.#dropped.push(run);
    this.#schedule();
  }

  /** Calls back when the last transition of the run is kept; at once where nothing is kept for long. */
  whenKept(run: Run, resolve: () => void): void {
    if (!this.#options.durable || run.ordinal <= this.#kept) resolve();
    else this.#waiters.push({ ordinal: run.ordinal, resolve });
  }

  /** The store has everything up to the ordinal `upTo`. */
  recorded(upTo: number): void {
    let done = 0;
    for (const batch of this.#sent) {
      const last = batch.first + batch.events.length - 1;
      // One that drops letters only has no ordinal of its own: it is known to be kept when a later one is.
      if (Math.max(last, batch.first) > upTo) break;
      done++;
      this.#kept = last;
      this.#bytes -= batch.bytes;
      for (const run of batch.ended) this.#options.forget(run);
    }
    this.#sent.splice(0, done);
    this.#resendFrom = Math.max(0, this.#resendFrom - done);
    for (let next = this.#waiters.peek(); next !== undefined && next.ordinal <= this.#kept; ) {
      this.#waiters.shift();
      next.resolve();
      next = this.#waiters.peek();
    }
    if (this.#events.length > 0) this.#schedule();
    this.#measure();
    if (this.unrecorded === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** The store cannot write until `resend`, and why. Work goes on; nothing is accepted that it would have to keep. */
  pause(trouble: string): void {
    this.#trouble = trouble;
  }

  /** Why the store cannot write; null: it can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Throws `store-unavailable` where nothing can be kept. */
  expectWritable(): void {
    if (this.#trouble === null) return;
    throw new ColibriError(
      'store-unavailable',
      `expected a journal that can be written, got: ${this.#trouble}; scheduled work goes on, try again when that is mended`,
    );
  }

  /** The receiver lost what it had not acknowledged: all of it is sent again, with the same ordinals. */
  resend(): void {
    this.#trouble = null;
    this.#resendFrom = 0;
    this.#schedule();
  }

  /** Resolves when the store has everything. */
  idle(): Promise<void> {
    if (this.unrecorded === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      this.#schedule();
    });
  }

  close(): void {
    this.#cancelTimers();
    this.#closed = true;
    this.#events = [];
    this.#sent = [];
    this.#kept = this.#noted;
    this.#bytes = 0;
    this.#unsentBytes = 0;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    if (!this.#hurries) {
      if (this.#gathering !== null) return;
      // By the clock of the machine, as all that goes between threads.
      const waitMs = this.#flushedMono + GATHER_MS - systemClock.monoMs();
      if (waitMs > 0) {
        this.#gathering = systemClock.setTimer(waitMs, () => this.#flush());
        return;
      }
    }
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  get #hurries(): boolean {
    if (this.#options.durable || this.#idleWaiters.length > 0) return true;
    if (this.#resendFrom < this.#sent.length) return true;
    return this.#events.length >= BATCH_EVENTS || this.#unsentBytes >= BATCH_TEXT;
  }

  #cancelTimers(): void {
    this.#retry?.cancel();
    this.#retry = null;
    this.#gathering?.cancel();
    this.#gathering = null;
  }

  #flush(): void {
    this.#cancelTimers();
    if (this.#closed || this.#trouble !== null) return;
    this.#flushedMono = systemClock.monoMs();
    for (; this.#resendFrom < this.#sent.length; this.#resendFrom++) {
      const { first, events, dropped } = this.#sent[this.#resendFrom]!;
      if (!this.#options.send({ first, events, dropped })) return this.#retryLater();
    }
    let from = 0;
    while (from < this.#events.length || this.#dropped.length > 0) {
      const batch = this.#nextBatch(from);
      const { first, events, dropped } = batch;
      if (!this.#options.send({ first, events, dropped })) {
        this.#retryLater();
        break;
      }
      const to = from + events.length;
      for (let index = from; index < to; index++) {
        const unsent = this.#events[index]!;
        if (unsent.run.unsent === unsent) unsent.run.unsent = null;
      }
      this.#sentUpTo += events.length;
      this.#unsentBytes -= batch.bytes;
      this.#dropped = [];
      this.#resendFrom++;
      this.#sent.push(batch);
      from = to;
    }
    if (from === this.#events.length) this.#events = [];
    else if (from > 0) this.#events.splice(0, from);
  }

  /** What is dropped goes with the last transitions of the turn: a letter that is replayed with its new run. */
  #nextBatch(from: number): SentBatch {
    const events: RunEvent[] = [];
    const ended: Run[] = [];
    let bytes = 0;
    let text = 0;
    let at = from;
    for (; at < this.#events.length && events.length < BATCH_EVENTS && text < BATCH_TEXT; at++) {
      const unsent = this.#events[at]!;
      const { run, event } = unsent;
      events.push(event);
      bytes += unsent.bytes;
      const { input, result, note } = event;
      text +=
        (input?.length ?? 0) + (result?.length ?? 0) + (note?.length ?? 0) + errorTextLength(event.error);
      if (isTerminal(event.state)) ended.push(run);
    }
    const dropped = at === this.#events.length ? this.#dropped : [];
    return { first: this.#sentUpTo + 1, events, dropped, bytes, ended };
  }

  #weigh(unsent: UnsentEvent): void {
    const { run, event } = unsent;
    const texts = textBytes(event.input) + textBytes(event.result) + textBytes(event.note);
    const bytes = EVENT_BYTES + texts + errorBytes(event.error) + (isTerminal(event.state) ? run.bytes : 0);
    this.#bytes += bytes - unsent.bytes;
    this.#unsentBytes += bytes - unsent.bytes;
    unsent.bytes = bytes;
    this.#measure();
  }

  #measure(): void {
    const isFull = this.unrecorded >= this.#maxUnrecorded || this.#bytes >= this.#options.maxBytes;
    if (!isFull && !this.#water.isHigh) return;
    this.#water.measure(
      Math.max(this.unrecorded / this.#maxUnrecorded, this.#bytes / this.#options.maxBytes),
    );
  }

  #retryLater(): void {
    this.#retry = this.#options.clock.setTimer(RETRY_MS, () => this.#flush());
  }
}

function endsAttempt(state: RunState): boolean {
  return state === 'retrying' || state === 'interrupted' || isTerminal(state);
}
