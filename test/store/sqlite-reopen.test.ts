import assert from 'node:assert/strict';
import { existsSync, rmSync, statSync } from 'node:fs';
import { test } from 'node:test';
import type { AuditEntry, RunEvent } from '../../src/actors/records.ts';
import { Appended, type SqliteStore } from '../../src/actors/store/index.ts';
import { begin, death, end, Feed, markOf, then } from './feed.ts';
import { crashCopy, dump, inside, journalFile, ROOMY, sqliteStore } from './sqlite-journal.ts';

const ALL = { task: null, state: null, limit: 10_000 } as const;
const AUDIT: AuditEntry = {
  atMs: 5,
  actor: 'ann (1)',
  action: 'trigger',
  target: 'a',
  fields: { run: 'a@1' },
};
const SCHEDULES = [{ task: 'a', schedule: 'every 5s' }];

/** Some of everything. */
function fill(store: SqliteStore): void {
  store.mount({ atMs: 1000, schedules: SCHEDULES });
  const feed = new Feed(store);
  const mark = markOf(5);
  feed.record([begin('a@1', { mark, occurrenceMs: 6000 }), end('a@1', { mark })]);
  feed.record([begin('a@2'), death('a@2'), begin('a@3'), death('a@3')]);
  feed.record([begin('a@4'), then('a@4', { state: 'retrying', dueAtMs: 9000 }), begin('a@5')], ['a@2']);
  store.audit(AUDIT);
  store.commit();
}

function contents(store: SqliteStore) {
  return {
    views: store.list(ALL),
    unfinished: store.unfinished(0),
    letters: store.letters(0),
    marked: [...store.marked('a', [markOf(5), markOf(6)])],
    handledMs: store.mount({ atMs: 50_000, schedules: SCHEDULES }),
    audits: store.audits(100),
  };
}

test('a step stays held by those of its holders that live, over daemons', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  const feed = new Feed(store);
  const flow = 'f@1';
  const steps = ['x', 'y'].map((step) => `${flow}/${step}`);
  feed.record([
    begin(flow),
    ...steps.flatMap((step) => [begin(step, { flow }), end(step, { flow })]),
    end(flow),
  ]);
  feed.record([begin('f@2', { adopts: steps }), begin('f@3', { adopts: steps.slice(0, 1) })]);
  // A flow run that went without its end being told, as one whose rows a damaged disk lost.
  inside(file, (database) => database.exec("DELETE FROM runs WHERE run = 'f@2'"));
  store.close();
  const next = sqliteStore(t, file, { retention: { ...ROOMY, results: 0 } });
  next.open('boot-2', 0);
  const after = new Feed(next);
  after.record([begin('a@1')]);
  assert.deepEqual(next.results(steps), ['7', null]);
  after.record([end('f@3')]);
  assert.deepEqual(next.results(steps), [null, null]);
  assert.deepEqual(
    inside(file, (database) => database.prepare('SELECT * FROM holds').all()),
    [],
  );
});

test('everything is there after close and open', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  const clean = { durable: true, crashed: false, setAside: null };
  assert.deepEqual(store.open('boot-1', 0), { ...clean, unfinished: 0, letters: 0, delayed: 0 });
  fill(store);
  const before = contents(store);
  assert.deepEqual([before.marked, before.handledMs], [[markOf(5)], [6000]]);
  store.close();
  const rows = dump(file, ['boot']);
  assert.equal(rows.runs?.length, 5);
  assert.deepEqual([existsSync(`${file}-wal`), existsSync(`${file}-shm`)], [false, false]);

  const next = sqliteStore(t, file);
  assert.deepEqual(next.open('boot-2', 0), { ...clean, unfinished: 2, letters: 1, delayed: 0 });
  assert.equal(next.kept, 0);
  assert.deepEqual(contents(next), before);
  next.close();
  assert.deepEqual(dump(file, ['boot']), rows, 'opening changes nothing');
});

test('after a crash all is there that was committed, and nothing else', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  fill(store);
  const before = contents(store);
  const feed = new Feed(store);
  feed.append([begin('a@6'), end('a@5')], ['a@3']);
  store.audit(AUDIT);
  const next = sqliteStore(t, crashCopy(t, file));
  const opening = next.open('boot-2', 0);
  assert.deepEqual(opening, {
    durable: true,
    crashed: true,
    setAside: null,
    unfinished: 2,
    letters: 1,
    delayed: 0,
  });
  assert.deepEqual(contents(next), before);
});

