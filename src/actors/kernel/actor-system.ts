/**
 * The actors of one thread: makes them, runs them in turns, answers questions, and knows the way to the actors
 * of other threads.
 *
 * What always holds: each actor handles one message at a time; every message that was let in is handled or
 * counted as undeliverable; every question is settled.
 */
import type { ActorContext, ActorDefinition, ActorStats, AnyActorDefinition, SystemView } from './actor.ts';
import { ActorCell, type CellHost, Crossing } from './actor-cell.ts';
import { PlacedRef, type RefHost, type RemoteGate } from './actor-ref.ts';
import { type Clock, systemClock } from './clock.ts';
import type { ActorRef, Envelope, Messages } from './envelope.ts';
import { ColibriError, type ErrorData, toErrorData } from './errors.ts';
import { SENT, type Watermark } from './mailbox.ts';
import { PendingAsks } from './pending-asks.ts';
import { addressOf, lateReply, passesCheck, refusalError } from './refusals.ts';
import { TurnQueue } from './turns.ts';
import { UndeliverableLog, UndeliverableReason, type UndeliverableView } from './undeliverable.ts';
import { encodeReply, type ReplyEnvelope } from './wire.ts';

export interface ActorSystemOptions {
  readonly thread: string;
  /** Actor → thread. An actor without a row lives where it is spawned. */
  readonly placement: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly remote?: RemoteGate | null;
  /** First envelope id: a thread that is started anew must not take answers meant for its last life. Default 1. */
  readonly firstId?: number;
  /** An actor failed more often than its restart intensity allows and is closed. */
  readonly onEscalate: (actor: string, error: unknown) => void;
  readonly onUndeliverable?: (envelope: Envelope, reason: UndeliverableReason) => void;
}

export class ActorSystem implements SystemView {
  readonly thread: string;
  readonly placement: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly #options: ActorSystemOptions;
  readonly #undeliverable = new UndeliverableLog();
  readonly #asks: PendingAsks;
  readonly #cells = new Map<string, ActorCell>();
  readonly #host: CellHost & RefHost;
  readonly #turns = new TurnQueue();
  readonly #threadLost = new Set<(thread: string, cause: ErrorData) => void>();
  #nextId: number;
  #closing: Promise<void> | null = null;
  #onSettled: (() => void) | null = null;

  constructor(options: ActorSystemOptions) {
    this.#options = options;
    this.thread = options.thread;
    this.placement = options.placement;
    this.clock = options.clock ?? systemClock;
    this.#asks = new PendingAsks(this.clock);
    this.#nextId = options.firstId ?? 1;
    this.#host = this.#createHost();
  }

  get undeliverable(): UndeliverableView {
    return this.#undeliverable;
  }

  /** Questions asked here that wait for their answer. */
  get pendingAsks(): number {
    return this.#asks.size;
  }

  /** Makes the actor and its mailbox. @throws what `create` throws; `internal` for a name in use or placed elsewhere */
  spawn<M extends Messages>(definition: ActorDefinition<M>): ActorRef<M> {
    this.#spawn(definition);
    return this.ref<M>(definition.name);
  }

  #spawn(definition: AnyActorDefinition): void {
    const { name } = definition;
    const target = this.threadOf(name);
    if (target !== this.thread || this.#cells.get(name)?.closed === false || this.#closing !== null) {
      throw new ColibriError(
        'internal',
        `expected actor ${name} to be new and placed on thread ${this.thread}, got thread ${target}, or a name in use, or a system that is closing`,
      );
    }
    const context: ActorContext = {
      system: this,
      clock: this.clock,
      ref: <N extends Messages>(to: string) => new PlacedRef<N>(this.#host, to, name),
    };
    this.#cells.set(name, new ActorCell(definition, this.#host, context));
  }

  /** Spawns those that the placement puts on this thread; the order of the list is the order of starting. */
  spawnPlaced(definitions: readonly AnyActorDefinition[]): void {
    for (const definition of definitions) {
      if (this.placement[definition.name] === this.thread) this.#spawn(definition);
    }
  }

  /** A reference to an actor wherever it lives; it need not be spawned yet. */
  ref<M extends Messages>(name: string): ActorRef<M> {
    return new PlacedRef<M>(this.#host, name, null);
  }

  threadOf(name: string): string {
    return Object.hasOwn(this.placement, name) ? this.placement[name]! : this.thread;
  }

  /** A message from another thread. `consumed` is called once, when it was handled or refused. */
  deliver(envelope: Envelope, bytes: number, consumed: () => void): void {
    const cell = this.#closing === null ? this.#cells.get(envelope.to) : undefined;
    if (cell === undefined) {
      const reason =
        this.#closing === null ? UndeliverableReason.NoSuchActor : UndeliverableReason.MailboxClosed;
      this.#refuse(envelope, reason, consumed);
      return;
    }
    if (!passesCheck(cell.definition, envelope)) {
      this.#refuse(envelope, UndeliverableReason.MessageInvalid, consumed);
      return;
    }
    const sent = cell.send(new Crossing(envelope, consumed), bytes);
    if (sent === SENT) return;
    sent.then(undefined, (error: unknown) => {
      const full = error instanceof ColibriError && error.code === 'mailbox-full';
      this.#refuse(
        envelope,
        full ? UndeliverableReason.MailboxFull : UndeliverableReason.MailboxClosed,
        consumed,
      );
    });
  }

