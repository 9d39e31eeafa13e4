/** What is said to be held, beside what it costs: each of these runs in a heap of its own. */
import assert from 'node:assert/strict';
import { textBytes } from '../../src/actors/kernel/index.ts';
import { MemoryStore } from '../../src/actors/store/index.ts';
import { DEFAULT_DST } from '../../src/main/config/config.ts';
import { type Occurrences, occurrencesOf, TimeZones } from '../../src/main/schedule/index.ts';
import { setup, taskSpec } from '../runs/runs-setup.ts';
import { cronFields } from '../support/cron-fields.ts';
import { objectBytes } from '../support/fresh-heap.ts';

/** Bytes of one more queued run, on an average of 10,000; `texts`: of its id and its input. */
export interface RunCost {
  readonly cost: number;
  readonly said: number;
  readonly texts: number;
}

export async function queuedRun(): Promise<RunCost> {
  const count = 10_000;
  const { runs, trigger, settle, events } = setup([taskSpec({ name: 'resize-image' })], {
    slots: 0,
    queues: { ready: { capacity: 1e6, whenFull: 'block' } },
    byteLimits: { ready: 1e9, retry: 1e9, delayed: 1e9, deadLetters: 1e9, journal: 1e9 },
  });
  const input = (n: number): string =>
    // As it comes from another thread: a text of its own.
    JSON.parse(JSON.stringify(JSON.stringify({ path: `/srv/inbox/${n}`, more: 'x'.repeat(115) })));
  const fill = async (from: number) => {
    for (let n = from; n < from + count; n++) {
      trigger('resize-image', { payload: input(n) });
      if (n % 500 === 499) await settle();
    }
    events.length = 0;
    await settle();
  };
  await fill(0);
  const heldBefore = objectBytes();
  const saidBefore = runs.figures.heldBytes().ready;
  await fill(count);
  const cost = (objectBytes() - heldBefore) / count;
  const said = (runs.figures.heldBytes().ready - saidBefore) / count;
  return {
    cost,
    said,
    texts: textBytes(input(count)) + textBytes('resize-image@2026-11-29T19:05:13.732Z.7sk'),
  };
}

/** Bytes of a store in memory that is full, and what it says of itself. */
export interface HistoryCost {
  readonly held: number;
  readonly usage: ReturnType<MemoryStore['usage']>;
  readonly maxBytes: number;
  /** Of an error of long ago. */
  readonly stack: string | undefined;
}

export function fullHistory(): HistoryCost {
  const maxBytes = 2 * 2 ** 20;
  const store = new MemoryStore(
    { runs: 1e6, results: 1e6, resultTtlMs: 1e9, fileBytes: 1e12, maxBytes },
    () => 0,
  );
  const error = { code: 'handler-failed', message: 'm'.repeat(300), stack: 's'.repeat(3000) };
  const fill = (from: number) => {
    for (let n = from; n < from + 20_000; n++) {
      const bad = n % 4 === 0;
      const events = [
        {
          run: `resize@${n}`,
          task: 'resize',
          state: 'running',
          attempt: 1,
          atMs: n,
          origin: 'manual',
          createdAtMs: n,
        },
        {
          run: `resize@${n}`,
          task: 'resize',
          state: bad ? 'failed' : 'success',
          attempt: 1,
          atMs: n,
          durationMs: 1.5,
          ...(bad ? { error } : { result: JSON.stringify({ n, text: 'r'.repeat(n % 500) }) }),
        },
      ];
      // As they come from another thread.
      store.append({ first: 2 * n + 1, events: JSON.parse(JSON.stringify(events)), dropped: [] });
      assert.ok(store.usage().history <= maxBytes);
    }
  };
  const before = objectBytes();
  fill(0);
  fill(20_000);
  const held = objectBytes() - before;
  return { held, usage: store.usage(), maxBytes, stack: store.show('resize@39996')?.error?.stack };
}

/** Bytes of one cron task beside its text, on an average of 4,000. */
export function cronTask(): number {
  const zones = new TimeZones();
  const expressions = Array.from(
    { length: 200 },
    (_, index) => `${index % 60} ${index % 24} * * ${index % 7}`,
  );
  const fields = expressions.map((expression) => JSON.stringify(cronFields(expression)));
  const make = (index: number): Occurrences =>
    occurrencesOf(
      {
        kind: 'cron',
        expression: 'x',
        timeZone: 'Europe/Berlin',
        dst: DEFAULT_DST,
        fields: JSON.parse(fields[index % 200]!),
      },
      zones,
    );
  const nowMs = Date.UTC(2026, 5, 1);
  // A first round: what is loaded once is not a task's.
  for (let index = 0; index < 200; index++) make(index).next(nowMs);
  const kept: Occurrences[] = [];
  const before = objectBytes();
  for (let index = 0; index < 4000; index++) {
    const cron = make(index);
    cron.next(nowMs);
    kept.push(cron);
  }
  return (objectBytes() - before) / kept.length;
}
