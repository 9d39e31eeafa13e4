/**
 * Delay engines: hold items until they are due. One interface, so that engines can be compared and exchanged;
 * `HeapDelayEngine` is the default.
 */
import type { TimerHandle } from './timer-heap.ts';

export interface DelayEngine<Item> {
  readonly size: number;
  /** Gives `item` to `onDue` once the engine's time has reached `dueMs`, never before. */
  schedule(dueMs: number, item: Item): TimerHandle;
  /** False if the item has been given out already. */
  cancel(handle: TimerHandle): boolean;
  /** Forgets everything. Idempotent. */
  close(): void;
}