  /** An answer from another thread. False, and counted, where nobody waits for it any more. */
  settleReply(reply: ReplyEnvelope): boolean {
    if (this.#asks.settle(reply.correlation, reply.reply)) return true;
    this.countLateReply(reply);
    return false;
  }

  /** An answer whose asker, or the asker's thread, is gone. */
  countLateReply(reply: ReplyEnvelope): void {
    this.reportUndeliverable(lateReply(reply, this.clock.wallMs()), UndeliverableReason.LateReply);
  }

  /** Counts and keeps a message that this thread answers for and could not bring to its actor. */
  reportUndeliverable(envelope: Envelope, reason: UndeliverableReason): void {
    this.#undeliverable.add(envelope, reason, this.clock.wallMs());
    this.#options.onUndeliverable?.(envelope, reason);
  }

  /** Refuses a message for good: counted, and answered with an error if it is a question. */
  refuse(envelope: Envelope, reason: UndeliverableReason, error: ColibriError): void {
    this.reportUndeliverable(envelope, reason);
    if (envelope.question) this.#answerError(envelope, error);
  }

  /** A thread ended: every question to its actors is rejected with this one cause. */
  threadLost(thread: string, cause: ErrorData): void {
    this.#asks.rejectThread(thread, cause);
    for (const listener of [...this.#threadLost]) listener(thread, cause);
  }

  /** Tells of every lost thread. Returns the undo. */
  onThreadLost(listener: (thread: string, cause: ErrorData) => void): () => void {
    this.#threadLost.add(listener);
    return () => void this.#threadLost.delete(listener);
  }

  mailboxes(): ActorStats[] {
    return [...this.#cells.values()].map((cell) => cell.stats);
  }

  /** Watches the mailbox of an actor on this thread: `high` pauses the upstream, `low` resumes it. Returns the undo. */
  onWatermark(actor: string, watcher: (mark: Watermark) => void): () => void {
    const cell = this.#cells.get(actor);
    if (cell === undefined) {
      throw new ColibriError(
        'internal',
        `expected actor ${actor} on thread ${this.thread}, got none; spawn it first`,
      );
    }
    return cell.mailbox.onWatermark(watcher);
  }

  /**
   * Idempotent. Refuses messages from outside, lets the actors handle what they have and send each other, then
   * stops them, the last one spawned first. At the end every open question is rejected.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const cells = [...this.#cells.values()].reverse();
    // Within the first await, `#closing` is not set yet; nothing else runs before it is.
    await Promise.resolve();
    await this.#settled();
    for (const cell of cells) {
      await this.#settled();
      await cell.close();
    }
    this.#asks.close(
      new ColibriError('mailbox-closed', `expected an answer, got the end of thread ${this.thread}`),
    );
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = resolve;
      this.#checkSettled();
    });
  }

  #checkSettled(): void {
    if (this.#onSettled === null) return;
    for (const cell of this.#cells.values()) if (!cell.settled && !cell.closed) return;
    this.#onSettled();
    this.#onSettled = null;
  }

  #refuse(envelope: Envelope, reason: UndeliverableReason, consumed: () => void): void {
    this.refuse(envelope, reason, refusalError(envelope, reason, this.thread));
    consumed();
  }

  #answerOk(question: Envelope, value: unknown): void {
    if (question.thread !== this.thread)
      this.#sendReply({ ...addressOf(question), reply: { ok: true, value } });
    else if (!this.#asks.resolve(question.id, value)) {
      this.countLateReply({ ...addressOf(question), reply: { ok: true, value } });
    }
  }

  #answerError(question: Envelope, error: unknown): void {
    const data = toErrorData(error, 'internal');
    const reply: ReplyEnvelope = { ...addressOf(question), reply: { ok: false, error: data } };
    if (question.thread === this.thread) this.settleReply(reply);
    else this.#sendReply(reply);
  }

  #sendReply(reply: ReplyEnvelope): void {
    const sent = this.#options.remote?.send(reply.thread, encodeReply(reply));
    if (sent === SENT) return;
    // The thread of the asker is gone, and the asker with it.
    sent?.then(undefined, () => this.countLateReply(reply));
  }

  #createHost(): CellHost & RefHost {
    return {
      clock: this.clock,
      thread: this.thread,
      remote: this.#options.remote ?? null,
      asks: this.#asks,
      nextId: () => this.#nextId++,
      wallMs: () => this.clock.wallMs(),
      cellFor: (name, inside) => (inside || this.#closing === null ? this.#cells.get(name) : undefined),
      threadOf: (name) => this.threadOf(name),
      schedule: (cell) => this.#turns.add(cell),
      idle: () => this.#checkSettled(),
      answerOk: (question, value) => this.#answerOk(question, value),
      answerError: (question, error) => this.#answerError(question, error),
      undeliverable: (envelope, reason) => this.reportUndeliverable(envelope, reason),
      escalate: (actor, error) => this.#options.onEscalate(actor, error),
    };
  }
}
