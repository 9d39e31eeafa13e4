/**
 * Offers of scans: files that were found become runs as far as there is room in the ready queue, below its
 * high watermark, and that of the retry queue, where it blocks. What is left is not kept
 * here, because what the store knew of the files when they were offered may not be true any more: where the queue
 * blocks, the answer waits until there is room, and the source offers them anew.
 */
import type { Answer } from '../kernel/index.ts';
import type { FoundItem, OfferReply } from '../protocol.ts';
import type { WhenFull } from './policies.ts';
import type { ReadyQueue } from './ready-queue.ts';
import { Run } from './run.ts';
import { shuttingDown } from './shutting-down.ts';
import type { TaskState } from './task-state.ts';

export interface OffersOptions {
  readonly ready: ReadyQueue;
  /** A queue is above its high watermark: those that can wait do. */
  readonly isPressed: () => boolean;
  readonly whenFull: WhenFull;
  readonly nowMs: () => number;
  /** True if a run of this id is live. */
  readonly isKnown: (id: string) => boolean;
  readonly onNew: (run: Run) => void;
  readonly onReady: (run: Run) => void;
  /** Drops the oldest run where the queue is full and says so. */
  readonly makeRoom: () => void;
}

interface WaitingOffer {
  readonly reply: OfferReply;
  readonly answer: Answer;
}

export class Offers {
  readonly #options: OffersOptions;
  readonly #waiting: WaitingOffer[] = [];
  #rejected = 0;
  #closed = false;

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  /** Files refused by a queue that rejects. */
  get rejected(): number {
    return this.#rejected;
  }

  /** Answered with what became of them; `rest` names those for which there was no room. Fails with `shutting-down`. */
  offer(task: TaskState, items: readonly FoundItem[], answer: Answer): void {
    if (this.#closed) {
      answer.fail(shuttingDown());
      return;
    }
    const reply = this.#take(task, items);
    if (reply.rest.length === 0) answer.ok(reply);
    else this.#waiting.push({ reply, answer });
  }

  /** There is room again: below the low watermark, for a source that is told has a batch ready. */
  refill(): void {
    const { ready, isPressed } = this.#options;
    if (isPressed() || this.#waiting.length === 0 || ready.full) return;
    for (const { reply, answer } of this.#waiting.splice(0)) answer.ok(reply);
  }

  /** Sources that wait get `shutting-down`. Idempotent. */
  close(): void {
    this.#closed = true;
    for (const { answer } of this.#waiting.splice(0)) answer.fail(shuttingDown());
  }

  #take(task: TaskState, items: readonly FoundItem[]): OfferReply {
    const { ready, isPressed, whenFull, nowMs, isKnown, onNew, onReady, makeRoom } = this.#options;
    let accepted = 0;
    let known = 0;
    let rejected = 0;
    for (const [index, { mark, input }] of items.entries()) {
      const id = `${task.spec.name}@${mark}`;
      if (isKnown(id)) {
        known++;
        continue;
      }
      if (whenFull === 'block' && (isPressed() || ready.full)) {
        return { accepted, known, rejected, rest: items.slice(index).map((item) => item.mark) };
      }
      if (ready.full && whenFull !== 'drop-oldest') {
        // Not made into a run: the next scan finds the file again.
        this.#rejected++;
        rejected++;
        continue;
      }
      makeRoom();
      const atMs = nowMs();
      const run = new Run({ task, id, origin: 'each', createdAtMs: atMs, dueAtMs: atMs, input, mark });
      onNew(run);
      accepted++;
      onReady(run);
    }
    return { accepted, known, rejected, rest: [] };
  }
}
