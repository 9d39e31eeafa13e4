import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { ERROR_TEXT_LIMIT } from '../../src/actors/kernel/index.ts';
import type { RunFilter } from '../../src/actors/protocol.ts';
import { MemoryStore, type Store } from '../../src/actors/store/index.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { begin, death, end, Feed, markOf, then } from './feed.ts';
import { RandomHistory, type Step } from './random-history.ts';
import { inside, journalFile, ROOMY, sqliteStore } from './sqlite-journal.ts';

const MIB = 2 ** 20;
const ALL: RunFilter = { task: null, state: null, limit: 1000 };

/** All that is shown, and what is known of files. */
function shown(store: Store) {
  const marks = [0, 1, 2, 3, 4].map(markOf);
  return {
    all: store.list(ALL),
    some: store.list({ ...ALL, limit: 3 }),
    byTask: store.list({ task: 'b', state: null, limit: 2 }),
    byState: store.list({ ...ALL, state: 'failed' }),
    one: store.show('a@0'),
    marks: ['a', 'b'].map((task) => [...store.marked(task, marks)].toSorted()),
  };
}

/** One transition at a time, because the two stores forget at other times than each other otherwise. */
function singly(steps: readonly Step[]): readonly Extract<Step, { do: 'record' }>['batch'][] {
  return steps.flatMap((step) => {
    if (step.do !== 'record') return [];
    const { first, events, dropped } = step.batch;
    const ones = events.map((event, index) => ({ first: first + index, events: [event], dropped: [] }));
    return dropped.length === 0 ? ones : [...ones, { first: first + events.length, events: [], dropped }];
  });
}

test('the same history in memory and on disk: the same is kept, shown and forgotten', () => {
  const bounds = fc.record({
    runs: fc.nat(6),
    results: fc.nat(4),
    resultTtlMs: fc.nat(300),
    fileBytes: fc.constant(1e12),
  });
  fc.assert(
    fc.property(fc.array(fc.nat(1e6), { maxLength: 150 }), bounds, (choices, some) => {
      const undo: (() => void)[] = [];
      const t: HasAfter = { after: (one) => void undo.push(one) };
      let now = 0;
      const nowMs = () => now;
      const retention = { ...some, maxBytes: 1e9 };
      const file = journalFile(t);
      const memory = new MemoryStore(retention, nowMs);
      const disk = sqliteStore(t, file, { retention, nowMs });
      try {
        for (const store of [memory, disk]) store.open('boot-1', 0);
        for (const batch of singly(RandomHistory.of(choices))) {
          now = batch.events[0]?.atMs ?? now;
          assert.equal(disk.append(batch), memory.append(batch));
          disk.commit();
          assert.deepEqual(disk.list(ALL), memory.list(ALL));
        }
        assert.deepEqual(shown(disk), shown(memory));
        disk.close();
        const next = sqliteStore(t, file, { retention, nowMs });
        next.open('boot-2', 0);
        assert.deepEqual(shown(next), shown(memory));
      } finally {
        for (const one of undo.reverse()) one();
      }
    }),
    { numRuns: 40 },
  );
});

/** Ten times as many bytes as are kept. */
const FAILING_RUNS = 8_000;
const RUNS_A_COMMIT = 256;

test('a task that always fails, with the longest errors: the files stay within their bounds', (t) => {
  const file = journalFile(t);
  const maxBytes = 16 * MIB;
  const store = sqliteStore(t, file, { retention: { ...ROOMY, runs: 10_000, maxBytes } });
  store.open('boot-1', 0);
  const feed = new Feed(store);
  const error = { code: 'handler-failed', message: 'e'.repeat(ERROR_TEXT_LIMIT) } as const;
  let fileBytes = 0;
  let walBytes = 0;
  for (let run = 1; run <= FAILING_RUNS; run++) {
    const id = `fail@${run}`;
    feed.append([begin(id, { atMs: run }), end(id, { state: 'failed', atMs: run, result: null, error })]);
    if (run % RUNS_A_COMMIT !== 0) continue;
    store.commit();
    fileBytes = Math.max(fileBytes, statSync(file).size);
    walBytes = Math.max(walBytes, statSync(`${file}-wal`).size);
  }
  store.commit();
  assert.ok(fileBytes > 0.9 * maxBytes && fileBytes < 1.25 * maxBytes, `${fileBytes}`);
  assert.ok(walBytes <= 8 * MIB, `${walBytes}`);
  assert.ok(store.usage().history <= 1.25 * maxBytes, `${store.usage().history}`);
  const kept = store.list({ ...ALL, limit: FAILING_RUNS });
  assert.equal(kept[0]?.run, `fail@${FAILING_RUNS}`);
  assert.equal(kept.at(-1)?.run, `fail@${FAILING_RUNS - kept.length + 1}`, 'the oldest have gone');
  assert.equal(kept.at(-1)?.error?.message.length, ERROR_TEXT_LIMIT);
});

