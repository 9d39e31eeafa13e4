/**
 * Turns: when the actors of a thread run. Actors with messages stand in a queue; a turn runs them one after the
 * other in a microtask. After `TURN` messages the event loop goes first, however the actors feed each other.
 */

/** An actor as the queue sees it. */
export interface Turnable {
  /** Stands in the queue; set here. */
  queued: boolean;
  /** Has messages and may handle them now. */
  readonly runnable: boolean;
  /** Handles at most `budget` messages; returns their number. */
  run(budget: number): number;
}

/** Messages handled before the event loop gets its turn. */
export const TURN = 256;

export class TurnQueue {
  /** Bounded by the number of actors: each stands in it once. */
  #ready: Turnable[] = [];
  #spare: Turnable[] = [];
  #planned = false;
  #handled = 0;
  readonly #soon = (): void => this.#turn();
  readonly #afterLoop = (): void => {
    this.#handled = 0;
    this.#turn();
  };

  add(actor: Turnable): void {
    if (actor.queued) return;
    actor.queued = true;
    this.#ready.push(actor);
    if (!this.#planned) this.#plan();
  }

  #plan(): void {
    this.#planned = true;
    if (this.#handled < TURN) queueMicrotask(this.#soon);
    else setImmediate(this.#afterLoop);
  }

  #turn(): void {
    const batch = this.#ready;
    this.#ready = this.#spare;
    let at = 0;
    for (; at < batch.length && this.#handled < TURN; at++) {
      const actor = batch[at]!;
      actor.queued = false;
      this.#handled += actor.run(TURN - this.#handled);
      if (actor.runnable && !actor.queued) {
        actor.queued = true;
        this.#ready.push(actor);
      }
    }
    // Those that did not get their turn come first in the next one.
    if (at < batch.length) this.#ready.unshift(...batch.slice(at));
    batch.length = 0;
    this.#spare = batch;
    this.#planned = false;
    if (this.#ready.length > 0) this.#plan();
  }
}
