/**
 * Why a message that came from another thread is refused, and what its sender is told.
 */
import type { AnyActorDefinition } from './actor.ts';
import type { Envelope } from './envelope.ts';
import { ColibriError } from './errors.ts';
import { UndeliverableReason } from './undeliverable.ts';
import type { ReplyEnvelope } from './wire.ts';

export function passesCheck(definition: AnyActorDefinition, envelope: Envelope): boolean {
  const { checks } = definition;
  if (checks === undefined || !Object.hasOwn(checks, envelope.kind)) return true;
  try {
    return checks[envelope.kind]?.(envelope.body) ?? true;
  } catch {
    return false;
  }
}

export function addressOf(question: Envelope): Omit<ReplyEnvelope, 'reply'> {
  return { correlation: question.id, thread: question.thread, from: question.to };
}

export function refusalError(envelope: Envelope, reason: UndeliverableReason, thread: string): ColibriError {
  const { kind, to } = envelope;
  switch (reason) {
    case UndeliverableReason.MessageInvalid:
      return new ColibriError(
        'message-invalid',
        `expected the body that ${kind} to actor ${to} requires, got another`,
      );
    case UndeliverableReason.MailboxFull:
      return new ColibriError(
        'mailbox-full',
        `expected room in the mailbox of actor ${to} for ${kind}, got a full one`,
      );
    default:
      return new ColibriError(
        'mailbox-closed',
        `expected actor ${to} to run on thread ${thread}, got none that takes ${kind}`,
      );
  }
}

/** A reply in the form in which undeliverable messages are kept. */
export function lateReply(reply: ReplyEnvelope, nowMs: number): Envelope {
  return {
    id: reply.correlation,
    kind: 'reply',
    from: reply.from,
    to: reply.thread,
    thread: reply.thread,
    deadlineAtMs: nowMs,
    attempt: 1,
    question: false,
    body: reply.reply,
  };
}
