/**
 * Opening the journal: made with mode 0600, brought to the newest schema, checked where the last daemon did not close it,
 * and set aside where it is damaged.
 */
import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { ColibriError, toErrorData } from '../../kernel/index.ts';
import { type Database, openDatabase, SqliteCode, sqliteCode } from './database.ts';
import { JOURNAL_CACHE_BYTES } from './journal-cache.ts';
import { MIGRATIONS } from './schema.ts';

export interface OpenJournalOptions {
  readonly file: string;
  readonly durability: 'process' | 'power';
  readonly nowMs: () => number;
  /** Default: what is released. */
  readonly migrations?: readonly string[];
  readonly openDatabase?: (file: string) => Database;
}

export interface OpenedJournal<T> {
  readonly taken: T;
  /** Where a damaged file is now; null: there was none. */
  readonly setAside: string | null;
}

/** The write-ahead log at which it is brought into the file, and to which it is cut then. */
const WAL_PAGES = 1000;
const WAL_BYTES = 4 * 2 ** 20;

/**
 * Gives the database to `take`, and closes it where that throws. `first`: of a daemon, which looks through the file where
 * the last one did not close it, and sets a damaged one aside; later on it is left where it is. Throws `store-failed`.
 */
export function openJournal<T>(
  options: OpenJournalOptions,
  first: boolean,
  take: (database: Database) => T,
): OpenedJournal<T> {
  try {
    return { taken: open(options, first, take), setAside: null };
  } catch (error) {
    if (!first || !isDamage(error)) throw asStoreFailed(error, options.file);
  }
  try {
    const setAside = moveAside(options);
    return { taken: open(options, false, take), setAside };
  } catch (error) {
    throw asStoreFailed(error, options.file);
  }
}

function open<T>(options: OpenJournalOptions, check: boolean, take: (database: Database) => T): T {
  // SQLite would make it with the mode of the process, and gives its companions the mode of the file.
  if (!existsSync(options.file)) makePrivate(options.file);
  const database = (options.openDatabase ?? openDatabase)(options.file);
  try {
    // First of all what only reads, so that a file which is refused or set aside is as it was.
    const version = knownVersion(database, options);
    if (check && version > 0 && wasLeftOpen(database)) expectWhole(database);
    database.exec(`
      ${version === 0 ? 'PRAGMA auto_vacuum = INCREMENTAL;' : ''}
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'};
      PRAGMA cache_size = -${JOURNAL_CACHE_BYTES / 1024};
      PRAGMA mmap_size = 0;
      PRAGMA temp_store = MEMORY;
      PRAGMA trusted_schema = OFF;
      PRAGMA wal_autocheckpoint = ${WAL_PAGES};
      PRAGMA journal_size_limit = ${WAL_BYTES};
    `);
    migrate(database, version, options);
    return take(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function knownVersion(database: Database, { file, migrations = MIGRATIONS }: OpenJournalOptions): number {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  if (version <= migrations.length) return version;
  throw new ColibriError(
    'store-failed',
    `expected ${file} to have schema version ${migrations.length} or older, got ${version}: a newer colibri wrote it; install that one, or set another state_dir`,
  );
}

function migrate(database: Database, version: number, options: OpenJournalOptions): void {
  const { migrations = MIGRATIONS } = options;
  if (version === migrations.length) return;
  if (version > 0) keepCopy(database, version, options);
  for (let next = version; next < migrations.length; next++) {
    database.exec(`BEGIN IMMEDIATE; ${migrations[next]}; PRAGMA user_version = ${next + 1}; COMMIT`);
  }
}

function keepCopy(database: Database, version: number, { file, nowMs }: OpenJournalOptions): void {
  const copy = nameBeside(file, `v${version}.${stamp(nowMs())}`);
  makePrivate(copy);
  try {
    database.prepare('VACUUM INTO ?').run(copy);
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

function wasLeftOpen(database: Database): boolean {
  return database.prepare('SELECT clean FROM boot').get()?.clean === 0;
}

/** Thrown where the file is a database, but not a whole one. */
class Damage extends Error {}

/** All but whether indexes agree with their tables (sqlite.org/pragma.html#pragma_quick_check). */
function expectWhole(database: Database): void {
  const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  if (found !== 'ok') throw new Damage(String(found));
}

export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return error instanceof Damage || code === SqliteCode.Corrupt || code === SqliteCode.NotADatabase;
}

function moveAside({ file, nowMs }: OpenJournalOptions): string {
  const aside = nameBeside(file, `damaged-${stamp(nowMs())}`);
  for (const part of ['', '-wal', '-shm']) {
    if (existsSync(file + part)) renameSync(file + part, aside + part);
  }
  return aside;
}

function makePrivate(file: string): void {
  closeSync(openSync(file, 'wx', 0o600));
}

/** A name that no file has yet. */
function nameBeside(file: string, what: string): string {
  const stem = `${file.replace(/\.db$/, '')}.${what}`;
  let name = `${stem}.db`;
  for (let next = 2; existsSync(name); next++) name = `${stem}-${next}.db`;
  return name;
}

/** Of a file's name: `20261129T081502Z`. */
function stamp(ms: number): string {
  return `${new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')}`;
}

function asStoreFailed(error: unknown, file: string): ColibriError {
  if (error instanceof ColibriError) return error;
  const { message } = toErrorData(error, 'store-failed');
  return new ColibriError(
    'store-failed',
    `expected ${file} to be a journal that can be opened, got: ${message}; mend that, or set store.kind to memory`,
    { cause: error },
  );
}
