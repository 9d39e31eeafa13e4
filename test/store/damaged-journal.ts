/** A journal of some size, to be damaged, and stores on what is left of it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { RunFilter } from '../../src/actors/protocol.ts';
import { type SqliteStore, StoreTrouble } from '../../src/actors/store/index.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { begin, death, end, Feed, markOf, then } from './feed.ts';
import { inside, journalFile, sqliteStore } from './sqlite-journal.ts';

export const ALL: RunFilter = { task: null, state: null, limit: 10_000 };
export const NOW_MS = Date.UTC(2026, 10, 29, 8, 15, 2);

/** Its bytes, of a file that no daemon closed: 1,500 runs, of which 300 are not over and 300 dead letters. */
export function sizeableJournal(t: HasAfter): Buffer {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  store.mount({ atMs: 1000, schedules: [{ task: 'a', schedule: 'every 5s' }] });
  const feed = new Feed(store);
  for (let index = 0; index < 1500; index++) {
    const run = `a@${index}`;
    const input = JSON.stringify({ index, text: 'i'.repeat(index % 900) });
    const mark = markOf(index * 0x9e3779b1);
    const retried = then(run, { state: 'retrying', dueAtMs: 1 });
    feed.append([begin(run, { input, mark }), retried, then(run, { attempt: 2 })]);
    if (index % 5 === 0) feed.append([death(run, { attempt: 2, mark })]);
    else if (index % 5 !== 1) feed.append([end(run, { attempt: 2, mark, result: input })]);
    if (index % 3 === 0) {
      store.audit({ atMs: 1, actor: 'ann (1)', action: 'cancel', target: run, fields: { index } });
    }
  }
  store.commit();
  store.close();
  return changed(t, readFileSync(file), 'UPDATE boot SET clean = 0');
}

/** The same file after these statements. */
export function changed(t: HasAfter, bytes: Buffer, sql: string): Buffer {
  const file = journalFile(t);
  writeFileSync(file, bytes);
  inside(file, (database) => database.exec(sql));
  return readFileSync(file);
}

/** Gives a store on these bytes, not opened yet, and takes all of it away again. */
export function onBytes(bytes: Buffer, use: (store: SqliteStore, file: string) => void, wal?: Buffer): void {
  const undo: (() => void)[] = [];
  const t: HasAfter = { after: (one) => void undo.push(one) };
  const file = journalFile(t);
  writeFileSync(file, bytes);
  if (wal !== undefined) writeFileSync(`${file}-wal`, wal);
  try {
    use(sqliteStore(t, file, { nowMs: () => NOW_MS }), file);
  } finally {
    for (const one of undo.reverse()) one();
  }
}

/** There is nothing in it, and it works. */
export function expectNew(store: SqliteStore): void {
  assert.deepEqual([store.list(ALL), store.unfinished(0).runs, store.letters(0).letters], [[], [], []]);
  new Feed(store).record([begin('a@1'), end('a@1')]);
  assert.equal(store.show('a@1')?.state, 'success');
}

/** Asks and does everything; nothing but trouble may come of it, and what comes has the shape that it should. */
export function useAll(store: SqliteStore): void {
  const uses: readonly (() => unknown)[] = [
    () => store.list(ALL).forEach(expectShape),
    () => store.unfinished(0),
    () => store.unfinished(700),
    () => store.letters(0),
    () => store.marked('a', [0, 1, 2, 3].map(markOf)),
    () => store.audits(1000),
    () => store.mount({ atMs: 1, schedules: [{ task: 'a', schedule: 'every 5s' }] }),
    () => new Feed(store).record([begin('new@1'), end('new@1'), end('a@1'), end('a@6')], ['a@5']),
    () => store.show('a@700'),
    () => store.usage(),
    () => store.rest(),
  ];
  for (const use of uses) {
    try {
      use();
    } catch (error) {
      if (!(error instanceof StoreTrouble)) throw error;
    }
  }
}

function expectShape(view: RunView): void {
  assert.ok(Array.isArray(view.attempts));
  assert.equal(typeof view.run, 'string');
  assert.equal(typeof view.input, 'string');
  assert.ok(view.error === null || typeof view.error === 'object');
  assert.ok(Number.isFinite(view.createdAtMs) && Number.isFinite(view.attempt));
  assert.equal(typeof view.origin, 'string');
}
