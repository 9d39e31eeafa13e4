import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RecordBatch } from '../../src/actors/records.ts';
import { Appended, type Retention } from '../../src/actors/store/index.ts';
import { SqliteCode } from '../../src/actors/store/sqlite/database.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { everything, TIGHT } from './every-statement.ts';
import { type Fault, FaultyDatabases, STATEMENTS, type StatementName } from './faulty-database.ts';
import { begin, end, Feed } from './feed.ts';
import { play, type Watch } from './main-side.ts';
import { RandomHistory, type Step } from './random-history.ts';
import { type Dump, dump, inside, journalFile, ROOMY, sqliteStore } from './sqlite-journal.ts';

const { Full, IoError, ReadOnly, Busy } = SqliteCode;
const CODES = [Full, IoError, ReadOnly, Busy] as const;
const ALL = { task: null, state: null, limit: 1000 } as const;

interface Outcome {
  readonly end: Partial<Dump>;
  readonly calls: ReadonlyMap<StatementName, number>;
  readonly troubles: number;
}

interface Options {
  readonly retention: Retention;
  readonly faults?: readonly Fault[];
  readonly watch?: (file: string) => Watch;
}

/** Plays the steps on a file of their own. What is compared is everything but who wrote it. */
function outcomeOf(steps: readonly Step[], { retention, faults = [], watch }: Options): Outcome {
  const undo: (() => void)[] = [];
  const t: HasAfter = { after: (one) => void undo.push(one) };
  try {
    const file = journalFile(t);
    const databases = new FaultyDatabases(faults);
    const store = sqliteStore(t, file, { retention, openDatabase: databases.open });
    const { troubles } = play(store, steps, watch?.(file));
    return { end: dump(file, ['boot']), calls: databases.calls, troubles };
  } finally {
    for (const one of undo.reverse()) one();
  }
}

test('whatever fails, once: nothing half done, and what is sent again makes good for it', (t) => {
  const steps = everything();
  const kept = new Map<number, Partial<Dump>>();
  const whole = outcomeOf(steps, {
    retention: TIGHT,
    watch: (file) => ({ committed: (step) => void kept.set(step, dump(file, ['boot'])) }),
  });
  assert.deepEqual(
    STATEMENTS.filter((name) => !whole.calls.has(name)),
    [],
    'all of them are made use of',
  );
  assert.equal(whole.end.runs?.length, 5);
  let cases = 0;
  for (const statement of STATEMENTS) {
    const calls = whole.calls.get(statement)!;
    for (const nth of new Set([1, calls])) {
      const after = statement === 'commit' ? (['after'] as const) : [];
      const ways = cases % 2 === 0 ? (['before'] as const) : (['rolled-back'] as const);
      for (const when of [...ways, ...after] as const) {
        const fault: Fault = { statement, nth, code: CODES[cases++ % CODES.length]!, when };
        const name = JSON.stringify(fault);
        const lost = (file: string) => ({
          lost: (step: number) => {
            if (when !== 'after') assert.deepEqual(dump(file, ['boot']), kept.get(step), name);
          },
        });
        const { end, troubles } = outcomeOf(steps, { retention: TIGHT, faults: [fault], watch: lost });
        assert.ok(troubles > 0 || statement === 'setClean', name);
        // Main does not know that a commit which failed is there: entries that it sent with it come twice.
        const but = when === 'after' ? { audit: [] } : {};
        assert.deepEqual({ ...end, ...but }, { ...whole.end, ...but }, name);
      }
    }
  }
  t.diagnostic(`${cases} faults`);
});

test('random histories and faults: the end is the one that there is without faults', () => {
  const retention = { ...ROOMY, runs: 4, results: 2 };
  const fault: fc.Arbitrary<Fault> = fc.record({
    statement: fc.oneof(fc.constant('commit' as const), fc.constantFrom(...STATEMENTS)),
    nth: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 30 })),
    code: fc.constantFrom(...CODES),
    when: fc.constantFrom('before', 'rolled-back', 'after'),
  });
  let troubles = 0;
  fc.assert(
    fc.property(
      fc.array(fc.nat(1e6), { maxLength: 120 }),
      fc.array(fault, { minLength: 1, maxLength: 4 }),
      (choices, faults) => {
        const steps = RandomHistory.of(choices);
        const whole = outcomeOf(steps, { retention });
        const outcome = outcomeOf(steps, { retention, faults });
        assert.deepEqual({ ...outcome.end, audit: [] }, { ...whole.end, audit: [] });
        troubles += outcome.troubles;
      },
    ),
    { numRuns: 50 },
  );
  assert.ok(troubles > 0, 'some of the faults were met');
});

test('a disk that is full, and has room again', (t) => {
  const file = journalFile(t);
  const databases = new FaultyDatabases();
  const store = sqliteStore(t, file, { openDatabase: databases.open });
  databases.maxPages = 60;
  store.open('boot-1', 0);
  const batches: RecordBatch[] = [];
  const feed = new Feed(store);
  const input = JSON.stringify('i'.repeat(10_000));
  for (let index = 0; index < 30; index++) {
    batches.push(feed.batch([begin(`a@${index}`, { input }), end(`a@${index}`)]));
  }
  const record = (batch: RecordBatch) => {
    store.append(batch);
    store.commit();
  };
  const full = { name: 'StoreTrouble', message: /^the disk is full \(database or disk is full\)$/ };
  const over = batches.findIndex((batch) => {
    try {
      record(batch);
      return false;
    } catch (error) {
      assert.throws(() => {
        throw error;
      }, full);
      return true;
    }
  });
  assert.ok(over > 5 && store.kept === 2 * over, `${over} ${store.kept}`);
  assert.equal(store.list(ALL).length, over, 'what is kept is shown');
  for (let tries = 0; tries < 3; tries++) assert.throws(() => record(batches[over]!), full);
  assert.equal(store.append(batches[over - 1]!), Appended.Known);
  databases.maxPages = null;
  for (const batch of batches.slice(over)) record(batch);
  assert.deepEqual([store.kept, store.list(ALL).length], [60, 30]);
  store.close();
  const whole = inside(file, (database) => database.prepare('PRAGMA integrity_check').get()?.integrity_check);
  assert.equal(whole, 'ok');
});
