/** A store that has what it was told, gives out what is to begin later in pages, and the rest to a daemon that comes after. */
import type { DelayedPlace } from '../../src/actors/protocol.ts';
import type { RunEvent, StoredRun } from '../../src/actors/records.ts';
import { isTerminal } from '../../src/actors/runs/index.ts';
import type { FarRuns } from '../../src/actors/runs/later-runs.ts';

export const PAGE = 100;

type Row = StoredRun & { readonly position: number };

export interface Keeper {
  readonly rows: ReadonlyMap<string, Row>;
  readonly far: FarRuns;
  /** Pages that were asked for. */
  readonly asked: number;
  /** By task: the newest occurrence it was told of. */
  readonly handledMs: ReadonlyMap<string, number>;
  /** Whether it can be asked. */
  fail(on: boolean): void;
  keep(events: readonly RunEvent[]): void;
  /** What is not over and does not begin later than this, in the order it came. */
  unfinished(atMs: number): StoredRun[];
}

export function keeper(): Keeper {
  const rows = new Map<string, Row>();
  const handledMs = new Map<string, number>();
  let position = 0;
  let broken = false;
  let asked = 0;
  const pending = (row: StoredRun) => row.state === 'pending';
  const isAfter = (row: Row, after: DelayedPlace) =>
    row.dueAtMs > after.dueAtMs || (row.dueAtMs === after.dueAtMs && row.position > after.position);
  return {
    rows,
    handledMs,
    far: {
      async page(after) {
        asked++;
        if (broken) throw new Error('the disk is away');
        const found = [...rows.values()]
          .filter((row) => pending(row) && isAfter(row, after))
          .sort((a, b) => a.dueAtMs - b.dueAtMs || a.position - b.position);
        const runs = found.slice(0, PAGE);
        return { runs, next: found.length > PAGE ? { ...runs.at(-1)! } : null };
      },
      async find(run) {
        const row = rows.get(run);
        return row !== undefined && pending(row) ? row : null;
      },
    },
    get asked() {
      return asked;
    },
    fail: (on) => {
      broken = on;
    },
    keep(events) {
      for (const event of events) {
        const { run, task, state, attempt, occurrenceMs } = event;
        if (occurrenceMs !== undefined)
          handledMs.set(task, Math.max(occurrenceMs, handledMs.get(task) ?? occurrenceMs));
        const row = rows.get(run);
        const now = { state, attempt, ...(state === 'running' ? { startedAtMs: event.atMs } : {}) };
        if (row !== undefined) {
          const interruptions = row.interruptions + (state === 'interrupted' ? 1 : 0);
          rows.set(run, { ...row, ...now, interruptions, dueAtMs: event.dueAtMs ?? row.dueAtMs });
          continue;
        }
        const { origin = 'manual', createdAtMs = 0, input = '{}', dueAtMs = createdAtMs } = event;
        const rest = {
          startedAtMs: null,
          mark: null,
          error: null,
          attempts: [],
          interruptions: 0,
          flow: null,
          note: null,
        };
        rows.set(run, {
          ...rest,
          position: ++position,
          run,
          task,
          origin,
          createdAtMs,
          dueAtMs,
          input,
          ...now,
        });
      }
    },
    unfinished: (atMs) =>
      [...rows.values()]
        .filter((row) => !isTerminal(row.state) && !(pending(row) && row.dueAtMs > atMs))
        .sort((a, b) => a.position - b.position),
  };
}
