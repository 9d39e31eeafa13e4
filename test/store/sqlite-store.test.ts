import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SqliteStore } from '../../src/actors/store/index.ts';
import { openDatabase } from '../../src/actors/store/sqlite/database.ts';
import { storeConformance } from './conformance.ts';
import { journalFile, sqliteStore } from './sqlite-journal.ts';

for (const durability of ['process', 'power'] as const) {
  storeConformance(`sqlite, durability ${durability}`, (t, retention, nowMs) => {
    return new SqliteStore({ file: journalFile(t), retention, durability, nowMs });
  });
}

test('durability: what every commit is brought to the disk with', (t) => {
  for (const [durability, synchronous] of [
    ['process', 1],
    ['power', 2],
  ] as const) {
    let found: unknown;
    const store = sqliteStore(t, journalFile(t), {
      durability,
      openDatabase: (file) => {
        const database = openDatabase(file);
        const prepare = database.prepare.bind(database);
        database.prepare = (sql) => {
          found = prepare('PRAGMA synchronous').get()?.synchronous;
          return prepare(sql);
        };
        return database;
      },
    });
    store.open('boot', 0);
    assert.equal(found, synchronous);
  }
});
