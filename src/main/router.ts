/**
 * The mailbox router: the main thread's way to every other thread. Threads form a star around main; what one
 * sends to a third goes through here. Each link gathers the envelopes of one turn of the event loop into one
 * message, keeps their order, and holds back what the thread has not said it can take.
 */
import { ColibriError, Delivery, type RemoteGate, type ThreadLink } from '../actors/kernel/index.ts';

export class Router implements RemoteGate {
  readonly #links = new Map<string, ThreadLink>();

  add(link: ThreadLink): void {
    this.#links.set(link.name, link);
  }

  link(thread: string): ThreadLink | undefined {
    return this.#links.get(thread);
  }

  get links(): Iterable<ThreadLink> {
    return this.#links.values();
  }

  trySend(thread: string, text: string): Delivery {
    return this.#links.get(thread)?.trySend(text) ?? Delivery.Closed;
  }

  /** Waits for room. Rejects with `mailbox-closed` where there is no such thread, or it is stopped. */
  send(thread: string, text: string): Promise<void> {
    const link = this.#links.get(thread);
    if (link !== undefined) return link.send(text);
    return Promise.reject(
      new ColibriError('mailbox-closed', `expected a thread of the placement, got ${JSON.stringify(thread)}`),
    );
  }
}
