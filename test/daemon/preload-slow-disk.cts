/** Preloaded into a daemon: each commit of its journal takes as long as the environment says, as on a disk whose fsync is slow. */
const sqlite = require('node:sqlite');

type Run = (this: unknown, ...values: unknown[]) => unknown;

const COMMIT_MS = Number(process.env.SLOW_COMMIT_MS ?? 0);
const prepare = sqlite.DatabaseSync.prototype.prepare as (this: unknown, sql: string) => { run: Run };

sqlite.DatabaseSync.prototype.prepare = function (this: unknown, sql: string) {
  const statement = prepare.call(this, sql);
  if (sql !== 'COMMIT') return statement;
  const run = statement.run;
  statement.run = (...values) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, COMMIT_MS);
    return run.apply(statement, values);
  };
  return statement;
};
