/** Journals on disk for tests: in a folder that goes with the test, and what is in them. */
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Retention, SqliteStore, type SqliteStoreOptions } from '../../src/actors/store/index.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';

export const ROOMY: Retention = {
  runs: 1e6,
  results: 1e6,
  resultTtlMs: 1e12,
  fileBytes: 1e12,
  maxBytes: 1e12,
};

export function journalFile(t: HasAfter): string {
  return join(tempDir(t), 'journal.db');
}

/** A store on `file`, not opened yet; closed at the end of the test. */
export function sqliteStore(
  t: HasAfter,
  file: string,
  options: Partial<SqliteStoreOptions> = {},
): SqliteStore {
  const store = new SqliteStore({
    file,
    durability: 'process',
    retention: ROOMY,
    nowMs: () => 1_000_000,
    ...options,
  });
  t.after(() => store.close());
  return store;
}

export const PARTS = ['', '-wal', '-shm'] as const;

/** The files as the end of the process would leave them now, in another folder. */
export function crashCopy(t: HasAfter, file: string): string {
  const copy = journalFile(t);
  for (const part of PARTS) if (existsSync(file + part)) copyFileSync(file + part, copy + part);
  return copy;
}

const TABLES = ['runs', 'tasks', 'marks', 'schedules', 'last_ends', 'audit', 'boot', 'holds'] as const;
/** Tables without a rowid. */
const ORDERS: Readonly<Record<string, string>> = {
  marks: 'task, mark',
  schedules: 'task',
  last_ends: 'task',
  holds: 'run, flow',
};
export type Dump = Readonly<Record<(typeof TABLES)[number], readonly Readonly<Record<string, unknown>>[]>>;

/** All rows of all tables, in the order they were made; `but`: without these tables. */
export function dump(file: string, but: readonly string[] = []): Partial<Dump> {
  return inside(file, (database) => {
    const read = (table: string) => {
      const order = ORDERS[table] ?? 'rowid';
      return database.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all();
    };
    return Object.fromEntries(
      TABLES.filter((table) => !but.includes(table)).map((table) => [table, read(table)]),
    );
  });
}

/** Opens the file with nothing of the store's. */
export function inside<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
