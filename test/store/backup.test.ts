import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { MemoryStore } from '../../src/actors/store/index.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';
import { begin, death, end, Feed } from './feed.ts';
import { inside, journalFile, ROOMY, sqliteStore } from './sqlite-journal.ts';

const INPUT = JSON.stringify('i'.repeat(10_000));

/** A journal of `runs` runs, 10 KB each. */
function filled(t: HasAfter, runs: number) {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  const feed = new Feed(store);
  let next = 1;
  const add = () => {
    const run = `a@${next++}`;
    feed.record([begin(run, { input: INPUT }), end(run)]);
  };
  for (let count = 0; count < runs; count++) add();
  return { file, store, feed, add };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a copy made while appends go on is whole, and holds what was there up to some moment', async (t) => {
  const { store, add } = filled(t, 1500);
  const copy = join(tempDir(t), 'copy.db');
  const state = { done: false };
  const copying = store.backup(copy).finally(() => {
    state.done = true;
  });
  let added = 0;
  while (!state.done) {
    for (let count = 0; count < 3; count++, added++) add();
    await nextTurn();
  }
  const bytes = await copying;
  assert.ok(added > 0);
  assert.equal(bytes, statSync(copy).size);
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dirname(copy)), ['copy.db']);
  const runs = inside(copy, (database) => {
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    const rows = database.prepare('SELECT run, state FROM runs ORDER BY rowid').all();
    assert.ok(rows.every(({ run, state: now }, index) => run === `a@${index + 1}` && now === 'success'));
    assert.equal(database.prepare('SELECT kept FROM boot').get()?.kept, 2 * rows.length);
    return rows.length;
  });
  assert.ok(runs >= 1500 && runs <= 1500 + added, `${runs}`);
  assert.equal(store.kept, 2 * (1500 + added));
});

test('what is not committed is not in the copy', async (t) => {
  const { store, feed } = filled(t, 10);
  const copy = join(tempDir(t), 'copy.db');
  feed.append([begin('b@1')]);
  const copying = store.backup(copy);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  store.commit();
  feed.append([begin('b@2')]);
  store.commit();
  await copying;
  const names = inside(copy, (database) =>
    database
      .prepare(`SELECT run FROM runs WHERE run LIKE 'b@%' ORDER BY rowid`)
      .all()
      .map(({ run }) => run),
  );
  assert.ok(['', 'b@1', 'b@1 b@2'].includes(names.join(' ')), names.join(' '));
});

test('a copy put in the place of the journal is one', async (t) => {
  const { store, feed } = filled(t, 5);
  feed.record([begin('b@1'), begin('d@1'), death('d@1')]);
  store.mount({ atMs: 5, schedules: [{ task: 'a', schedule: 'every 5s' }] });
  const copy = join(tempDir(t), 'journal.db');
  await store.backup(copy);
  const restored = sqliteStore(t, copy);
  const { unfinished, letters, setAside } = restored.open('boot-2', 0);
  assert.deepEqual([unfinished, letters, setAside], [1, 1, null]);
  const all = { task: null, state: null, limit: 100 } as const;
  assert.deepEqual(restored.list(all), store.list(all));
  assert.deepEqual(restored.mount({ atMs: 9, schedules: [{ task: 'a', schedule: 'every 5s' }] }), [5]);
});

test('what is there already stays as it is', async (t) => {
  const { store } = filled(t, 5);
  const target = join(tempDir(t), 'copy.db');
  writeFileSync(target, 'precious');
  const message =
    /^expected .*copy\.db to be a file that can be made, got one that is there already; choose another/;
  await assert.rejects(store.backup(target), { code: 'file-failed', message });
  assert.equal(readFileSync(target, 'utf8'), 'precious');
  const folder = join(dirname(target), 'folder');
  mkdirSync(folder);
  await assert.rejects(store.backup(folder), { code: 'file-failed', message: /there already/ });
  assert.deepEqual(readdirSync(dirname(target)), ['copy.db', 'folder']);
});

test('two at once to one name: one of them gets it', async (t) => {
  const { store } = filled(t, 200);
  const target = join(tempDir(t), 'copy.db');
  const results = await Promise.allSettled([store.backup(target), store.backup(target)]);
  assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.deepEqual(readdirSync(dirname(target)), ['copy.db']);
});

test('a folder that is not there, or is none', async (t) => {
  const { store, file } = filled(t, 5);
  const nowhere = join(tempDir(t), 'nowhere', 'copy.db');
  await assert.rejects(store.backup(nowhere), {
    code: 'file-failed',
    message: /one in a folder that does not exist$/,
  });
  await assert.rejects(store.backup(join(file, 'copy.db')), { code: 'file-failed', message: /ENOTDIR/ });
  assert.ok(store.show('a@1') !== null, 'the store itself goes on');
});

test('a copy goes on to its end where the journal is closed meanwhile', async (t) => {
  const { store } = filled(t, 2000);
  const target = join(tempDir(t), 'copy.db');
  const copying = store.backup(target);
  await nextTurn();
  assert.ok(
    readdirSync(dirname(target)).every((name) => name.startsWith('copy.db.part-')),
    'it goes on',
  );
  store.close();
  await copying;
  assert.deepEqual(readdirSync(dirname(target)), ['copy.db']);
  assert.equal(sqliteStore(t, target).open('boot-2', 0).setAside, null);
});

test('a transaction that is open keeps nobody from copying what was committed before', async (t) => {
  const { store, feed } = filled(t, 5);
  const target = join(tempDir(t), 'copy.db');
  feed.append([begin('b@1')]);
  await store.backup(target);
  assert.equal(
    inside(
      target,
      (database) => database.prepare(`SELECT count(*) AS n FROM runs WHERE run = 'b@1'`).get()?.n,
    ),
    0,
  );
  store.commit();
  assert.equal(store.kept, 11);
});

test('a part that an earlier life left behind is in nobody’s way', async (t) => {
  const { store } = filled(t, 5);
  const target = join(tempDir(t), 'copy.db');
  writeFileSync(`${target}.part-${process.pid}`, 'left');
  await store.backup(target);
  assert.equal(sqliteStore(t, target).open('boot-2', 0).setAside, null);
});

test('a store in memory has nothing to copy', async (t) => {
  const target = join(tempDir(t), 'copy.db');
  const store = new MemoryStore(ROOMY, () => 0);
  await assert.rejects(store.backup(), { code: 'store-failed', message: /set store\.kind to sqlite$/ });
  assert.deepEqual(readdirSync(dirname(target)), []);
});
