/** A database that fails when it is told to, and counts what is asked of it by the names of its statements. */
import type { Database, Row, SqlValue, Statement } from '../../src/actors/store/sqlite/database.ts';
import { openDatabase } from '../../src/actors/store/sqlite/database.ts';
import { SQL } from '../../src/actors/store/sqlite/statements.ts';

export type StatementName = keyof typeof SQL;

export const STATEMENTS = Object.keys(SQL) as readonly StatementName[];

export interface Fault {
  readonly statement: StatementName;
  /** Which call of it fails, from 1 on, over all connections. */
  readonly nth: number;
  /** Result code of SQLite. */
  readonly code: number;
  /** `after`: it is carried out first. `rolled-back`: as SQLite does on some errors. */
  readonly when: 'before' | 'after' | 'rolled-back';
}

export class FaultyDatabases {
  readonly calls = new Map<StatementName, number>();
  /** Those to come; each comes once. */
  readonly #faults: Set<Fault>;
  /** All that writes fails with this code, or all that there is; null: it works. */
  broken: { readonly code: number; readonly what: 'writes' | 'all' } | null = null;
  /** Of the file; null: no bound. */
  maxPages: number | null = null;

  constructor(faults: readonly Fault[] = []) {
    this.#faults = new Set(faults);
  }

  /** One more fault to come. */
  fail(fault: Fault): void {
    this.#faults.add(fault);
  }

  readonly open = (file: string): Database => {
    if (this.broken?.what === 'all') throw sqliteError(this.broken.code);
    const real = openDatabase(file);
    if (this.maxPages !== null) real.prepare(`PRAGMA max_page_count = ${this.maxPages}`).get();
    return {
      get isTransaction() {
        return real.isTransaction;
      },
      exec: (sql) => real.exec(sql),
      prepare: (sql) => this.#wrap(real, real.prepare(sql), sql),
      close: () => real.close(),
    };
  };

  #wrap(database: Database, real: Statement, sql: string): Statement {
    const name = STATEMENTS.find((one) => SQL[one] === sql);
    if (name === undefined) return real;
    const call = <T>(work: () => T): T => {
      const nth = (this.calls.get(name) ?? 0) + 1;
      this.calls.set(name, nth);
      const { broken } = this;
      if (broken !== null && (broken.what === 'all' || name === 'begin')) throw sqliteError(broken.code);
      const fault = [...this.#faults].find((one) => one.statement === name && one.nth === nth);
      if (fault === undefined) return work();
      this.#faults.delete(fault);
      if (fault.when === 'after') work();
      if (fault.when === 'rolled-back' && database.isTransaction) database.exec('ROLLBACK');
      throw sqliteError(fault.code);
    };
    return {
      run: (...values: readonly SqlValue[]) => call(() => real.run(...values)),
      get: (...values: readonly SqlValue[]) => call(() => real.get(...values)),
      all: (...values: readonly SqlValue[]) => call(() => real.all(...values)),
      iterate: (...values: readonly SqlValue[]): Iterable<Row> => call(() => real.iterate(...values)),
    };
  }
}

/** As `node:sqlite` throws it. */
export function sqliteError(code: number): Error {
  return Object.assign(new Error(`injected ${code}`), { code: 'ERR_SQLITE_ERROR', errcode: code });
}
