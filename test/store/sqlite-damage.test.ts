import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import type { SqliteStore } from '../../src/actors/store/index.ts';
import { ALL, changed, expectNew, onBytes, sizeableJournal, useAll } from './damaged-journal.ts';
import { begin, end, Feed } from './feed.ts';
import { crashCopy, journalFile, sqliteStore } from './sqlite-journal.ts';

/** Where it begins to be anything but the head of the file. */
const PAGE_BYTES = 4096;
const ASIDE = 'journal.damaged-20261129T081502Z.db';

const sizeable = sizeableJournal({ after });
/** The same one, closed by its daemon: it is not looked through. */
const closed = changed({ after }, sizeable, 'UPDATE boot SET clean = 1');

/** Opens these bytes. True where they were set aside: unchanged, and with a journal in their place that works. */
function opensOrSetsAside(bytes: Buffer): boolean {
  let moved = false;
  onBytes(bytes, (store, file) => {
    const { setAside, crashed } = store.open('boot-2', 0);
    moved = setAside !== null;
    if (setAside !== null) {
      assert.equal(setAside, join(dirname(file), ASIDE));
      assert.ok(readFileSync(setAside).equals(bytes), 'it is as it was');
      assert.equal(crashed, true);
      expectNew(store);
    }
    useAll(store);
  });
  return moved;
}

test('the file is whole to begin with', () => {
  assert.ok(sizeable.length > 1e6);
  onBytes(sizeable, (store) => {
    const wanted = {
      durable: true,
      crashed: true,
      setAside: null,
      unfinished: 300,
      letters: 300,
      delayed: 0,
    };
    assert.deepEqual(store.open('boot-2', 0), wanted);
    assert.equal(store.list(ALL).length, 1500);
    useAll(store);
  });
});

test('random bytes anywhere: it opens, with what is whole or anew, and what was damaged is kept', () => {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 5000 }),
    bytesOf: fc.constantFrom(sizeable, closed),
  });
  fc.assert(
    fc.property(damage, ({ at, bytes, bytesOf }) => {
      const damaged = Buffer.from(bytesOf);
      damaged.set(bytes, PAGE_BYTES + Math.floor(at * (damaged.length - PAGE_BYTES - bytes.length)));
      opensOrSetsAside(damaged);
    }),
    { numRuns: 20 },
  );
});

test('random bytes in its head: it opens, is set aside, or is refused and left alone', () => {
  const damage = fc.record({
    at: fc.nat(PAGE_BYTES - 200),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 100 }),
  });
  fc.assert(
    fc.property(damage, ({ at, bytes }) => {
      const damaged = Buffer.from(sizeable);
      damaged.set(bytes, at);
      onBytes(damaged, (store, file) => {
        try {
          store.open('boot-2', 0);
          useAll(store);
        } catch (error) {
          assert.ok(error instanceof ColibriError && error.code === 'store-failed', `${error}`);
          assert.ok(readFileSync(file).equals(damaged), error.message);
        }
      });
    }),
    { numRuns: 15 },
  );
});

test('a file that was cut', () => {
  const lengths = [2, 15, 100, 511, 512, 4095, PAGE_BYTES, 5000, 3 * PAGE_BYTES];
  const { length } = sizeable;
  for (const size of [...lengths, length >> 1, length - PAGE_BYTES]) {
    assert.equal(opensOrSetsAside(sizeable.subarray(0, size)), true, `${size} bytes`);
  }
  // Within a page nothing tells of it but what is there.
  opensOrSetsAside(sizeable.subarray(0, length - 1));
});

test('a file of nothing is a new one', () => {
  onBytes(Buffer.alloc(0), (store) => {
    const opening = store.open('boot-2', 0);
    assert.deepEqual(opening, {
      durable: true,
      crashed: false,
      setAside: null,
      unfinished: 0,
      letters: 0,
      delayed: 0,
    });
    expectNew(store);
  });
});

test('texts and zeros', () => {
  assert.equal(opensOrSetsAside(Buffer.from('store:\n  kind: sqlite\n')), true);
  assert.equal(opensOrSetsAside(Buffer.from('x'.repeat(100_000))), true);
  assert.equal(opensOrSetsAside(Buffer.alloc(100_000)), true);
});

test('a number that none can be is trouble, and no fault', () => {
  const odd = changed({ after }, sizeable, `UPDATE runs SET created_ms = ${2n ** 60n} WHERE run = 'a@700'`);
  onBytes(odd, (store) => {
    store.open('boot-2', 0);
    assert.throws(() => store.show('a@700'), { name: 'StoreTrouble', message: /damaged/ });
    assert.equal(store.show('a@701')?.createdAtMs, 900);
  });
});

test('a text that cannot be read does not hold up the others', () => {
  const set = `state = 'xunning', attempts = '[{"attempt":', error = '{'`;
  const odd = changed({ after }, sizeable, `UPDATE runs SET ${set} WHERE run = 'a@1'`);
  onBytes(odd, (store) => {
    store.open('boot-2', 0);
    assert.deepEqual([store.show('a@1')?.attempts, store.show('a@1')?.error], [[], null]);
    const [first, second] = store.unfinished(0).runs;
    assert.deepEqual([first?.run, first?.state, second?.run], ['a@1', 'interrupted', 'a@6']);
  });
});

test('a write-ahead log of anything else is passed over; of a damaged one what comes before counts', (t) => {
  const file = journalFile(t);
  const store = sqliteStore(t, file);
  store.open('boot-1', 0);
  const feed = new Feed(store);
  for (let index = 1; index <= 50; index++) feed.record([begin(`a@${index}`), end(`a@${index}`)]);
  const copy = crashCopy(t, file);
  const main = readFileSync(copy);
  const wal = readFileSync(`${copy}-wal`);
  for (const at of [0, 20, 32, 5000, wal.length >> 1, wal.length - 100]) {
    const damaged = Buffer.from(wal);
    for (let index = 0; index < 60; index++) damaged[at + index]! ^= 0x5a;
    onBytes(main, (next) => expectPrefix(next.open('boot-2', 0).setAside, next.list(ALL).length), damaged);
    onBytes(
      main,
      (next) => expectPrefix(next.open('boot-2', 0).setAside, next.list(ALL).length),
      wal.subarray(0, at),
    );
  }
  const garbage = Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 2654435761) >>> 24));
  const whole = (next: SqliteStore) => {
    assert.equal(next.open('boot-2', 0).setAside, null);
    assert.equal(next.list(ALL).length, 1500);
  };
  for (const wal of [garbage, Buffer.alloc(50_000), Buffer.alloc(1)]) onBytes(sizeable, whole, wal);

  function expectPrefix(setAside: string | null, runs: number): void {
    // What has not come to the file yet may be the tables themselves.
    assert.ok(setAside === null && runs <= 50, `${setAside} ${runs}`);
  }
});
