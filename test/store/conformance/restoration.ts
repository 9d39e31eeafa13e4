/** What a daemon finds of those before. A store that is not durable has nothing, and says so. */
import assert from 'node:assert/strict';
import type { DelayedPlace } from '../../../src/actors/protocol.ts';
import type { StoredLetter, StoredRun } from '../../../src/actors/records.ts';
import type { Store } from '../../../src/actors/store/index.ts';
import type { Cases } from '../conformance.ts';
import { begin, death, end, markOf, then } from '../feed.ts';

const NO = { code: 'handler-failed', message: 'no' } as const;
const MIB = 2 ** 20;

export const restorationCases: Cases = {
  'what is not over is given with all that it takes to go on': (open) => {
    const { store, feed } = open();
    const mark = markOf(7);
    feed.record([begin('a@1', { state: 'ready', attempt: 0, dueAtMs: 950, origin: 'each', mark })]);
    feed.record([begin('a@2'), then('a@2', { state: 'interrupted', error: NO })]);
    feed.record([then('a@2', { attempt: 2 }), then('a@2', { state: 'interrupted', attempt: 2, error: NO })]);
    feed.record([then('a@2', { state: 'ready', attempt: 2 }), then('a@2', { attempt: 3, atMs: 1300 })]);
    feed.record([begin('a@3'), end('a@3'), begin('a@4'), death('a@4')]);
    feed.record([
      begin('a@5'),
      then('a@5', { state: 'retrying', durationMs: 200, error: NO, dueAtMs: 9000 }),
    ]);
    const { runs, next } = store.unfinished(0);
    if (!store.abilities.durable) return assert.deepEqual([runs, next], [[], null]);
    const attempt = { startedAtMs: 1000, endedAtMs: 1200, state: 'interrupted', error: NO } as const;
    const same = {
      task: 'a',
      origin: 'manual',
      createdAtMs: 900,
      input: '{"x":1}',
      mark: null,
      flow: null,
      note: null,
    } as const;
    assert.deepEqual(runs, [
      {
        ...same,
        run: 'a@1',
        state: 'ready',
        attempt: 0,
        interruptions: 0,
        origin: 'each',
        dueAtMs: 950,
        startedAtMs: null,
        mark,
        error: null,
        attempts: [],
      },
      {
        ...same,
        run: 'a@2',
        state: 'running',
        attempt: 3,
        interruptions: 2,
        dueAtMs: 900,
        startedAtMs: 1300,
        error: NO,
        attempts: [
          { ...attempt, attempt: 1 },
          { ...attempt, attempt: 2, startedAtMs: 1200 },
        ],
      },
      {
        ...same,
        run: 'a@5',
        state: 'retrying',
        attempt: 1,
        interruptions: 0,
        dueAtMs: 9000,
        startedAtMs: 1000,
        error: NO,
        attempts: [{ attempt: 1, startedAtMs: 1000, endedAtMs: 1200, state: 'failed', error: NO }],
      },
    ]);
    assert.equal(next, null);
  },

  'many runs come in pages, in the order they were created': (open) => {
    const { store, feed } = open({ runs: 10_000 });
    for (let index = 0; index < 3000; index++) feed.append([begin(`a@${index}`, { input: '{}' })]);
    for (let index = 0; index < 3000; index += 2) feed.append([end(`a@${index}`)]);
    store.commit();
    const pages = pagesOf((after) => {
      const { runs, next } = store.unfinished(after);
      return { items: runs, next };
    });
    if (!store.abilities.durable) return assert.deepEqual(pages, [[]]);
    const wanted = Array.from({ length: 1500 }, (_, index) => `a@${2 * index + 1}`);
    assert.deepEqual(
      pages.flat().map((run) => run.run),
      wanted,
    );
    assert.equal(pages[0]?.[0]?.input, '{}');
    assert.ok(pages.every((page) => page.length <= 500) && pages.length <= 4, `${pages.length} pages`);
  },

  'runs that begin later come in the order they are due, in pages, until they have begun or are cancelled': (
    open,
  ) => {
    const { store, feed } = open();
    const pending = { state: 'pending', attempt: 0 } as const;
    // Many at one instant: more than a page.
    const dueOf = (index: number) => 2_000_000 + (index < 1200 ? 0 : 5000 - index);
    for (let index = 0; index < 1500; index++) {
      feed.append([begin(`a@${index}`, { ...pending, dueAtMs: dueOf(index) })]);
    }
    feed.append([
      begin('a@held', pending),
      begin('a@ready', { state: 'ready', attempt: 0, dueAtMs: 3_000_000 }),
    ]);
    feed.append([
      then('a@3', { state: 'ready', attempt: 0 }),
      then('a@4', { state: 'cancelled', attempt: 0 }),
    ]);
    store.commit();
    const pages: (readonly StoredRun[])[] = [];
    for (let after: DelayedPlace | null = { dueAtMs: 0, position: 0 }; after !== null; ) {
      const { runs, next } = store.delayed(after);
      assert.ok(pages.push(runs) < 10);
      after = next;
    }
    assert.equal(store.delayedRun('a@3'), null);
    assert.equal(store.delayedRun('a@none'), null);
    if (!store.abilities.durable) return assert.deepEqual([pages, store.delayedRun('a@5')], [[[]], null]);
    const wanted = Array.from({ length: 1500 }, (_, index) => index)
      .filter((index) => index !== 3 && index !== 4)
      .sort((a, b) => dueOf(a) - dueOf(b) || a - b);
    assert.deepEqual(
      pages.flat().map(({ run, dueAtMs, state }) => [run, dueAtMs, state]),
      wanted.map((index) => [`a@${index}`, dueOf(index), 'pending']),
    );
    assert.deepEqual(
      store.delayedRun('a@5'),
      pages[0]!.find(({ run }) => run === 'a@5'),
    );
    assert.deepEqual(
      store.unfinished(0).runs.map(({ run }) => run),
      ['a@3', 'a@held', 'a@ready'],
    );
  },

  'large runs and letters come in small pages': (open) => {
    const { store, feed } = open();
    const input = JSON.stringify('x'.repeat(300_000));
    for (let index = 0; index < 20; index++) feed.record([begin(`a@${index}`, { input })]);
    for (let index = 0; index < 20; index++)
      feed.record([begin(`d@${index}`, { input }), death(`d@${index}`)]);
    if (!store.abilities.durable) return assert.deepEqual(lettersOf(store), []);
    const pages = pagesOf((after) => {
      const { runs, next } = store.unfinished(after);
      return { items: runs, next };
    });
    const letters = pagesOf((after) => {
      const { letters: items, next } = store.letters(after);
      return { items, next };
    });
    assert.equal(pages.flat().length, 20);
    assert.deepEqual(
      letters.flat().map((letter) => letter.run),
      Array.from({ length: 20 }, (_, n) => `d@${n}`),
    );
    for (const page of [...pages, ...letters]) assert.ok(textOf(page) <= 2 * MIB, `${textOf(page)}`);
  },

  'dead letters come in the order of their death': (open) => {
    const { store, feed } = open({ runs: 1 });
    const mark = markOf(3);
    for (let index = 0; index < 1200; index++)
      feed.append([begin(`d@${index}`, index === 1199 ? { mark } : {})]);
    for (let index = 1199; index >= 0; index--) {
      feed.append([death(`d@${index}`, { attempt: 4, atMs: 5000 - index })]);
    }
    feed.append([begin('a@1'), end('a@1')], ['d@0', 'd@600']);
    store.commit();
    const letters = lettersOf(store);
    if (!store.abilities.durable) return assert.deepEqual(letters, []);
    const wanted = Array.from({ length: 1200 }, (_, index) => 1199 - index).filter(
      (n) => n !== 0 && n !== 600,
    );
    assert.deepEqual(
      letters.map((letter) => letter.run),
      wanted.map((index) => `d@${index}`),
    );
    const error = { ...NO, message: 'd@1199 failed' };
    const first = {
      run: 'd@1199',
      task: 'a',
      dueAtMs: 900,
      diedAtMs: 3801,
      attempts: 4,
      input: '{"x":1}',
      mark,
      error,
    };
    assert.deepEqual(letters[0], first);
  },
};

function pagesOf<T>(ask: (after: number) => { items: readonly T[]; next: number | null }): (readonly T[])[] {
  const pages = [];
  for (let after: number | null = 0; after !== null; ) {
    const { items, next } = ask(after);
    assert.ok(pages.push(items) < 100, 'pages end');
    after = next;
  }
  return pages;
}

function lettersOf(store: Store): readonly StoredLetter[] {
  return pagesOf((after) => {
    const { letters: items, next } = store.letters(after);
    return { items, next };
  }).flat();
}

function textOf(page: readonly (StoredRun | StoredLetter)[]): number {
  return page.reduce((sum, { input }) => sum + input.length, 0);
}
