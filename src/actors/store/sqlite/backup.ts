/** A consistent copy of the journal, made while it is written to. */
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { ColibriError, toErrorData } from '../../kernel/index.ts';
import { type Database, SqliteCode, sqliteCode } from './database.ts';

/** Pages a step; between two steps the thread does other things. */
const STEP_PAGES = 256;
/** A transaction is open for a turn of the event loop, as a rule. */
const BEGIN_TRIES = 1000;

/**
 * Resolves with the size of the copy in bytes. It has its name only when it is whole and on the disk. Rejects with
 * `file-failed`, also where there is a file of that name already.
 */
export async function backUp(database: Database, target: string): Promise<number> {
  // Not by the id of the process: in a container that is the same in each life, and a part may have been left behind.
  const part = `${target}.part-${crypto.randomUUID().slice(0, 8)}`;
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (error) {
    throw failed(target, error);
  }
  try {
    await copy(database, part);
    sync(part);
    // Unlike a rename, a link does not take the place of what is there.
    linkSync(part, target);
    return statSync(target).size;
  } catch (error) {
    throw failed(target, error);
  } finally {
    for (const file of [part, `${part}-journal`]) rmSync(file, { force: true });
  }
}

/** Its first step fails where a transaction is open at that moment; later ones wait for its end. */
async function copy(database: Database, part: string): Promise<void> {
  const { backup } = process.getBuiltinModule('node:sqlite');
  for (let tries = 1; ; tries++) {
    try {
      await backup(database as unknown as DatabaseSync, part, { rate: STEP_PAGES });
      return;
    } catch (error) {
      if (tries === BEGIN_TRIES || !isBusy(error)) throw error;
      await nextTurn();
    }
  }
}

/** Node gives 0 where SQLite said that it was busy. */
function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 0 || code === SqliteCode.Busy || code === SqliteCode.Locked;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function sync(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function failed(target: string, error: unknown): ColibriError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  const what =
    code === 'EEXIST'
      ? 'one that is there already; choose another name, or remove it'
      : code === 'ENOENT'
        ? 'one in a folder that does not exist'
        : toErrorData(error, 'file-failed').message;
  return new ColibriError('file-failed', `expected ${target} to be a file that can be made, got ${what}`, {
    cause: error,
  });
}
