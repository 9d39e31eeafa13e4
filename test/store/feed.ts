/** Batches with running ordinals for a store, and transitions to fill them with. */
import assert from 'node:assert/strict';
import type { RecordBatch, RunEvent } from '../../src/actors/records.ts';
import { Appended, type Store } from '../../src/actors/store/index.ts';

export class Feed {
  readonly store: Store;
  #next: number;

  /** Of a store that is open. */
  constructor(store: Store) {
    this.store = store;
    this.#next = store.kept + 1;
  }

  /** The next one; its ordinals are taken. */
  batch(events: readonly RunEvent[], dropped: readonly string[] = []): RecordBatch {
    const first = this.#next;
    this.#next += events.length;
    return { first, events, dropped };
  }

  append(events: readonly RunEvent[], dropped: readonly string[] = []): RecordBatch {
    const batch = this.batch(events, dropped);
    assert.equal(this.store.append(batch), Appended.Applied);
    return batch;
  }

  /** Appends and commits. */
  record(events: readonly RunEvent[], dropped: readonly string[] = []): RecordBatch {
    const batch = this.append(events, dropped);
    this.store.commit();
    assert.equal(this.store.kept, this.#next - 1);
    return batch;
  }
}

/** The beginning of a run of task `a` that was created 100 ms before. */
export function begin(run: string, more: Partial<RunEvent> = {}): RunEvent {
  return {
    run,
    task: 'a',
    state: 'running',
    attempt: 1,
    atMs: 1000,
    origin: 'manual',
    createdAtMs: 900,
    input: '{"x":1}',
    ...more,
  };
}

/** A later transition of it. */
export function then(run: string, more: Partial<RunEvent>): RunEvent {
  return { run, task: 'a', state: 'running', attempt: 1, atMs: 1200, ...more };
}

/** Its end. */
export function end(run: string, more: Partial<RunEvent> = {}): RunEvent {
  return { ...then(run, { state: 'success', atMs: 1500, durationMs: 500, result: '7' }), ...more };
}

/** Its end as a dead letter. */
export function death(run: string, more: Partial<RunEvent> = {}): RunEvent {
  const error = { code: 'handler-failed', message: `${run} failed` } as const;
  return end(run, { state: 'failed', result: null, error, dead: true, ...more });
}

export function markOf(index: number): string {
  return index.toString(16).padStart(16, '0');
}
