/**
 * A mailbox: a queue with a bound in messages and in bytes and a declared answer to *full*.
 *
 * What always holds:
 * - depth ≤ capacity and bytes ≤ capacityBytes, for every policy; a message larger than capacityBytes never fits
 *   and is refused (or dropped) at once, also by `block`
 * - messages leave in the order in which they were let in; nobody overtakes a waiting sender
 * - every message offered is taken, returned by `close`, handed to `onDropped`, or refused to its sender, and the
 *   last two are counted
 */
import { Delivery } from './envelope.ts';
import { ColibriError } from './errors.ts';
import { Ring } from './ring.ts';

export const WhenMailboxFull = {
  Block: 'block',
  Reject: 'reject',
  DropOldest: 'drop-oldest',
  DropNewest: 'drop-newest',
} as const;
export type WhenMailboxFull = (typeof WhenMailboxFull)[keyof typeof WhenMailboxFull];

export interface MailboxPolicy {
  /** Messages. */
  readonly capacity: number;
  readonly capacityBytes: number;
  readonly whenFull: WhenMailboxFull;
  /** Share of either capacity at which `high` is reported; default 0.8. */
  readonly highWater?: number;
  /** Share of both capacities at which, after a `high`, `low` is reported; default 0.5. */
  readonly lowWater?: number;
}

export interface MailboxOptions<T> {
  /** For error messages. */
  readonly name?: string;
  readonly onDropped?: (message: T) => void;
}

export type Watermark = 'high' | 'low';

/** Senders that wait for room in one mailbox; one more is refused with `mailbox-full`. */
export const WAITING_SENDERS_LIMIT = 65_536;

/** What `send` returns where it does not have to wait: one promise for all, so that sending allocates none. */
export const SENT: Promise<void> = Promise.resolve();

interface WaitingSender<T> {
  readonly message: T;
  readonly resolve: () => void;
  readonly reject: (error: ColibriError) => void;
}

export class Mailbox<T> {
  readonly name: string;
  readonly policy: MailboxPolicy;
  readonly #onDropped: ((message: T) => void) | undefined;
  readonly #queue = new Ring<T>();
  readonly #waiting = new Ring<WaitingSender<T>>();
  readonly #watchers: ((mark: Watermark) => void)[] = [];
  readonly #high: { readonly depth: number; readonly bytes: number };
  readonly #low: { readonly depth: number; readonly bytes: number };
  #bytes = 0;
  #dropped = 0;
  #refusedFull = 0;
  #refusedClosed = 0;
  #aboveHigh = false;
  #closed = false;

  constructor(policy: MailboxPolicy, options: MailboxOptions<T> = {}) {
    const { capacity, capacityBytes, highWater = 0.8, lowWater = 0.5 } = policy;
    this.policy = policy;
    this.name = options.name ?? 'mailbox';
    this.#onDropped = options.onDropped;
    if (
      !(capacity >= 1) ||
      !(capacityBytes >= 1) ||
      !(lowWater >= 0 && lowWater < highWater && highWater <= 1)
    ) {
      throw new ColibriError(
        'internal',
        `expected mailbox ${this.name} to have capacities of at least 1 and 0 ≤ lowWater < highWater ≤ 1, got ${JSON.stringify(policy)}`,
      );
    }
    this.#high = { depth: Math.max(1, capacity * highWater), bytes: capacityBytes * highWater };
    this.#low = { depth: capacity * lowWater, bytes: capacityBytes * lowWater };
  }

