/** Which errors of SQLite may pass by themselves, or by somebody who mends the disk. */
import { StoreTrouble } from '../store.ts';
import { SqliteCode, sqliteCode } from './database.ts';

const REASONS: ReadonlyMap<number, string> = new Map([
  [SqliteCode.Full, 'the disk is full'],
  [SqliteCode.ReadOnly, 'the file system or the journal is read-only'],
  [SqliteCode.IoError, 'the disk reports an error'],
  [SqliteCode.CannotOpen, 'the journal cannot be opened'],
  [SqliteCode.Busy, 'another program holds a lock on the journal'],
  [SqliteCode.Locked, 'another program holds a lock on the journal'],
  [SqliteCode.Corrupt, 'the journal is damaged; the next start sets it aside'],
  [SqliteCode.NotADatabase, 'the journal is damaged; the next start sets it aside'],
]);

/** The trouble that an error means; null: it is a fault of the program. */
export function troubleOf(error: unknown): StoreTrouble | null {
  const code = isOutOfRange(error) ? SqliteCode.Corrupt : sqliteCode(error);
  const reason = code === null ? undefined : REASONS.get(code);
  if (reason === undefined) return null;
  return new StoreTrouble(`${reason} (${(error as Error).message})`, { cause: error });
}

/** A number that none of ours can be was read. */
function isOutOfRange(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';
}
