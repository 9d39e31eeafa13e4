/**
 * One direction pair between two threads, the same on both sides: batches what goes out, holds back what the
 * other side has not granted credit for, and gives credit back for what was consumed here.
 *
 * What always holds:
 * - envelopes sent and not yet consumed by the other side never exceed the credit, in messages and in bytes
 * - envelopes go out in the order in which they were accepted; a reply may pass envelopes that wait for credit,
 *   and takes none itself: else a question could wait for an answer stuck behind messages to its own asker.
 *   Replies are bounded by the questions that the other side has open
 * - one message to the port a turn of the event loop, or one for every `FRAME_BYTES` under load, so that the other
 *   side works on the first while this one makes the next
 * - every envelope accepted is consumed by the other side or returned by `close`
 * Consumed envelopes are named by sequence number, since actors there consume at their own pace.
 */
import { Delivery } from './envelope.ts';
import type { ColibriError } from './errors.ts';
import { LinkedHashMap } from './linked-hash-map.ts';
import { Mailbox, SENT } from './mailbox.ts';
import { type DataFrame, encodeData, isReplyText } from './wire.ts';

export interface Credit {
  readonly messages: number;
  readonly bytes: number;
}

export const DEFAULT_CREDIT: Credit = { messages: 4096, bytes: 4 * 1024 * 1024 };

/** Takes what arrived. `consumed` must be called once for an envelope, when it was handled or refused. */
export interface ChannelReceiver {
  onEnvelope(value: unknown, bytes: number, consumed: () => void): void;
  onReply(value: unknown): void;
}

/** A frame leaves at once when it is so long, in code units. */
const FRAME_BYTES = 4 * 1024;

export class CreditChannel {
  readonly #credit: Credit;
  /** Accepted, waiting for credit. As large as the credit itself. */
  readonly #outbox: Mailbox<string>;
  /** Paid for, leaving with the next frames. */
  #leaving: string[] = [];
  #leavingBytes = 0;
  /** Sent or leaving, not known to be consumed: sequence number → text. */
  readonly #unconsumed = new LinkedHashMap<number, string>();
  #post: ((frame: string) => void) | null = null;
  #receiver: ChannelReceiver | null = null;
  #messagesLeft: number;
  #bytesLeft: number;
  #nextOut = 0;
  #nextIn = 0;
  /** Runs of sequence numbers consumed here and not yet said: [first, count, …]. */
  #owed: number[] = [];
  #owedMessages = 0;
  #owedBytes = 0;
  /** The other side is out of credit. */
  #wanted = false;
  /** What the last frame said about this side; said again only when it changes, else two stalled sides would
   *  ring each other for ever. */
  #saidWanting = false;
  #flushing = false;
  readonly #onDrained: (() => void)[] = [];
  #closed = false;
  #inside = 0;
  #insidePeak = 0;

