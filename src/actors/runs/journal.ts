/**
 * The way of transitions to the store: gathered over one turn of the event loop, merged by run, sent as one
 * numbered batch, and answered with the number. A run that is over is forgotten only when the store has its
 * end, so that a file found again in between is still known.
 *
 * Bounded: at `maxUnrecorded` transitions or `maxBytes` without an answer the journal is `blocked`, and no slot takes
 * work until the store has caught up.
 */
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { errorTextLength } from '../kernel/errors.ts';
import { errorBytes, textBytes } from '../kernel/index.ts';
import type { RunEvent } from '../protocol.ts';
import type { Run, UnsentEvent, Writable } from './run.ts';
import { isTerminal, type RunState } from './run-states.ts';

export interface JournalOptions {
  readonly clock: Clock;
  /** False: no room now. */
  readonly send: (seq: number, events: readonly RunEvent[]) => boolean;
  /** The store has the end of this run. */
  readonly forget: (run: Run) => void;
  /** The journal is not blocked any more. */
  readonly onRoom: () => void;
  readonly maxUnrecorded?: number;
  readonly maxBytes: number;
}

/** A batch is sent at the latest at this many transitions or code units of text. */
const BATCH_EVENTS = 512;
const BATCH_TEXT = 256 * 1024;

/** When the link had no room and no answer is on its way: look again after this time. */
const RETRY_MS = 5;

/** Of one transition beside its texts. */
const EVENT_BYTES = 200;

interface Batch {
  readonly seq: number;
  readonly bytes: number;
  readonly events: readonly RunEvent[];
  readonly ended: readonly Run[];
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #maxUnrecorded: number;
  #events: UnsentEvent[] = [];
  #sent: Batch[] = [];
  /** Batches from this index on are to be sent again; its length: none. */
  #resendFrom = 0;
  #unrecorded = 0;
  #bytes = 0;
  #seq = 0;
  #scheduled = false;
  #retry: ClockTimer | null = null;
  #idleWaiters: (() => void)[] = [];

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#maxUnrecorded = options.maxUnrecorded ?? 20_000;
  }

  /** Transitions that the store has not answered for. */
  get unrecorded(): number {
    return this.#unrecorded;
  }

  /** What they hold, with the runs that are over and only wait for this. */
  get bytes(): number {
    return this.#bytes;
  }

  get blocked(): boolean {
    return this.#unrecorded >= this.#maxUnrecorded || this.#bytes >= this.#options.maxBytes;
  }

  /** Notes that a run is now as it is, with what else is to be kept of this transition. */
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
      return;
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
    this.#weigh(run.unsent);
    this.#events.push(run.unsent);
    this.#unrecorded++;
    this.#schedule();
  }

  /** The store has everything up to `seq`. */
  recorded(seq: number): void {
    const wasBlocked = this.blocked;
    let done = 0;
    for (const batch of this.#sent) {
      if (batch.seq > seq) break;
      done++;
      this.#unrecorded -= batch.events.length;
      this.#bytes -= batch.bytes;
      for (const run of batch.ended) this.#options.forget(run);
    }
    this.#sent.splice(0, done);
    this.#resendFrom = Math.max(0, this.#resendFrom - done);
    if (this.#events.length > 0) this.#schedule();
    if (wasBlocked && !this.blocked) this.#options.onRoom();
    if (this.#unrecorded === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** The receiver lost what it had not answered for: all of it is sent again, with the same numbers. */
  resend(): void {
    this.#resendFrom = 0;
    this.#schedule();
  }

  /** Resolves when the store has everything. */
  idle(): Promise<void> {
    if (this.#unrecorded === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  close(): void {
    this.#retry?.cancel();
    this.#retry = null;
    this.#events = [];
    this.#sent = [];
    this.#unrecorded = 0;
    this.#bytes = 0;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    this.#retry?.cancel();
    this.#retry = null;
    for (; this.#resendFrom < this.#sent.length; this.#resendFrom++) {
      const { seq, events } = this.#sent[this.#resendFrom]!;
      if (!this.#options.send(seq, events)) return this.#retryLater();
    }
    let from = 0;
    while (from < this.#events.length) {
      const events: RunEvent[] = [];
      const ended: Run[] = [];
      let batchBytes = 0;
      let to = from;
      for (
        let text = 0;
        to < this.#events.length && events.length < BATCH_EVENTS && text < BATCH_TEXT;
        to++
      ) {
        const { run, event, bytes } = this.#events[to]!;
        events.push(event);
        batchBytes += bytes;
        text += (event.input?.length ?? 0) + (event.result?.length ?? 0) + errorTextLength(event.error);
        if (isTerminal(event.state)) ended.push(run);
      }
      if (!this.#options.send(this.#seq + 1, events)) {
        this.#retryLater();
        break;
      }
      this.#seq++;
      for (let index = from; index < to; index++) {
        const unsent = this.#events[index]!;
        if (unsent.run.unsent === unsent) unsent.run.unsent = null;
      }
      this.#resendFrom++;
      this.#sent.push({ seq: this.#seq, bytes: batchBytes, events, ended });
      from = to;
    }
    if (from === this.#events.length) this.#events = [];
    else if (from > 0) this.#events.splice(0, from);
  }

  #weigh(unsent: UnsentEvent): void {
    const { run, event } = unsent;
    const texts = textBytes(event.input) + textBytes(event.result) + errorBytes(event.error);
    const bytes = EVENT_BYTES + texts + (isTerminal(event.state) ? run.bytes : 0);
    this.#bytes += bytes - unsent.bytes;
    unsent.bytes = bytes;
  }

  #retryLater(): void {
    this.#retry = this.#options.clock.setTimer(RETRY_MS, () => this.#flush());
  }
}

function endsAttempt(state: RunState): boolean {
  return state === 'retrying' || state === 'interrupted' || isTerminal(state);
}
