/**
 * Questions that wait for their answer, by envelope id. Each is settled exactly once: by its answer, its
 * deadline, the loss of the thread it went to, or the close of the system. One timer serves all deadlines.
 */
import type { Clock, ClockTimer } from './clock.ts';
import type { Envelope, Reply } from './envelope.ts';
import { ColibriError, type ErrorData, fromErrorData } from './errors.ts';
import { LinkedHashMap } from './linked-hash-map.ts';

/** Deadlines closer together than this share a pass over the questions. */
const PASS_EVERY_MS = 5;

interface PendingAsk {
  readonly id: number;
  readonly to: string;
  readonly kind: string;
  /** Where the actor that was asked lives. */
  readonly thread: string;
  readonly timeoutMs: number;
  /** Monotonic; Infinity: no deadline. */
  readonly dueMono: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class PendingAsks {
  readonly #clock: Clock;
  readonly #asks = new LinkedHashMap<number, PendingAsk>();
  #timer: ClockTimer | null = null;
  #timerDueMono = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#asks.size;
  }

  /** @param timeoutMs null: no deadline */
  add(question: Envelope, thread: string, timeoutMs: number | null): Promise<unknown> {
    const now = timeoutMs === null ? 0 : this.#clock.monoMs();
    const dueMono = timeoutMs === null ? Number.POSITIVE_INFINITY : now + timeoutMs;
    return new Promise((resolve, reject) => {
      const { id, to, kind } = question;
      this.#asks.set(id, { id, to, kind, thread, timeoutMs: timeoutMs ?? 0, dueMono, resolve, reject });
      if (dueMono < this.#timerDueMono) this.#arm(dueMono, now);
    });
  }

  /** False where nobody waits for this answer any more. */
  settle(id: number, reply: Reply): boolean {
    if (reply.ok) return this.resolve(id, reply.value);
    return this.#asks.has(id) && this.reject(id, fromErrorData(reply.error));
  }

  resolve(id: number, value: unknown): boolean {
    const ask = this.#asks.get(id);
    if (ask === undefined) return false;
    this.#asks.delete(id);
    ask.resolve(value);
    return true;
  }

  reject(id: number, error: unknown): boolean {
    const ask = this.#asks.get(id);
    if (ask === undefined) return false;
    this.#asks.delete(id);
    ask.reject(error);
    return true;
  }

  /** Every question to actors on this thread is rejected with the one cause. */
  rejectThread(thread: string, cause: ErrorData): void {
    for (const ask of this.#asks.values())
      if (ask.thread === thread) this.reject(ask.id, fromErrorData(cause));
  }

  close(error: ColibriError): void {
    for (const id of this.#asks.keys()) this.reject(id, error);
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerDueMono = Number.POSITIVE_INFINITY;
  }

  #arm(dueMono: number, nowMono: number): void {
    this.#timer?.cancel();
    this.#timerDueMono = dueMono;
    this.#timer = this.#clock.setTimer(Math.max(0, Math.min(dueMono - nowMono, MAX_TIMER_MS)), () =>
      this.#expire(),
    );
  }

  #expire(): void {
    const now = this.#clock.monoMs();
    this.#timer = null;
    this.#timerDueMono = Number.POSITIVE_INFINITY;
    let nextMono = Number.POSITIVE_INFINITY;
    for (const ask of this.#asks.values()) {
      if (ask.dueMono > now) nextMono = Math.min(nextMono, ask.dueMono);
      else this.reject(ask.id, lateError(ask));
    }
    if (nextMono !== Number.POSITIVE_INFINITY) this.#arm(Math.max(nextMono, now + PASS_EVERY_MS), now);
  }
}

/** Timers of the runtime hold 31 bits; a later deadline is looked at again then. */
const MAX_TIMER_MS = 2 ** 30;

function lateError(ask: PendingAsk): ColibriError {
  return new ColibriError(
    'ask-timeout',
    `expected actor ${ask.to} on thread ${ask.thread} to answer ${ask.kind} within ${ask.timeoutMs} ms, got no answer; the thread is busy or gone`,
  );
}
