/**
 * A consistent copy of the journal, made while it is written to: by `VACUUM INTO` (sqlite.org/lang_vacuum.html) over a
 * connection of its own, on a thread that lives as long as that takes. In WAL mode a reader keeps nobody from writing.
 *
 * Not by `backup` of `node:sqlite`: of Node 26.12 that ends the process with SIGSEGV, once in some runs.
 */
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { ColibriError, toErrorData } from '../../kernel/index.ts';

/** What the thread runs: as text, so that it needs no file where the program is built into one. */
const COPY = `
  const { workerData: { journal, part } } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(journal, { readOnly: true, timeout: 5000 });
  database.exec('PRAGMA cache_size = -512; PRAGMA mmap_size = 0');
  database.prepare('VACUUM INTO ?').run(part);
  database.close();
`;

/**
 * Resolves with the size of the copy in bytes. It has its name only when it is whole and on the disk. Rejects with
 * `file-failed`, also where there is a file of that name already.
 */
export async function backUp(journal: string, target: string): Promise<number> {
  // Not by the id of the process: in a container that is the same in each life, and a part may have been left behind.
  const part = `${target}.part-${crypto.randomUUID().slice(0, 8)}`;
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (error) {
    throw failed(target, error);
  }
  try {
    await copy(journal, part);
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

function copy(journal: string, part: string): Promise<void> {
  const done = Promise.withResolvers<void>();
  const thread = new Worker(COPY, {
    eval: true,
    name: 'backup',
    workerData: { journal, part },
    resourceLimits: { maxOldGenerationSizeMb: 16 },
  });
  thread.once('error', done.reject);
  thread.once('exit', (code) => {
    if (code === 0) done.resolve();
    else done.reject(new Error(`the thread that copied it ended with ${code}`));
  });
  return done.promise;
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
