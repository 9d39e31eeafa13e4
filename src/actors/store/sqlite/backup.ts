/** A consistent copy of the journal, made while it is written to. */
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { ColibriError, toErrorData } from '../../kernel/index.ts';
import type { Database } from './database.ts';

/** Pages a step; between two steps the thread does other things. */
const STEP_PAGES = 256;

/**
 * Resolves with the size of the copy in bytes. It has its name only when it is whole and on the disk. Rejects with
 * `file-failed`, also where there is a file of that name already.
 */
export async function backUp(database: Database, target: string): Promise<number> {
  const part = `${target}.part-${process.pid}`;
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (error) {
    throw failed(target, error);
  }
  try {
    const { backup } = process.getBuiltinModule('node:sqlite');
    await backup(database as unknown as DatabaseSync, part, { rate: STEP_PAGES });
    sync(part);
    // Unlike a rename, a link does not take the place of what is there.
    linkSync(part, target);
    return statSync(target).size;
  } catch (error) {
    throw failed(target, error);
  } finally {
    rmSync(part, { force: true });
  }
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
