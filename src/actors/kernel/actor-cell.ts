/**
 * One actor at work: its mailbox, the behaviour of its present life, and the supervision of both.
 *
 * ```
 *           ┌── receive done ──┐
 *   idle ── run ─▶ receiving ──┘
 *    ▲               │ throws
 *    └── created ── restarting ── intensity exceeded ─▶ closed (escalated)
 * ```
 * What always holds: one message at a time; the mailbox outlives a restart, and is closed before the last behaviour
 * is stopped; every question is answered, by the behaviour, by the error it failed with, or by `mailbox-closed`;
 * `consumed` of a message that crossed a thread is called once.
 */
import type { ActorContext, ActorStats, Answer, AnyActorDefinition, AnyBehaviour } from './actor.ts';
import type { Clock } from './clock.ts';
import type { Delivery, Envelope } from './envelope.ts';
import { ColibriError } from './errors.ts';
import { LinkedHashMap } from './linked-hash-map.ts';
import { Mailbox, SENT } from './mailbox.ts';
import { RestartWindow } from './supervisor.ts';
import type { Turnable } from './turns.ts';
import { UndeliverableReason } from './undeliverable.ts';

/** The system as its actors see it. */
export interface CellHost {
  readonly clock: Clock;
  /** The actor has messages and is free. */
  schedule(cell: ActorCell): void;
  /** The actor has handled what it had. */
  idle(cell: ActorCell): void;
  answerOk(question: Envelope, value: unknown): void;
  answerError(question: Envelope, error: unknown): void;
  undeliverable(envelope: Envelope, reason: UndeliverableReason): void;
  escalate(actor: string, error: unknown): void;
}

/** A message that came from another thread; `consumed` gives its credit back. */
export class Crossing {
  readonly envelope: Envelope;
  readonly consumed: () => void;

  constructor(envelope: Envelope, consumed: () => void) {
    this.envelope = envelope;
    this.consumed = consumed;
  }
}

type Item = Envelope | Crossing;

export class ActorCell implements Turnable {
  readonly name: string;
  readonly mailbox: Mailbox<Item>;
  readonly definition: AnyActorDefinition;
  /** Set by the queue of turns. */
  queued = false;
  readonly #host: CellHost;
  readonly #context: ActorContext;
  readonly #restarts: RestartWindow;
  /** Questions whose answer was put off past the end of `receive`, by number of the message. */
  readonly #open: OpenAnswers = new LinkedHashMap();
  #behaviour: AnyBehaviour | null;
  #busy = false;
  #handled = 0;

  constructor(definition: AnyActorDefinition, host: CellHost, context: ActorContext) {
    this.name = definition.name;
    this.definition = definition;
    this.#host = host;
    this.#context = context;
    this.#restarts = new RestartWindow(definition.restart);
    this.mailbox = new Mailbox(definition.mailbox, {
      name: `the mailbox of actor ${definition.name}`,
      onDropped: (item) => this.#giveUp(item, UndeliverableReason.Dropped, fullError(definition.name)),
    });
    this.#behaviour = definition.create(context);
  }

  get closed(): boolean {
    return this.mailbox.closed;
  }

  get settled(): boolean {
    return !this.#busy && this.mailbox.depth === 0;
  }

  /** Has messages and may handle them. */
  get runnable(): boolean {
    return !this.#busy && this.mailbox.depth > 0;
  }

  get stats(): ActorStats {
    const { mailbox } = this;
    return {
      actor: this.name,
      depth: mailbox.depth,
      bytes: mailbox.bytes,
      capacity: mailbox.policy.capacity,
      capacityBytes: mailbox.policy.capacityBytes,
      waiting: mailbox.waiting,
      refused: mailbox.refused,
      dropped: mailbox.dropped,
      handled: this.#handled,
      restarts: this.#restarts.total,
      closed: mailbox.closed,
    };
  }