test('a crash at any time leaves whole commits', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file, {
    retention: { runs: 40, results: 5, resultTtlMs: 1e12, fileBytes: 1e12, maxBytes: 1e12 },
  });
  store.open('boot-1', 0);
  const feed = new Feed(store);
  const smallBytes = statSync(file).size;
  for (let index = 1; index <= 60; index++) {
    const input = JSON.stringify('i'.repeat(60_000));
    feed.append([begin(`a@${index}`, { createdAtMs: index, input })]);
    feed.append([end(`a@${index}`, { atMs: 1500 + index, result: input })]);
    if (index % 7 !== 0) store.commit();
    if (index % 3 !== 0 && index % 7 !== 0) continue;
    const copy = crashCopy(t, file);
    const next = sqliteStore(t, copy);
    next.open('boot-2', 0);
    const done = index % 7 === 0 ? index - 1 : index;
    const wanted = Array.from({ length: Math.min(done, 40) }, (_, back) => `a@${done - back}`);
    assert.deepEqual(
      next.list(ALL).map((view) => view.run),
      wanted,
    );
    next.close();
    assert.equal(
      inside(copy, (database) => database.prepare('PRAGMA integrity_check').get()?.integrity_check),
      'ok',
    );
    assert.equal(store.kept, 2 * done);
    rmSync(copy);
  }
  assert.ok(statSync(file).size > smallBytes + 1e6, 'a checkpoint has come in between');
});

test('a daemon whose thread was lost goes on where the file ends', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  const feed = new Feed(store);
  const first = feed.record([begin('a@1'), then('a@1', { state: 'interrupted' })]);
  const second = feed.record([then('a@1', { attempt: 2 })]);
  const lost = feed.append([end('a@1', { attempt: 2 })]);

  const next = sqliteStore(t, crashCopy(t, file));
  const opening = next.open('boot-1', 2);
  assert.deepEqual([opening.crashed, opening.unfinished], [false, 1], 'the daemon itself has not ended');
  assert.equal(next.kept, 3);
  for (const known of [first, second]) assert.equal(next.append(known), Appended.Known);
  assert.equal(next.append(lost), Appended.Applied);
  next.commit();
  assert.equal(next.kept, 4);
  const view = next.show('a@1');
  assert.deepEqual([view?.state, view?.attempts.length], ['success', 2]);
});

test('what main was acknowledged counts, whatever the file says', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  new Feed(store).record([begin('a@1')]);
  store.close();
  const next = sqliteStore(t, file);
  next.open('boot-1', 10);
  assert.equal(next.kept, 10);
});

test('ordinals of another daemon are not known', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  new Feed(store).record([begin('a@1'), end('a@1'), begin('a@2')]);
  const next = sqliteStore(t, crashCopy(t, file));
  assert.equal(next.open('boot-2', 0).crashed, true);
  assert.equal(next.kept, 0);
  const events: RunEvent[] = [then('a@2', { state: 'interrupted', atMs: 5000 })];
  assert.equal(next.append({ first: 1, events, dropped: [] }), Appended.Applied);
  next.commit();
  assert.equal(next.kept, 1);
  assert.equal(next.unfinished(0).runs[0]?.interruptions, 1);
});

test('the bounds count what is there already', (t) => {
  const file = journalFile(t);
  const retention = { runs: 3, results: 2, resultTtlMs: 1e12, fileBytes: 1e12, maxBytes: 1e12 };
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  const feed = new Feed(store);
  for (let index = 1; index <= 10; index++) feed.record([begin(`a@${index}`), end(`a@${index}`)]);
  store.close();
  const next = sqliteStore(t, file, { retention });
  next.open('boot-2', 0);
  new Feed(next).record([begin('b@1'), end('b@1', { atMs: 1600 })]);
  const kept = next.list(ALL).map((view) => [view.run, view.result]);
  assert.deepEqual(kept, [
    ['b@1', '7'],
    ['a@10', '7'],
    ['a@9', null],
  ]);
});

test('a closed journal says so', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  store.close();
  for (const use of [() => store.show('a@1'), () => new Feed(store).record([begin('a@1')])]) {
    assert.throws(use, { code: 'store-failed', message: /a closed one/ });
  }
});
