/** What is kept of runs that are over, and what it costs. */
import assert from 'node:assert/strict';
import type { RunFilter } from '../../../src/actors/protocol.ts';
import { type Cases, HOUR_MS } from '../conformance.ts';
import { begin, death, end } from '../feed.ts';

const ALL: RunFilter = { task: null, state: null, limit: 1000 };

export const boundsCases: Cases = {
  'runs that are over are bounded in number, live ones are not touched': (open) => {
    const { store, feed } = open({ runs: 3 });
    feed.record([begin('a@live', { createdAtMs: 1 })]);
    for (let index = 1; index <= 10; index++) {
      feed.record([begin(`a@${index}`), end(`a@${index}`, { atMs: 1500 + index })]);
    }
    const names = store.list(ALL).map((view) => view.run);
    assert.deepEqual(names.toSorted(), ['a@10', 'a@8', 'a@9', 'a@live']);
  },

  'the bound holds for one large commit': (open) => {
    const { store, feed } = open({ runs: 5, results: 2 });
    for (let index = 1; index <= 50; index++) {
      feed.append([begin(`a@${index}`), end(`a@${index}`, { atMs: 1500 + index })]);
    }
    store.commit();
    const kept = store.list(ALL);
    assert.deepEqual(kept.map((view) => [view.run, view.result]).toSorted(), [
      ['a@46', null],
      ['a@47', null],
      ['a@48', null],
      ['a@49', '7'],
      ['a@50', '7'],
    ]);
  },

  'a result that is forgotten is told from one of nothing': (open) => {
    const { store, feed } = open({ results: 1 });
    feed.record([begin('a@1'), end('a@1', { atMs: 1501 })]);
    feed.record([begin('a@2'), end('a@2', { result: null, atMs: 1502 })]);
    feed.record([begin('a@3'), end('a@3', { atMs: 1503 })]);
    const said = ['a@1', 'a@2', 'a@3'].map((run) => store.show(run));
    assert.deepEqual(
      said.map((view) => [view?.result, view?.forgotten]),
      [
        [null, true],
        [null, undefined],
        ['7', undefined],
      ],
    );
    assert.deepEqual(
      store
        .list(ALL)
        .filter(({ forgotten }) => forgotten === true)
        .map(({ run }) => run),
      ['a@1'],
    );
  },

  'results are given up to the first that is too much together': (open) => {
    const { store, feed } = open();
    for (const run of ['a@1', 'a@2', 'a@3']) feed.record([begin(run), end(run, { result: '"12345678"' })]);
    const runs = ['a@1', 'none', 'a@2', 'a@3'];
    const lengths = [undefined, 30, 19, 10, 0].map((most) => store.results(runs, most).length);
    assert.deepEqual(lengths, [4, 4, 3, 3, 1]);
  },

  'dead letters are kept beside the bound in number, until they are dropped': (open) => {
    const { store, feed } = open({ runs: 2 });
    const names = () =>
      store
        .list(ALL)
        .map((view) => view.run)
        .toSorted();
    for (let index = 1; index <= 4; index++) {
      feed.record([begin(`d@${index}`), death(`d@${index}`, { atMs: 1500 + index })]);
    }
    for (let index = 1; index <= 4; index++) {
      feed.record([begin(`a@${index}`), end(`a@${index}`, { atMs: 1600 + index })]);
    }
    assert.deepEqual(names(), ['a@3', 'a@4', 'd@1', 'd@2', 'd@3', 'd@4']);
    feed.record([], ['d@1', 'd@2']);
    assert.deepEqual(names(), ['a@3', 'a@4', 'd@3', 'd@4'], 'they died before the others ended');
    feed.record([begin('a@5'), end('a@5', { atMs: 1700 })], ['d@3', 'never']);
    assert.deepEqual(names(), ['a@4', 'a@5', 'd@4']);
    feed.record([begin('a@6'), end('a@6', { atMs: 1800 })], ['d@3', 'd@1']);
    assert.deepEqual(names(), ['a@5', 'a@6', 'd@4'], 'dropping again changes nothing');
  },

  'a dead letter whose run comes again is none any more': (open) => {
    const { store, feed } = open({ runs: 1 });
    const names = () =>
      store
        .list(ALL)
        .map((view) => view.run)
        .toSorted();
    feed.record([begin('d@1'), death('d@1', { atMs: 1500 })]);
    feed.record([begin('d@1', { createdAtMs: 2000 }), end('d@1', { atMs: 2100 })]);
    feed.record([begin('a@1', { createdAtMs: 2200 }), end('a@1', { atMs: 2300 })]);
    assert.deepEqual(names(), ['a@1']);
    feed.record([begin('a@2', { createdAtMs: 2400 }), end('a@2', { atMs: 2500 })]);
    assert.deepEqual(names(), ['a@2']);
  },

  'runs that are over are bounded in bytes, the oldest go first': (open) => {
    const { store, feed } = open({ maxBytes: 100_000 });
    for (let index = 1; index <= 50; index++) {
      feed.record([
        begin(`a@${index}`, { input: 'x'.repeat(10_000) }),
        end(`a@${index}`, { atMs: 1500 + index }),
      ]);
    }
    const names = store.list(ALL).map((view) => view.run);
    assert.ok(names.length >= 2 && names.length <= 10, `${names.length}`);
    for (const [index, run] of names.entries()) assert.equal(run, `a@${50 - index}`);
  },

  'results are bounded in number and in age; the run stays': (open) => {
    const { store, feed, nowMs, advance } = open({ results: 2, resultTtlMs: HOUR_MS });
    for (const run of ['a@1', 'a@2', 'a@3']) {
      feed.record([begin(run), end(run, { atMs: nowMs() })]);
      advance(1);
    }
    assert.deepEqual(
      ['a@1', 'a@2', 'a@3'].map((run) => store.show(run)?.result),
      [null, '7', '7'],
    );
    advance(HOUR_MS + 1);
    feed.record([begin('b@1'), end('b@1', { atMs: nowMs() })]);
    assert.equal(store.show('a@3')?.result, null);
    assert.equal(store.show('a@3')?.state, 'success');
    assert.equal(store.show('b@1')?.result, '7');
  },

  'usage: what the history costs, within its bound, and nothing after it was forgotten': (open) => {
    const { store, feed } = open({ runs: 10 });
    const before = store.usage().history;
    for (let index = 1; index <= 40; index++) {
      const result = JSON.stringify('r'.repeat(100_000));
      feed.record([begin(`a@${index}`), end(`a@${index}`, { result, atMs: 1500 + index })]);
      if (index === 10) assert.ok(store.usage().history >= before + 900_000, 'what is kept is counted');
    }
    assert.ok(store.usage().history <= before + 2_500_000, `${store.usage().history}`);
    for (let index = 41; index <= 50; index++)
      feed.record([begin(`a@${index}`), end(`a@${index}`, { atMs: 2000 })]);
    assert.ok(store.usage().history <= before + 50_000, `${store.usage().history}`);
  },
};