  trySend(item: Item, bytes: number): Delivery {
    if (this.#isTooMuch(item)) return this.mailbox.drop(item);
    const delivery = this.mailbox.trySend(item, bytes);
    if (!this.queued && !this.#busy) this.#host.schedule(this);
    return delivery;
  }

  send(item: Item, bytes: number): Promise<void> {
    if (this.#isTooMuch(item)) {
      this.mailbox.drop(item);
      return SENT;
    }
    const sent = this.mailbox.send(item, bytes);
    if (!this.queued && !this.#busy) this.#host.schedule(this);
    return sent;
  }

  /** Handles messages until there are none, one has to be awaited, or `budget` is used up. Returns their number. */
  run(budget: number): number {
    let used = 0;
    while (used < budget && !this.#busy) {
      const item = this.mailbox.take();
      if (item === undefined) break;
      used++;
      this.#handle(item);
    }
    if (!this.#busy && this.mailbox.depth === 0) this.#host.idle(this);
    return used;
  }

  /** Ends the behaviour and refuses everything from now on. For a cell that is settled, or failed for good. */
  async close(): Promise<void> {
    const behaviour = this.#behaviour;
    this.#behaviour = null;
    for (const item of this.mailbox.close()) {
      this.#giveUp(item, UndeliverableReason.MailboxClosed, closedError(this.name));
    }
    await stopQuietly(behaviour);
    this.#failOpen(closedError(this.name));
  }

  #handle(item: Item): void {
    const envelope = item instanceof Crossing ? item.envelope : item;
    const number = this.#handled++;
    const answer = envelope.question
      ? new OpenAnswer({ number, question: envelope, host: this.#host, open: this.#open })
      : NO_ANSWER;
    try {
      const pending: unknown = this.#behaviour?.receive(envelope, answer);
      if (isThenable(pending)) {
        this.#busy = true;
        pending.then(
          () => this.#received(item, answer),
          (error: unknown) => this.#failed(item, envelope, answer, error),
        );
        return;
      }
    } catch (error) {
      this.#failed(item, envelope, answer, error);
      return;
    }
    if (answer !== NO_ANSWER) (answer as OpenAnswer).putOff();
    if (item instanceof Crossing) item.consumed();
  }

  /** After an awaited `receive`. */
  #received(item: Item, answer: Answer): void {
    this.#busy = false;
    if (answer !== NO_ANSWER) (answer as OpenAnswer).putOff();
    if (item instanceof Crossing) item.consumed();
    this.#proceed();
  }

  #failed(item: Item, envelope: Envelope, answer: Answer, error: unknown): void {
    this.#busy = true;
    answer.fail(error);
    this.#host.undeliverable(envelope, UndeliverableReason.ActorFailed);
    if (item instanceof Crossing) item.consumed();
    void this.#restart(error);
  }

  async #restart(error: unknown): Promise<void> {
    this.#failOpen(error);
    const behaviour = this.#behaviour;
    this.#behaviour = null;
    await stopQuietly(behaviour);
    let latest = error;
    while (this.#restarts.tryRestart(this.#host.clock.monoMs())) {
      try {
        this.#behaviour = this.definition.create(this.#context);
        this.#busy = false;
        this.#proceed();
        return;
      } catch (failure) {
        latest = failure;
      }
    }
    await this.close();
    this.#busy = false;
    this.#host.idle(this);
    this.#host.escalate(this.name, latest);
  }

  /** Of a kind that is given up while the mailbox is above its high water. */
  #isTooMuch(item: Item): boolean {
    const { expendable } = this.definition;
    if (expendable === undefined || !this.mailbox.aboveHigh || this.mailbox.closed) return false;
    return expendable.includes(item instanceof Crossing ? item.envelope.kind : item.kind);
  }

  #proceed(): void {
    if (this.mailbox.depth > 0) this.#host.schedule(this);
    else this.#host.idle(this);
  }

  #failOpen(error: unknown): void {
    for (const answer of this.#open.values()) answer.fail(error);
  }

  #giveUp(item: Item, reason: UndeliverableReason, error: ColibriError): void {
    const envelope = item instanceof Crossing ? item.envelope : item;
    this.#host.undeliverable(envelope, reason);
    if (envelope.question) this.#host.answerError(envelope, error);
    if (item instanceof Crossing) item.consumed();
  }
}

type OpenAnswers = LinkedHashMap<number, OpenAnswer>;

interface OpenAnswerOptions {
  readonly number: number;
  readonly question: Envelope;
  readonly host: CellHost;
  readonly open: OpenAnswers;
}

class OpenAnswer implements Answer {
  readonly #options: OpenAnswerOptions;
  #given = false;

  constructor(options: OpenAnswerOptions) {
    this.#options = options;
  }

  /** `receive` is over: an answer that is still owed is remembered, so that the end of the actor gives it. */
  putOff(): void {
    if (!this.#given) this.#options.open.set(this.#options.number, this);
  }

  ok(value: unknown): void {
    if (this.#give()) this.#options.host.answerOk(this.#options.question, value);
  }

  fail(error: unknown): void {
    if (this.#give()) this.#options.host.answerError(this.#options.question, error);
  }

  #give(): boolean {
    if (this.#given) return false;
    this.#given = true;
    this.#options.open.delete(this.#options.number);
    return true;
  }
}

const NO_ANSWER: Answer = { ok() {}, fail() {} };

function isThenable(value: unknown): value is PromiseLike<void> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** A behaviour that fails while it is stopped has failed already; the first error is the one that counts. */
async function stopQuietly(behaviour: AnyBehaviour | null): Promise<void> {
  try {
    await behaviour?.stop?.();
  } catch {
    // See above.
  }
}

function closedError(actor: string): ColibriError {
  return new ColibriError(
    'mailbox-closed',
    `expected actor ${actor} to be running, got a message after it was stopped`,
  );
}

function fullError(actor: string): ColibriError {
  return new ColibriError(
    'mailbox-full',
    `expected room in the mailbox of actor ${actor}, got a full one that drops`,
  );
}
