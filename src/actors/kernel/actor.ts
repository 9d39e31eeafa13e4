/**
 * What an actor is made of: the definition that says how to make one, the behaviour that handles its messages,
 * and what it is given.
 */
import type { Clock } from './clock.ts';
import type { ActorRef, Envelope, EnvelopeOf, Messages } from './envelope.ts';
import type { MailboxPolicy, Watermark } from './mailbox.ts';
import type { RestartIntensity } from './supervisor.ts';
import type { UndeliverableView } from './undeliverable.ts';

export interface ActorDefinition<M extends Messages = Messages> {
  readonly name: string;
  readonly mailbox: MailboxPolicy;
  /** Kinds that are dropped, and counted, while the mailbox is above its high water, so that the others have room. */
  readonly expendable?: readonly (keyof M & string)[];
  /** Default: 3 restarts in 10 s. */
  readonly restart?: RestartIntensity;
  /** Run on the bodies of messages that crossed a thread. False: the message is undeliverable, a question gets
   * `message-invalid`. */
  readonly checks?: { readonly [K in keyof M & string]?: ((body: unknown) => boolean) | undefined };
  /** Called for the first life and for each restart; what the last life held is gone unless it is kept outside. */
  create(context: ActorContext): Behaviour<M>;
}

/** A definition whose messages are its own business: an entry of a catalog. Every `ActorDefinition` is one. */
export interface AnyActorDefinition {
  readonly name: string;
  readonly mailbox: MailboxPolicy;
  readonly expendable?: readonly string[];
  readonly restart?: RestartIntensity;
  readonly checks?: Readonly<Record<string, ((body: unknown) => boolean) | undefined>>;
  create(context: ActorContext): AnyBehaviour;
}

export interface AnyBehaviour {
  receive(envelope: Envelope, answer: Answer): void | Promise<void>;
  stop?(): void | Promise<void>;
}

export interface ActorContext {
  readonly system: SystemView;
  readonly clock: Clock;
  /** A reference that sends in the name of this actor. */
  ref<N extends Messages>(name: string): ActorRef<N>;
}

/** The system as its actors see it. */
export interface SystemView {
  readonly thread: string;
  readonly placement: Readonly<Record<string, string>>;
  readonly undeliverable: UndeliverableView;
  threadOf(name: string): string;
  mailboxes(): ActorStats[];
  onWatermark(actor: string, watcher: (mark: Watermark) => void): () => void;
}

export interface Behaviour<M extends Messages = Messages> {
  /**
   * One message at a time: a promise is awaited before the next message. What it throws ends this life of the
   * actor; the question in hand, and those whose answer was put off, get the error.
   * A body that did not cross a thread is the sender's own object: read it, do not change it.
   */
  receive(envelope: EnvelopeOf<M>, answer: Answer): void | Promise<void>;
  /** Ends this life: on failure, and when the system closes. */
  stop?(): void | Promise<void>;
}

/** Answers the question once, during `receive` or later; further calls, and calls for a tell, do nothing. */
export interface Answer {
  ok(value: unknown): void;
  fail(error: unknown): void;
}

/** What is shown of an actor. */
export interface ActorStats {
  readonly actor: string;
  readonly depth: number;
  readonly bytes: number;
  readonly capacity: number;
  readonly capacityBytes: number;
  readonly waiting: number;
  readonly refused: { readonly full: number; readonly closed: number };
  readonly dropped: number;
  readonly handled: number;
  readonly restarts: number;
  readonly closed: boolean;
}
