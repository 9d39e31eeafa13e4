/**
 * The way of transitions to the store: gathered over one turn of the event loop, merged by run, sent as one
 * numbered batch, and answered with the number. A run that is over is forgotten only when the store has its
 * end, so that a file found again in between is still known.
 *
 * Bounded: at `maxUnrecorded` transitions without an answer the journal is `blocked`, and no slot takes work
 * until the store has caught up.
 */
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { errorTextLength } from '../kernel/errors.ts';
import type { RunEvent } from '../protocol.ts';
import type { Run, Writable } from './run.ts';
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
}

/** A batch is sent at the latest at this many transitions or code units of text. */
const BATCH_EVENTS = 512;
const BATCH_TEXT = 256 * 1024;

/** When the link had no room and no answer is on its way: look again after this time. */
const RETRY_MS = 5;

interface Batch {
  readonly seq: number;
  readonly events: readonly RunEvent[];
  readonly ended: readonly Run[];
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #maxUnrecorded: number;
  #events: { readonly run: Run; readonly event: Writable<RunEvent> }[] = [];
  #sent: Batch[] = [];
  /** Batches from this index on are to be sent again; its length: none. */
  #resendFrom = 0;
  #unrecorded = 0;
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

  get blocked(): boolean {
    return this.#unrecorded >= this.#maxUnrecorded;
  }

  /** Notes that a run is now as it is, with what else is to be kept of this transition. */
  note(run: Run, atMs: number, more?: Partial<RunEvent>): void {
    const event = run.unsent;
    // What ends an attempt stays an event of its own: its error and its duration are counted.
    if (event !== null && !endsAttempt(event.state)) {
      event.state = run.state;
      event.attempt = run.attempt;
      event.atMs = atMs;
      if (more !== undefined) Object.assign(event, more);
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
    run.unsent = fresh;
    this.#events.push({ run, event: fresh });
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
      let to = from;
      for (
        let text = 0;
        to < this.#events.length && events.length < BATCH_EVENTS && text < BATCH_TEXT;
        to++
      ) {
        const { run, event } = this.#events[to]!;
        events.push(event);
        text += (event.input?.length ?? 0) + (event.result?.length ?? 0) + errorTextLength(event.error);
        if (isTerminal(event.state)) ended.push(run);
      }
      if (!this.#options.send(this.#seq + 1, events)) {
        this.#retryLater();
        break;
      }
      this.#seq++;
      for (let index = from; index < to; index++) {
        const { run, event } = this.#events[index]!;
        if (run.unsent === event) run.unsent = null;
      }
      this.#resendFrom++;
      this.#sent.push({ seq: this.#seq, events, ended });
      from = to;
    }
    if (from === this.#events.length) this.#events = [];
    else if (from > 0) this.#events.splice(0, from);
  }

  #retryLater(): void {
    this.#retry = this.#options.clock.setTimer(RETRY_MS, () => this.#flush());
  }
}

function endsAttempt(state: RunState): boolean {
  return state === 'retrying' || state === 'interrupted' || isTerminal(state);
}