  constructor(credit: Credit, name: string) {
    this.#credit = credit;
    this.#messagesLeft = credit.messages;
    this.#bytesLeft = credit.bytes;
    this.#outbox = new Mailbox(
      { capacity: credit.messages, capacityBytes: credit.bytes, whenFull: 'block' },
      { name },
    );
  }

  /** Begins to send and to receive. What was accepted before goes out now. */
  attach(post: (frame: string) => void, receiver: ChannelReceiver): void {
    this.#post = post;
    this.#receiver = receiver;
    this.#payFromOutbox();
  }

  get stats(): ChannelStats {
    return {
      creditMessages: this.#messagesLeft,
      creditBytes: this.#bytesLeft,
      queued: this.#outbox.depth,
      waiting: this.#outbox.waiting,
      unconsumed: this.#unconsumed.size,
      heldBytes: this.#outbox.bytes + this.#credit.bytes - this.#bytesLeft,
      insidePeak: this.#insidePeak,
      refused: this.#outbox.refused.full,
    };
  }

  get closed(): boolean {
    return this.#closed;
  }

  trySend(text: string): Delivery {
    if (this.#sendNow(text)) return Delivery.Delivered;
    const delivery = this.#outbox.trySend(text, text.length);
    this.#flushSoon();
    return delivery;
  }

  send(text: string): Promise<void> {
    if (this.#sendNow(text)) return SENT;
    const sent = this.#outbox.send(text, text.length);
    this.#flushSoon();
    return sent;
  }

  /** A data frame from the other side. */
  accept(frame: DataFrame): void {
    if (this.#closed) return;
    this.#takeBack(frame.a);
    this.#wanted = frame.w;
    for (let i = 0; i < frame.e.length; i++) {
      const bytes = frame.s[i]!;
      if (bytes === 0) this.#receiver?.onReply(frame.e[i]);
      else this.#receive(frame.e[i], bytes);
    }
    this.#payFromOutbox();
  }

  /** Sends at once what may go, with the credit that is owed. */
  flush(): void {
    if (this.#closed || this.#post === null) return;
    if (this.#leaving.length > 0 || this.#owedMessages > 0) this.#postFrame();
  }

  /** Resolves once everything accepted has been sent (not: consumed). At once for a closed channel. */
  drained(): Promise<void> {
    if (this.#closed || this.#empty) return SENT;
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  /** Refuses from now on; waiting senders get `error`, else `mailbox-closed`. Returns what is not known to be consumed. */
  close(error?: ColibriError): string[] {
    if (this.#closed) return [];
    this.#closed = true;
    const rest = [...this.#unconsumed.values(), ...this.#outbox.close(error)];
    this.#unconsumed.clear();
    this.#leaving = [];
    this.#owed = [];
    this.#tellDrained();
    return rest;
  }

  get #empty(): boolean {
    return this.#leaving.length === 0 && this.#outbox.depth === 0;
  }

  #tellDrained(): void {
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  #sendNow(text: string): boolean {
    if (this.#closed) return false;
    if (isReplyText(text)) {
      this.#leave(text);
      this.#flushSoon();
      return true;
    }
    if (this.#outbox.depth > 0 || !this.#affords(text.length)) return false;
    this.#pay(text);
    this.#flushSoon();
    return true;
  }

  #affords(bytes: number): boolean {
    return this.#post !== null && this.#messagesLeft > 0 && this.#bytesLeft >= bytes;
  }

  #pay(text: string): void {
    this.#messagesLeft--;
    this.#bytesLeft -= text.length;
    this.#unconsumed.set(this.#nextOut++, text);
    this.#leave(text);
  }

  #leave(text: string): void {
    this.#leaving.push(text);
    this.#leavingBytes += text.length;
    if (this.#leavingBytes >= FRAME_BYTES && this.#post !== null) this.#postFrame();
  }

  #payFromOutbox(): void {
    while (this.#outbox.depth > 0 && this.#affords(this.#outbox.headBytes)) this.#pay(this.#outbox.take()!);
    this.#flushSoon();
  }

  #takeBack(consumed: readonly number[]): void {
    for (let i = 0; i < consumed.length; i += 2) {
      const first = consumed[i]!;
      const end = Math.min(first + consumed[i + 1]!, this.#nextOut);
      for (let sequence = first; sequence < end; sequence++) {
        const text = this.#unconsumed.get(sequence);
        if (text === undefined) continue;
        this.#unconsumed.delete(sequence);
        this.#messagesLeft++;
        this.#bytesLeft += text.length;
      }
    }
  }

  #receive(value: unknown, bytes: number): void {
    const sequence = this.#nextIn++;
    this.#insidePeak = Math.max(this.#insidePeak, ++this.#inside);
    this.#receiver?.onEnvelope(value, bytes, () => this.#owe(sequence, bytes));
  }

  #owe(sequence: number, bytes: number): void {
    if (this.#closed) return;
    this.#inside--;
    const last = this.#owed.length - 2;
    if (last >= 0 && this.#owed[last]! + this.#owed[last + 1]! === sequence) this.#owed[last + 1]!++;
    else this.#owed.push(sequence, 1);
    this.#owedMessages++;
    this.#owedBytes += bytes;
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#flushing || this.#closed || this.#post === null || !this.#hasNews()) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      if (this.#closed) return;
      this.#postFrame();
      this.#flushSoon();
    });
  }

  #hasNews(): boolean {
    if (this.#leaving.length > 0 || (this.#outbox.depth > 0 && !this.#saidWanting)) return true;
    return this.#owedMessages > 0 && (this.#wanted || this.#owesHalf());
  }

  #owesHalf(): boolean {
    return this.#owedMessages * 2 >= this.#credit.messages || this.#owedBytes * 2 >= this.#credit.bytes;
  }

  #postFrame(): void {
    const texts = this.#leaving;
    this.#leaving = [];
    this.#leavingBytes = 0;
    const owed = this.#owed;
    this.#owed = [];
    this.#owedMessages = 0;
    this.#owedBytes = 0;
    this.#saidWanting = this.#outbox.depth > 0;
    this.#post?.(encodeData(texts, owed, this.#saidWanting));
    if (this.#empty) this.#tellDrained();
  }
}

export interface ChannelStats {
  /** Credit that is left. */
  readonly creditMessages: number;
  readonly creditBytes: number;
  /** Accepted and waiting for credit; senders that wait for room there. */
  readonly queued: number;
  readonly waiting: number;
  /** Sent and not known to be consumed. */
  readonly unconsumed: number;
  /** Of both: each is kept here until it is consumed there. At most twice the credit. */
  readonly heldBytes: number;
  /** The most envelopes received that were not yet consumed at one time. */
  readonly insidePeak: number;
  /** Envelopes refused because the outbox was full. */
  readonly refused: number;
}
