/**
 * How each task ended last: kept apart from its runs, which are forgotten. Gathered in memory and written once a commit, so
 * that a thousand ends of a task in one transaction cost one row.
 */
import type { LastEnd, RunEvent } from '../../records.ts';
import { stateOf } from './rows.ts';
import type { Statements } from './statements.ts';

export class LastEnds {
  readonly #statements: Statements;
  /** Not written yet. */
  readonly #ends = new Map<string, LastEnd>();

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** A run is over. */
  note({ task, state, atMs }: RunEvent): void {
    const succeededAtMs = state === 'success' ? atMs : (this.#ends.get(task)?.succeededAtMs ?? null);
    this.#ends.set(task, { task, state, endedAtMs: atMs, succeededAtMs });
  }

  /** Part of each transaction. */
  write(): void {
    for (const { task, state, endedAtMs, succeededAtMs } of this.#ends.values()) {
      const success = succeededAtMs === null ? null : Math.floor(succeededAtMs);
      this.#statements.setLastEnd.run(task, state, Math.floor(endedAtMs), success);
    }
    this.#ends.clear();
  }

  all(): readonly LastEnd[] {
    return this.#statements.lastEnds.all().map((row) => ({
      task: row.task as string,
      state: stateOf(row),
      endedAtMs: row.ended_ms as number,
      succeededAtMs: row.success_ms as number | null,
    }));
  }
}
