/**
 * Messages that did not reach their actor after their sender had been told that they were on the way. Each is
 * counted by reason; the last ones are kept for a person to look at. Bound: `KEPT` messages of at most
 * `BODY_LIMIT_BYTES` each; a larger body is replaced by its size.
 */
import { estimateBytes } from './body-size.ts';
import type { Envelope } from './envelope.ts';

export const UndeliverableReason = {
  /** Refused by a full mailbox on arrival from another thread. */
  MailboxFull: 'mailbox-full',
  /** The actor was stopped, with the message inside or on the way. */
  MailboxClosed: 'mailbox-closed',
  /** Given up by the mailbox for a policy that drops. */
  Dropped: 'dropped',
  /** The actor failed over it. */
  ActorFailed: 'actor-failed',
  /** Not JSON, or not of the shape its kind requires. */
  MessageInvalid: 'message-invalid',
  NoSuchActor: 'no-such-actor',
  /** The thread ended before it said that the message was handled; it may have been. */
  ThreadLost: 'thread-lost',
  /** An answer for which nobody waits any more. */
  LateReply: 'late-reply',
} as const;
export type UndeliverableReason = (typeof UndeliverableReason)[keyof typeof UndeliverableReason];

export interface Undeliverable {
  readonly reason: UndeliverableReason;
  readonly atMs: number;
  readonly envelope: Envelope;
}

/** The read-only side. */
export interface UndeliverableView {
  readonly total: number;
  readonly counts: Readonly<Record<UndeliverableReason, number>>;
  /** The last ones, oldest first. */
  recent(): readonly Undeliverable[];
}

const KEPT = 100;
const BODY_LIMIT_BYTES = 1024;

export class UndeliverableLog implements UndeliverableView {
  readonly counts: Record<UndeliverableReason, number> = {
    'mailbox-full': 0,
    'mailbox-closed': 0,
    dropped: 0,
    'actor-failed': 0,
    'message-invalid': 0,
    'no-such-actor': 0,
    'thread-lost': 0,
    'late-reply': 0,
  };
  readonly #kept: Undeliverable[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  add(envelope: Envelope, reason: UndeliverableReason, atMs: number): void {
    this.counts[reason]++;
    this.#kept[this.#total++ % KEPT] = { reason, atMs, envelope: cutBody(envelope) };
  }

  recent(): readonly Undeliverable[] {
    if (this.#total <= KEPT) return [...this.#kept];
    const oldest = this.#total % KEPT;
    return [...this.#kept.slice(oldest), ...this.#kept.slice(0, oldest)];
  }
}

function cutBody(envelope: Envelope): Envelope {
  const bytes = estimateBytes(envelope.body);
  return bytes <= BODY_LIMIT_BYTES ? envelope : { ...envelope, body: `[about ${bytes} bytes, cut]` };
}
