/**
 * What comes while the journal is blocked: nothing new is made of it until the store has caught up, so that what main
 * keeps for the store stays bounded however long the disk takes.
 *
 * Of each task, the newest due occurrence waits, as a late scheduler would run it, and those of a catch-up all, as far as
 * few wait; triggers and offers wait with their answer, in order, up to a bound in number and bytes.
 */
import { ColibriError } from '../kernel/errors.ts';
import { type Answer, Ring } from '../kernel/index.ts';
import type { RunOrigin } from '../records.ts';
import { shuttingDown } from './shutting-down.ts';

export interface DueOccurrence {
  readonly task: string;
  readonly id: string;
  readonly dueAtMs: number;
  readonly origin: RunOrigin;
  /** One of the late occurrences that are all to run, one behind the other. Default false. */
  readonly catchUp?: boolean;
}

interface PostponedCall {
  readonly bytes: number;
  readonly answer: Answer;
  readonly go: () => void;
}

export interface PostponedOptions {
  readonly isBlocked: () => boolean;
  /** Of the texts of all calls that wait. */
  readonly maxBytes: number;
  readonly onDue: (occurrence: DueOccurrence) => void;
}

/** Calls that wait, at most: more than a program commonly has open at once. */
export const MAX_CALLS = 4096;
/** Due occurrences, above which those of a catch-up take the place of each other. */
export const MAX_DUES = 1000;

export class Postponed {
  readonly #options: PostponedOptions;
  /** By task, those of a catch-up by their id; the one that came last stands last. */
  readonly #dues = new Map<string, DueOccurrence>();
  readonly #calls = new Ring<PostponedCall>();
  #bytes = 0;

  constructor(options: PostponedOptions) {
    this.#options = options;
  }

  due(occurrence: DueOccurrence): void {
    const { task, id, catchUp = false } = occurrence;
    const key = catchUp && this.#dues.size < MAX_DUES ? id : task;
    this.#dues.delete(key);
    this.#dues.set(key, occurrence);
  }

  /** `go` is called when there is room again. Throws `queue-full`. */
  call(bytes: number, answer: Answer, go: () => void): void {
    const { count } = this.#calls;
    if (count >= MAX_CALLS || (count > 0 && this.#bytes + bytes > this.#options.maxBytes)) {
      throw new ColibriError(
        'queue-full',
        `expected the journal to keep up, got ${count} calls that wait for it; send them later, or use a faster disk`,
      );
    }
    this.#bytes += bytes;
    this.#calls.push({ bytes, answer, go });
  }

  /** The journal has room: what waited goes on, as far as there is. */
  release(): void {
    const { isBlocked, onDue } = this.#options;
    for (const [key, occurrence] of this.#dues) {
      // Each makes the journal longer: what came back here because that is blocked again would be looked at for ever.
      if (isBlocked()) return;
      this.#dues.delete(key);
      onDue(occurrence);
    }
    while (!isBlocked()) {
      const call = this.#calls.shift();
      if (call === undefined) return;
      this.#bytes -= call.bytes;
      try {
        call.go();
      } catch (error) {
        call.answer.fail(error);
      }
    }
  }

  /** Nothing goes on any more. */
  close(): void {
    this.#dues.clear();
    for (let call = this.#calls.shift(); call !== undefined; call = this.#calls.shift()) {
      call.answer.fail(shuttingDown());
    }
  }
}
