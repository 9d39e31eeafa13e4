/** As much of `node:sqlite` as the store uses: a seat for faults. */

export interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export type SqlValue = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): readonly Row[];
  iterate(...values: readonly SqlValue[]): Iterable<Row>;
}

/** Loaded when a journal is opened, and only then: it is a megabyte of the runtime's file. */
export function openDatabase(file: string): Database {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(file, { enableForeignKeyConstraints: false, timeout: BUSY_MS }) as Database;
}

/** How long SQLite waits for a lock that only another program can hold. */
const BUSY_MS = 250;

/** Result codes of SQLite that the store tells apart (sqlite.org/rescode.html); extended ones have them in the low byte. */
export const SqliteCode = {
  Busy: 5,
  Locked: 6,
  ReadOnly: 8,
  IoError: 10,
  Corrupt: 11,
  Full: 13,
  CannotOpen: 14,
  Constraint: 19,
  NotADatabase: 26,
} as const;

/** Null for what is no error of SQLite. */
export function sqliteCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}
