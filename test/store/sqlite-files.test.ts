import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { MIGRATIONS } from '../../src/actors/store/sqlite/schema.ts';
import { ALL, changed, expectNew, NOW_MS, sizeableJournal } from './damaged-journal.ts';
import { begin, end, Feed } from './feed.ts';
import { inside, journalFile, PARTS, sqliteStore } from './sqlite-journal.ts';

const nowMs = () => NOW_MS;
const sizeable = sizeableJournal({ after });

test('the files are for their owner alone, whatever the umask', (t) => {
  const before = process.umask();
  t.after(() => process.umask(before));
  for (const mask of [0, 0o022, 0o077, 0o137]) {
    process.umask(mask);
    const file = journalFile(t);
    const store = sqliteStore(t, file);
    store.open('boot-1', 0);
    new Feed(store).record([begin('a@1')]);
    assert.deepEqual(
      PARTS.map((part) => statSync(file + part).mode & 0o777),
      [0o600, 0o600, 0o600],
    );
  }
});

test('a folder at its place, a folder that is not there', (t) => {
  const file = journalFile(t);
  mkdirSync(file);
  writeFileSync(join(file, 'precious'), 'x');
  const message =
    /^expected .* to be a journal that can be opened, got: .*; mend that, or set store.kind to memory$/;
  assert.throws(() => sqliteStore(t, file).open('boot-1', 0), { code: 'store-failed', message });
  assert.deepEqual(readdirSync(dirname(file)), ['journal.db']);
  const nowhere = join(dirname(file), 'nowhere', 'journal.db');
  assert.throws(() => sqliteStore(t, nowhere).open('boot-1', 0), { code: 'store-failed', message });
});

test('a file that may not be read', { skip: process.getuid?.() === 0 ? 'root may read all' : false }, (t) => {
  const file = journalFile(t);
  writeFileSync(file, sizeable);
  chmodSync(file, 0);
  assert.throws(() => sqliteStore(t, file).open('boot-1', 0), { code: 'store-failed' });
  chmodSync(file, 0o600);
  assert.ok(readFileSync(file).equals(sizeable));
});

test('a journal of a newer colibri is refused, and not touched', (t) => {
  for (const mode of ['WAL', 'DELETE']) {
    const newer = changed(t, sizeable, `PRAGMA journal_mode = ${mode}; PRAGMA user_version = 99`);
    const file = journalFile(t);
    writeFileSync(file, newer);
    const store = sqliteStore(t, file);
    assert.throws(() => store.open('boot-2', 0), {
      code: 'store-failed',
      message: new RegExp(
        `^expected .* schema version ${MIGRATIONS.length} or older, got 99: a newer colibri`,
      ),
    });
    assert.ok(readFileSync(file).equals(newer), mode);
    assert.deepEqual(readdirSync(dirname(file)), ['journal.db']);
  }
});

test('a journal of before they were kept tells how tasks ended last, by the runs that it has', (t) => {
  const file = journalFile(t);
  const before = sqliteStore(t, file, { migrations: MIGRATIONS.slice(0, 2) });
  // What it is made of then has no such table: so it is filled by hand.
  assert.throws(() => before.open('boot-1', 0));
  const run = 'run, task, state, attempt, interruptions, origin, created_ms, ended_ms, dead';
  inside(file, (database) => {
    for (const [task, state, endedMs, dead] of [
      ['a', 'success', 10, 0],
      ['a', 'success', 20, 0],
      ['a', 'failed', 30, 1],
      ['b', 'skipped', 5, 0],
      ['c', 'running', null, 0],
    ] as const) {
      database
        .prepare(`INSERT INTO runs (${run}) VALUES (?, ?, ?, 1, 0, 'manual', 0, ?, ?)`)
        .run(`${task}@${endedMs}`, task, state, endedMs, dead);
    }
  });
  const store = sqliteStore(t, file);
  store.open('boot-2', 0);
  assert.deepEqual(store.lastEnds(), [
    { task: 'a', state: 'failed', endedAtMs: 30, succeededAtMs: 20 },
    { task: 'b', state: 'skipped', endedAtMs: 5, succeededAtMs: null },
  ]);
});

