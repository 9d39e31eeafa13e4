/**
 * The kills a pool has sent and that its thread has not confirmed yet. Main waits for them before it ends
 * the thread, because only the thread can end the processes of its runs.
 */
import type { Clock } from '../../actors/kernel/clock.ts';
import { setLimit } from '../../actors/kernel/index.ts';

export class KillReceipts {
  readonly #open = new Set<string>();
  #onNone: (() => void) | null = null;

  expect(run: string): void {
    this.#open.add(run);
  }

  /** Runs whose kill is not confirmed. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  /** True if the outcome of `run` confirms a kill that was waited for. */
  confirm(run: string): boolean {
    if (!this.#open.delete(run)) return false;
    if (this.#open.size === 0) this.#onNone?.();
    return true;
  }

  /** The thread is gone: nobody will confirm. */
  clear(): void {
    this.#open.clear();
    this.#onNone?.();
  }

  /** Resolves when all are confirmed, at the latest after `limitMs`. */
  async wait(clock: Clock, limitMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onNone = resolve;
    const timer = setLimit(clock, limitMs, resolve);
    await promise;
    timer.cancel();
  }
}
