/** Results that lie in files: which files are kept, and which are given up with their results. */
import assert from 'node:assert/strict';
import { resultFileName } from '../../../src/actors/results/result-reference.ts';
import type { Store } from '../../../src/actors/store/index.ts';
import { type Cases, HOUR_MS } from '../conformance.ts';
import { begin, end } from '../feed.ts';

const fileOf = (run: string): string => resultFileName(run, 1, 'x');
const resultOf = (run: string, bytes = 1000): string =>
  JSON.stringify({ $file: `/state/results/${fileOf(run)}`, $bytes: bytes });
const ended = (run: string, atMs: number, bytes?: number) =>
  [begin(run, { atMs }), end(run, { atMs, result: resultOf(run, bytes) })] as const;
const kept = (store: Store): string[] => [...store.resultFiles()].sort();

export const fileCases: Cases = {
  'a file is given up with its result, once, and not before the commit': (open) => {
    const { store, feed, nowMs, advance } = open({ results: 2, resultTtlMs: HOUR_MS });
    for (const run of ['a@1', 'a@2']) feed.record(ended(run, nowMs()));
    assert.deepEqual(kept(store), [fileOf('a@1'), fileOf('a@2')]);
    assert.deepEqual(store.forgottenFiles(), []);
    advance(1);
    feed.record(ended('a@3', nowMs()));
    assert.deepEqual(store.forgottenFiles(), [fileOf('a@1')]);
    assert.deepEqual(store.forgottenFiles(), []);
    assert.equal(store.show('a@1')?.result, null);
    assert.deepEqual(kept(store), [fileOf('a@2'), fileOf('a@3')]);
    advance(HOUR_MS + 1);
    feed.record([begin('b@1'), end('b@1', { atMs: nowMs() })]);
    assert.deepEqual([...store.forgottenFiles()].sort(), [fileOf('a@2'), fileOf('a@3')]);
    assert.deepEqual(kept(store), []);
  },

  'a file is given up with its run': (open) => {
    const { store, feed } = open({ runs: 1 });
    feed.record(ended('a@1', 2000));
    feed.record(ended('a@2', 2001));
    assert.deepEqual(store.forgottenFiles(), [fileOf('a@1')]);
    // A file that is offered again.
    feed.record([begin('a@2')]);
    assert.deepEqual(store.forgottenFiles(), [fileOf('a@2')]);
    assert.deepEqual(kept(store), []);
  },

  'files are bounded in bytes: the oldest results go, and none that are in the journal': (open) => {
    const { store, feed } = open({ fileBytes: 2500 });
    feed.record([begin('b@1'), end('b@1', { atMs: 1900 })]);
    for (const index of [1, 2, 3, 4]) feed.record(ended(`a@${index}`, 2000 + index));
    assert.deepEqual([...store.forgottenFiles()].sort(), [fileOf('a@1'), fileOf('a@2')]);
    assert.deepEqual(kept(store), [fileOf('a@3'), fileOf('a@4')]);
    assert.equal(store.show('b@1')?.result, '7');
    feed.record(ended('a@5', 2010, 5000));
    assert.deepEqual(kept(store), [], 'one that is too large by itself goes at once');
  },

  'files of a flow that is not over are kept, whatever the bounds': (open) => {
    const { store, feed } = open({ results: 0, fileBytes: 0 });
    feed.record([begin('f@1', { task: 'f' })]);
    feed.record([
      begin('f@1/a', { flow: 'f@1', atMs: 2000 }),
      end('f@1/a', { flow: 'f@1', atMs: 2001, result: resultOf('f@1/a') }),
    ]);
    assert.deepEqual([kept(store), store.forgottenFiles()], [[fileOf('f@1/a')], []]);
    feed.record([end('f@1', { task: 'f', atMs: 2002, result: null })]);
    assert.deepEqual([kept(store), store.forgottenFiles()], [[], [fileOf('f@1/a')]]);
  },

  'a run that passes on the file of another one does not own it': (open) => {
    const { store, feed } = open({ runs: 1 });
    feed.record([begin('a@1'), end('a@1', { result: resultOf('other@1') })]);
    assert.deepEqual(kept(store), []);
    feed.record([begin('a@2'), end('a@2', { atMs: 1600 })]);
    assert.equal(store.show('a@1'), null);
    assert.deepEqual(store.forgottenFiles(), []);
  },
};