test('an older one is brought up to date, and a copy of it kept', (t) => {
  const file = journalFile(t);
  writeFileSync(file, sizeable);
  const migrations = [
    ...MIGRATIONS,
    'ALTER TABLE audit ADD COLUMN place TEXT',
    'CREATE TABLE more (x INTEGER)',
  ];
  const store = sqliteStore(t, file, { nowMs, migrations });
  assert.deepEqual(store.open('boot-2', 0), {
    durable: true,
    crashed: true,
    setAside: null,
    unfinished: 300,
    letters: 300,
    delayed: 0,
  });
  assert.equal(store.list(ALL).length, 1500);
  store.close();
  inside(file, (database) => {
    assert.equal(database.prepare('PRAGMA user_version').get()?.user_version, MIGRATIONS.length + 2);
    database.exec('SELECT place FROM audit; SELECT x FROM more');
  });
  const copies = readdirSync(dirname(file)).filter((name) => name !== 'journal.db');
  assert.deepEqual(copies, [`journal.v${MIGRATIONS.length}.20261129T081502Z.db`]);
  const copy = join(dirname(file), copies[0]!);
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  const older = sqliteStore(t, copy);
  assert.equal(older.open('boot-3', 0).unfinished, 300);
  assert.equal(older.list(ALL).length, 1500);
  older.close();

  const again = sqliteStore(t, file, { nowMs, migrations });
  again.open('boot-3', 0);
  assert.equal(again.list(ALL).length, 1500);
  assert.deepEqual(
    readdirSync(dirname(file)).filter((name) => /v\d/.test(name)),
    copies,
    'copied once',
  );
});

test('a step that fails leaves the file as it was, and may be tried again within the same second', (t) => {
  const file = journalFile(t);
  writeFileSync(file, sizeable);
  const migrations = [...MIGRATIONS, 'CREATE TABLE more (x INTEGER); INSERT INTO nowhere VALUES (1)'];
  for (let tries = 1; tries <= 2; tries++) {
    const store = sqliteStore(t, file, { nowMs, migrations });
    assert.throws(() => store.open('boot-2', 0), { code: 'store-failed', message: /nowhere/ });
  }
  const store = sqliteStore(t, file);
  assert.equal(store.open('boot-2', 0).unfinished, 300);
  inside(file, (database) => assert.throws(() => database.prepare('SELECT x FROM more'), /no such table/));
  const copies = readdirSync(dirname(file)).filter((name) => /v\d/.test(name));
  assert.equal(copies.length, 2);
});

test('a journal that is taken away while it is used is begun anew when it has to be opened again', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  const feed = new Feed(store);
  feed.record([begin('a@1'), begin('a@2')]);
  store.close();
  const gone = sqliteStore(t, file);
  gone.open('boot-1', 2);
  const rest = new Feed(gone);
  inside(file, (database) => {
    database.exec('BEGIN IMMEDIATE');
    assert.throws(() => rest.append([end('a@1')]), { name: 'StoreTrouble', message: /lock/ });
  });
  for (const part of PARTS) rmSync(file + part, { force: true });
  const resent = new Feed(gone);
  resent.record([end('a@1'), begin('a@3')]);
  gone.close();
  const next = sqliteStore(t, file);
  assert.deepEqual(next.open('boot-1', 0).crashed, false);
  assert.equal(next.kept, 4);
  assert.deepEqual(
    next.list(ALL).map((view) => view.run),
    ['a@3', 'a@1'],
  );
});

test('damage that is met later on moves nothing; the next start does', (t) => {
  const file = journalFile(t);
  writeFileSync(file, changed(t, sizeable, 'UPDATE boot SET clean = 1'));
  const store = sqliteStore(t, file);
  store.open('boot-2', 0);
  inside(file, (database) => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  const damaged = readFileSync(file);
  damaged.fill(0x5a, 4096, damaged.length);
  writeFileSync(file, damaged);
  assert.throws(() => store.list(ALL), { name: 'StoreTrouble', message: /damaged/ });
  const record = () => new Feed(store).record([begin('b@1', { state: 'ready' })]);
  assert.throws(record, { name: 'StoreTrouble', message: /damaged/ });
  assert.throws(record, { name: 'StoreTrouble', message: /damaged/ });
  store.close();
  assert.deepEqual(readdirSync(dirname(file)), ['journal.db']);
  const after = readFileSync(file);

  const next = sqliteStore(t, file);
  const { setAside } = next.open('boot-3', 0);
  assert.ok(setAside !== null && readFileSync(setAside).equals(after));
  expectNew(next);
});

test('two damaged files of one second are both kept', (t) => {
  const file = journalFile(t);
  const names: (string | null)[] = [];
  for (const text of ['first', 'second', 'third']) {
    const damaged = journalFile(t);
    writeFileSync(damaged, text.repeat(1000));
    copyFileSync(damaged, file);
    const store = sqliteStore(t, file, { nowMs: () => 0 });
    const { setAside } = store.open('boot', 0);
    names.push(setAside);
    assert.equal(readFileSync(setAside!, 'utf8'), text.repeat(1000));
    store.close();
  }
  assert.equal(new Set(names).size, 3);
  assert.equal(readFileSync(names[0]!, 'utf8').slice(0, 5), 'first');
});