test('many transitions of one run do not fill the journal', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  const feed = new Feed(store);
  const error = { code: 'handler-failed', message: 'e'.repeat(ERROR_TEXT_LIMIT) } as const;
  feed.record([begin('a@1')]);
  for (let attempt = 1; attempt <= 3000; attempt++) {
    feed.append([then('a@1', { state: 'retrying', attempt, error, dueAtMs: attempt })]);
    feed.append([then('a@1', { attempt: attempt + 1 })]);
    if (attempt % 10 === 0) store.commit();
  }
  assert.ok(statSync(file).size < MIB, `${statSync(file).size}`);
  assert.ok(statSync(`${file}-wal`).size <= 8 * MIB);
});

test('dead letters beyond the bound in bytes do not crowd out the others', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file, { retention: { ...ROOMY, maxBytes: MIB } });
  store.open('boot-1', 0);
  const feed = new Feed(store);
  const input = JSON.stringify('i'.repeat(100_000));
  for (let index = 0; index < 20; index++) feed.record([begin(`d@${index}`, { input }), death(`d@${index}`)]);
  for (let index = 0; index < 20; index++) {
    feed.record([begin(`a@${index}`, { input }), end(`a@${index}`, { atMs: 2000 + index })]);
  }
  assert.equal(store.list({ ...ALL, state: 'failed' }).length, 20);
  const others = store.list({ ...ALL, state: 'success' }).map((view) => view.run);
  assert.ok(others.length >= 9 && others.length <= 11, `${others.length}`);
  assert.equal(others[0], 'a@19');
});

test('rest gives back what is free, a little at a time, and empties the write-ahead log', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file, { retention: { ...ROOMY, runs: 10 } });
  store.open('boot-1', 0);
  const feed = new Feed(store);
  const input = JSON.stringify('i'.repeat(100_000));
  for (let index = 0; index < 100; index++) feed.append([begin(`a@${index}`, { input }), end(`a@${index}`)]);
  store.commit();
  const sizes: number[] = [];
  for (let round = 0; round < 4; round++) {
    store.rest();
    sizes.push(statSync(file).size);
    assert.equal(statSync(`${file}-wal`).size, 0);
    store.rest();
    assert.equal(statSync(file).size, sizes.at(-1), 'once for each time that something was written');
    feed.record([begin(`b@${round}`), end(`b@${round}`)]);
  }
  const [first, second, third, fourth] = sizes as [number, number, number, number];
  assert.ok(first > 5 * MIB && second < first - 3 * MIB && second > first - 5 * MIB, `${sizes}`);
  assert.ok(third <= 1.5 * MIB && fourth <= third, `${sizes}`);
  const found = inside(file, (database) => database.prepare('PRAGMA integrity_check').get()?.integrity_check);
  assert.equal(found, 'ok');
});

test('rest in the middle of a transaction, or after the end, does nothing', (t) => {
  const store = sqliteStore(t, journalFile(t));
  store.rest();
  store.open('boot-1', 0);
  const feed = new Feed(store);
  feed.record([begin('a@1')]);
  feed.append([end('a@1')]);
  store.rest();
  store.commit();
  assert.deepEqual([store.kept, store.show('a@1')?.state], [2, 'success']);
  store.close();
  store.rest();
});
