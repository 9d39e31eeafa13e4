/**
 * Preloaded into a daemon: each statement of its journal fails once, as on a full disk, an I/O error or a busy file.
 * What is meant stands in the file `armed.json`, in the folder that the environment names; what has failed is written
 * beside it.
 */
const { appendFileSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const sqlite = require('node:sqlite');

type Method = (this: unknown, ...args: unknown[]) => unknown;

const FOLDER = process.env.KILL_TEST_FAULTS ?? '.';
/** An expression for the statements, and the time between two faults. */
type Armed = import('./faults.ts').Armed;
const FAULTS = [
  { errcode: 13, message: 'database or disk is full' },
  { errcode: 778, message: 'disk I/O error' },
  { errcode: 5, message: 'database is locked' },
] as const;

const failed = new Set<string>();
let lastMono = Number.NEGATIVE_INFINITY;

function failOnce(sql: string): void {
  // It undoes what another failure has left; there is nothing for it to write.
  if (/^\s*ROLLBACK/i.test(sql) || failed.has(sql) || !isMeant(sql)) return;
  const { errcode, message } = FAULTS[failed.size % FAULTS.length]!;
  failed.add(sql);
  lastMono = performance.now();
  appendFileSync(join(FOLDER, 'faults.txt'), `${errcode} ${sql.replace(/\s+/g, ' ')}\n`);
  throw Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode, errstr: message });
}

function isMeant(sql: string): boolean {
  let armed: Armed;
  try {
    armed = JSON.parse(readFileSync(join(FOLDER, 'armed.json'), 'utf8')) as Armed;
  } catch {
    return false;
  }
  return performance.now() - lastMono >= armed.gapMs && new RegExp(armed.meant, 'i').test(sql);
}

/** `sqlOf`: of a call, from what it is made on and its first argument. */
function wrap(
  prototype: Record<string, Method>,
  names: readonly string[],
  sqlOf: (self: unknown, first: unknown) => string,
): void {
  for (const name of names) {
    const original = prototype[name]!;
    prototype[name] = function (...args) {
      failOnce(sqlOf(this, args[0]));
      return original.apply(this, args);
    };
  }
}

wrap(sqlite.DatabaseSync.prototype, ['exec'], (_self, sql) => String(sql));
wrap(
  sqlite.StatementSync.prototype,
  ['run', 'get', 'all', 'iterate'],
  (self) => (self as { readonly sourceSQL: string }).sourceSQL,
);
