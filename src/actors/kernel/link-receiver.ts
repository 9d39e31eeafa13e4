/**
 * What the main thread does with envelopes and replies that another thread sent: to an actor here, on to a third
 * thread, or refused. The credit of an envelope that goes on is given back once the third thread's link has
 * accepted it, so that a slow third thread slows its sender down.
 */
import type { RemoteGate } from './actor-ref.ts';
import type { ActorSystem } from './actor-system.ts';
import type { ChannelReceiver } from './credit-channel.ts';
import type { Envelope } from './envelope.ts';
import { ColibriError } from './errors.ts';
import { UndeliverableReason } from './undeliverable.ts';
import { asEnvelope, asReply, encodeEnvelope, encodeReply } from './wire.ts';

export class LinkReceiver implements ChannelReceiver {
  readonly #from: string;
  readonly #system: ActorSystem;
  readonly #route: RemoteGate['send'];
  #malformed = 0;

  constructor(from: string, system: ActorSystem, route: RemoteGate['send']) {
    this.#from = from;
    this.#system = system;
    this.#route = route;
  }

  get malformed(): number {
    return this.#malformed;
  }

  onEnvelope(value: unknown, bytes: number, consumed: () => void): void {
    const envelope = asEnvelope(value);
    if (envelope === null) {
      this.#malformed++;
      consumed();
      return;
    }
    const target = this.#system.threadOf(envelope.to);
    if (target === this.#system.thread) this.#system.deliver(envelope, bytes, consumed);
    else void this.#pass(envelope, target, consumed);
  }

  onReply(value: unknown): void {
    const reply = asReply(value);
    if (reply === null) this.#malformed++;
    else if (reply.thread === this.#system.thread) this.#system.settleReply(reply);
    else this.#route(reply.thread, encodeReply(reply)).catch(() => this.#system.countLateReply(reply));
  }

  async #pass(envelope: Envelope, target: string, consumed: () => void): Promise<void> {
    try {
      if (target === this.#from) throw goneError(envelope, target);
      await this.#route(target, encodeEnvelope(envelope));
    } catch (error) {
      const told = error instanceof ColibriError ? error : goneError(envelope, target);
      this.#system.refuse(envelope, UndeliverableReason.MailboxClosed, told);
    }
    consumed();
  }
}

function goneError(envelope: Envelope, target: string): ColibriError {
  return new ColibriError(
    'mailbox-closed',
    `expected actor ${envelope.to} to run on thread ${target}, got none`,
  );
}