  /** Messages in the mailbox, waiting senders not counted. */
  get depth(): number {
    return this.#queue.count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Size of the message that `take` would give; 0 when empty. */
  get headBytes(): number {
    return this.#queue.headBytes;
  }

  get waiting(): number {
    return this.#waiting.count;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** From `high` to `low`. */
  get aboveHigh(): boolean {
    return this.#aboveHigh;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Messages refused to their sender, by reason. */
  get refused(): { readonly full: number; readonly closed: number } {
    return { full: this.#refusedFull, closed: this.#refusedClosed };
  }

  /** Never waits, never throws. After `full` and `closed` the message is still the sender's. */
  trySend(message: T, bytes: number): Delivery {
    if (this.#closed) {
      this.#refusedClosed++;
      return Delivery.Closed;
    }
    if (this.#waiting.count === 0 && this.#fits(bytes)) {
      this.#push(message, bytes);
      return Delivery.Delivered;
    }
    switch (this.policy.whenFull) {
      case WhenMailboxFull.Block:
      case WhenMailboxFull.Reject:
        this.#refusedFull++;
        return Delivery.Full;
      case WhenMailboxFull.DropOldest:
        if (bytes > this.policy.capacityBytes) return this.drop(message);
        while (!this.#fits(bytes)) this.drop(this.#shift()!);
        this.#push(message, bytes);
        return Delivery.Delivered;
      case WhenMailboxFull.DropNewest:
        return this.drop(message);
    }
  }

  /**
   * Resolves once the message is in the mailbox or dropped by policy. `block` waits for room, first come first
   * served; `reject` rejects with `mailbox-full`; a closed mailbox with `mailbox-closed`.
   */
  send(message: T, bytes: number): Promise<void> {
    if (
      !this.#closed &&
      this.policy.whenFull === WhenMailboxFull.Block &&
      (this.#waiting.count > 0 || !this.#fits(bytes)) &&
      bytes <= this.policy.capacityBytes &&
      this.#waiting.count < WAITING_SENDERS_LIMIT
    ) {
      return new Promise((resolve, reject) => this.#waiting.push({ message, resolve, reject }, bytes));
    }
    const delivery = this.trySend(message, bytes);
    if (delivery === Delivery.Full) return Promise.reject(this.#fullError(bytes));
    if (delivery === Delivery.Closed) return Promise.reject(this.#closedError());
    return SENT;
  }

  /** The oldest message; the room it leaves goes to the senders that wait. */
  take(): T | undefined {
    const message = this.#shift();
    if (this.#waiting.count > 0) this.#admit();
    if (this.#aboveHigh && this.depth <= this.#low.depth && this.#bytes <= this.#low.bytes) {
      this.#aboveHigh = false;
      for (const watcher of this.#watchers) watcher('low');
    }
    return message;
  }

  /** Gives up a message in the place of letting it in: counted, and told to `onDropped`. */
  drop(message: T): Delivery {
    this.#dropped++;
    this.#onDropped?.(message);
    return Delivery.Dropped;
  }

  /** Calls back on crossing a watermark: `high` once, then `low` once, and so on. Returns the undo. */
  onWatermark(watcher: (mark: Watermark) => void): () => void {
    this.#watchers.push(watcher);
    return () => {
      const at = this.#watchers.indexOf(watcher);
      if (at >= 0) this.#watchers.splice(at, 1);
    };
  }

  /** Refuses from now on. Waiting senders get `error`; what was inside is returned. Idempotent. */
  close(error: ColibriError = this.#closedError()): T[] {
    this.#closed = true;
    const rest: T[] = [];
    for (let message = this.#shift(); message !== undefined; message = this.#shift()) rest.push(message);
    for (let sender = this.#waiting.shift(); sender !== undefined; sender = this.#waiting.shift()) {
      this.#refusedClosed++;
      sender.reject(error);
    }
    return rest;
  }

  #fits(bytes: number): boolean {
    return this.#queue.count < this.policy.capacity && this.#bytes + bytes <= this.policy.capacityBytes;
  }

  #push(message: T, bytes: number): void {
    this.#queue.push(message, bytes);
    this.#bytes += bytes;
    if (!this.#aboveHigh && (this.depth >= this.#high.depth || this.#bytes >= this.#high.bytes)) {
      this.#aboveHigh = true;
      for (const watcher of this.#watchers) watcher('high');
    }
  }

  #shift(): T | undefined {
    this.#bytes -= this.#queue.headBytes;
    return this.#queue.shift();
  }

  #admit(): void {
    while (this.#waiting.count > 0 && this.#fits(this.#waiting.headBytes)) {
      const bytes = this.#waiting.headBytes;
      const sender = this.#waiting.shift()!;
      this.#push(sender.message, bytes);
      sender.resolve();
    }
  }

  #fullError(bytes: number): ColibriError {
    const { capacity, capacityBytes } = this.policy;
    return new ColibriError(
      'mailbox-full',
      bytes > capacityBytes
        ? `expected a message of at most ${capacityBytes} bytes for ${this.name}, got ${bytes}; send it in parts`
        : `expected room in ${this.name}, got ${this.depth} of ${capacity} messages and ${this.#bytes} of ${capacityBytes} bytes; send slower or raise its capacity`,
    );
  }

  #closedError(): ColibriError {
    return new ColibriError(
      'mailbox-closed',
      `expected ${this.name} to be open, got a message after it was stopped`,
    );
  }
}
