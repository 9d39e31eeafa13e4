/**
 * References: how everyone but the actor itself sees an actor. The same object works for an actor on this
 * thread and on another; placement decides at each send.
 */
import type { ActorCell } from './actor-cell.ts';
import { estimateBytes } from './body-size.ts';
import { type ActorRef, Delivery, type Envelope, type Messages } from './envelope.ts';
import { ColibriError } from './errors.ts';
import { SENT } from './mailbox.ts';
import type { PendingAsks } from './pending-asks.ts';
import type { UndeliverableReason } from './undeliverable.ts';
import { encodeEnvelope } from './wire.ts';

export const DEFAULT_ASK_TIMEOUT_MS = 5000;

/** The way to other threads. Texts are envelopes or replies as `wire.ts` writes them. */
export interface RemoteGate {
  trySend(thread: string, text: string): Delivery;
  /** Waits for room; rejects where the thread is gone for good. */
  send(thread: string, text: string): Promise<void>;
}

/** What a reference needs of its system. */
export interface RefHost {
  readonly thread: string;
  readonly remote: RemoteGate | null;
  readonly asks: PendingAsks;
  nextId(): number;
  wallMs(): number;
  /** The actor if it lives here and takes messages from this sender. */
  cellFor(name: string, inside: boolean): ActorCell | undefined;
  threadOf(name: string): string;
  undeliverable(envelope: Envelope, reason: UndeliverableReason): void;
}

export class PlacedRef<M extends Messages> implements ActorRef<M> {
  readonly name: string;
  readonly #host: RefHost;
  readonly #from: string;
  /** Held by an actor: it may still send while its system drains. */
  readonly #inside: boolean;

  constructor(host: RefHost, name: string, from: string | null) {
    this.name = name;
    this.#host = host;
    this.#from = from ?? host.thread;
    this.#inside = from !== null;
  }

  tell<K extends keyof M & string>(kind: K, body: M[K]['body']): Promise<void> {
    return this.#send(this.#envelope(kind, body, false, null));
  }

  tryTell<K extends keyof M & string>(kind: K, body: M[K]['body']): Delivery {
    const envelope = this.#envelope(kind, body, false, null);
    const cell = this.#host.cellFor(this.name, this.#inside);
    if (cell !== undefined) return cell.trySend(envelope, estimateBytes(body));
    const { remote, thread } = this.#host;
    const target = this.#host.threadOf(this.name);
    if (target === thread || remote === null) return Delivery.Closed;
    let text: string;
    try {
      text = encodeEnvelope(envelope);
    } catch {
      this.#host.undeliverable(envelope, 'message-invalid');
      return Delivery.Dropped;
    }
    return remote.trySend(target, text);
  }

  ask<K extends keyof M & string>(
    kind: K,
    body: M[K]['body'],
    options?: { readonly timeoutMs?: number | null },
  ): Promise<M[K]['reply']> {
    const { asks } = this.#host;
    const timeoutMs = options?.timeoutMs === undefined ? DEFAULT_ASK_TIMEOUT_MS : options.timeoutMs;
    const deadlineAtMs = timeoutMs === null ? null : this.#host.wallMs() + timeoutMs;
    const envelope = this.#envelope(kind, body, true, deadlineAtMs);
    const answer = asks.add(envelope, this.#host.threadOf(this.name), timeoutMs);
    const sent = this.#send(envelope);
    if (sent !== SENT) sent.then(undefined, (error: unknown) => void asks.reject(envelope.id, error));
    return answer;
  }

  #send(envelope: Envelope): Promise<void> {
    const cell = this.#host.cellFor(this.name, this.#inside);
    if (cell !== undefined) return cell.send(envelope, estimateBytes(envelope.body));
    const { remote, thread } = this.#host;
    const target = this.#host.threadOf(this.name);
    if (target === thread || remote === null) return Promise.reject(this.#goneError(target));
    try {
      return remote.send(target, encodeEnvelope(envelope));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #envelope(kind: string, body: unknown, question: boolean, deadlineAtMs: number | null): Envelope {
    const host = this.#host;
    return {
      id: host.nextId(),
      kind,
      from: this.#from,
      to: this.name,
      thread: host.thread,
      deadlineAtMs,
      attempt: 1,
      question,
      body,
    };
  }

  #goneError(target: string): ColibriError {
    return new ColibriError(
      'mailbox-closed',
      `expected actor ${this.name} to run on thread ${target}, got none; it was stopped, or is not in the placement table`,
    );
  }
}
