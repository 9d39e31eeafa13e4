/** What is shown of runs. */
import assert from 'node:assert/strict';
import type { RunFilter } from '../../../src/actors/protocol.ts';
import { MAX_ATTEMPTS_KEPT } from '../../../src/actors/records.ts';
import type { Cases } from '../conformance.ts';
import { begin, end, markOf, then } from '../feed.ts';

const ALL: RunFilter = { task: null, state: null, limit: 1000 };
const NO = { code: 'handler-failed', message: 'no' } as const;

export const viewCases: Cases = {
  'a run is shown as its transitions left it': (open) => {
    const { store, feed } = open();
    feed.record([begin('a@1')]);
    assert.equal(store.show('a@1')?.state, 'running');
    feed.record([end('a@1')]);
    assert.deepEqual(store.show('a@1'), {
      run: 'a@1',
      task: 'a',
      state: 'success',
      attempt: 1,
      origin: 'manual',
      createdAtMs: 900,
      startedAtMs: 1000,
      endedAtMs: 1500,
      durationMs: 500,
      dueAtMs: null,
      input: '{"x":1}',
      result: '7',
      error: null,
      progress: null,
      attempts: [],
      flow: null,
      note: null,
    });
    assert.equal(store.show('a@2'), null);
  },

  'transitions that were merged into one are as good as one by one': (open) => {
    const { store, feed } = open();
    feed.record([begin('a@1', { state: 'success', atMs: 1500, durationMs: 500, result: '7' })]);
    const view = store.show('a@1');
    assert.deepEqual([view?.state, view?.startedAtMs, view?.endedAtMs], ['success', 1000, 1500]);
  },

  'an attempt that was cut off began when it began': (open) => {
    const { store, feed } = open();
    feed.record([begin('a@1', { atMs: 1000 })]);
    feed.record([then('a@1', { state: 'interrupted', atMs: 5000, error: NO })]);
    feed.record([then('a@1', { state: 'ready', atMs: 5000 })]);
    // Told in one piece: when it began is not known.
    feed.record([then('a@1', { state: 'interrupted', attempt: 2, atMs: 6000, error: NO })]);
    const attempts = store.show('a@1')!.attempts.map((one) => [one.attempt, one.startedAtMs, one.endedAtMs]);
    assert.deepEqual(attempts, [
      [1, 1000, 5000],
      [2, 6000, 6000],
    ]);
  },

  'how each task ended last, and when it last succeeded: what a daemon begins with, so a store in memory has none':
    (open) => {
      const { store, feed } = open();
      feed.record([
        begin('a@1', { atMs: 1000 }),
        begin('b@1', { task: 'b' }),
        end('a@1', { atMs: 1500 }),
        begin('a@2', { atMs: 1600 }),
        end('a@2', { atMs: 2000 }),
        begin('a@3', { atMs: 2000 }),
        end('a@3', { atMs: 1900, state: 'failed', error: NO, dead: true }),
      ]);
      const failed = { task: 'a', state: 'failed', endedAtMs: 1900, succeededAtMs: 2000 };
      assert.deepEqual(store.lastEnds(), store.abilities.durable ? [failed] : []);
      feed.record([
        end('b@1', { task: 'b', state: 'cancelled' }),
        begin('a@4'),
        end('a@4', { state: 'skipped' }),
      ]);
      const later = [
        { ...failed, state: 'skipped', endedAtMs: 1500 },
        { task: 'b', state: 'cancelled', endedAtMs: 1500, succeededAtMs: null },
      ];
      assert.deepEqual(store.lastEnds(), store.abilities.durable ? later : []);
    },

  'what was applied is shown before it is committed': (open) => {
    const { store, feed } = open();
    feed.append([begin('a@1')]);
    assert.equal(store.show('a@1')?.state, 'running');
    assert.deepEqual(store.list(ALL).length, 1);
  },

  'the attempts of a run are kept with their errors, without stacks': (open) => {
    const { store, feed } = open();
    const error = { ...NO, stack: 'at f', cause: { ...NO, message: 'why', stack: 'at g' } };
    feed.record([begin('a@1'), then('a@1', { state: 'retrying', durationMs: 100, error, dueAtMs: 2000 })]);
    assert.equal(store.show('a@1')?.dueAtMs, 2000);
    feed.record([then('a@1', { state: 'ready', atMs: 2000 })]);
    feed.record([then('a@1', { attempt: 2, atMs: 2010 })]);
    feed.record([then('a@1', { state: 'interrupted', attempt: 2, atMs: 2020, error: NO })]);
    assert.deepEqual([store.show('a@1')?.state, store.show('a@1')?.endedAtMs], ['interrupted', null]);
    feed.record([
      then('a@1', { attempt: 3, atMs: 2030 }),
      end('a@1', { attempt: 3, atMs: 2060, durationMs: 30 }),
    ]);
    const kept = { ...NO, cause: { ...NO, message: 'why' } };
    const view = store.show('a@1');
    assert.deepEqual(view?.attempts, [
      { attempt: 1, startedAtMs: 1100, endedAtMs: 1200, state: 'failed', error: kept },
      { attempt: 2, startedAtMs: 2010, endedAtMs: 2020, state: 'interrupted', error: NO },
      { attempt: 3, startedAtMs: 2030, endedAtMs: 2060, state: 'success', error: null },
    ]);
    assert.deepEqual(
      [view?.error, view?.durationMs, view?.dueAtMs, view?.startedAtMs],
      [null, 30, 2000, 2030],
    );
  },

  'of many attempts the last ones are kept': (open) => {
    const { store, feed } = open();
    const attempts = MAX_ATTEMPTS_KEPT + 5;
    feed.record([begin('a@1')]);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const error = { ...NO, message: `${attempt}` };
      feed.record([then('a@1', { attempt }), then('a@1', { state: 'retrying', attempt, error, dueAtMs: 1 })]);
    }
    const kept = store.show('a@1')?.attempts ?? [];
    assert.equal(kept.length, MAX_ATTEMPTS_KEPT);
    assert.deepEqual([kept[0]?.error?.message, kept.at(-1)?.error?.message], ['6', `${attempts}`]);
  },

  'when a run is due, or was, is known': (open) => {
    const { store, feed } = open();
    feed.record([begin('a@1', { state: 'ready', attempt: 0, dueAtMs: 950 }), begin('a@2')]);
    assert.deepEqual([store.show('a@1')?.dueAtMs, store.show('a@2')?.dueAtMs], [950, null]);
    feed.record([then('a@1', {})]);
    assert.equal(store.show('a@1')?.dueAtMs, 950);
    feed.record([end('a@1'), end('a@2')]);
    assert.deepEqual([store.show('a@1')?.dueAtMs, store.show('a@2')?.dueAtMs], [950, null]);
  },

  'a run that comes again after it was over takes the place of the one before': (open) => {
    const { store, feed } = open();
    const error = { ...NO, message: 'first' };
    feed.record([begin('a@1'), then('a@1', { state: 'retrying', error, dueAtMs: 1 })]);
    feed.record([end('a@1', { state: 'failed', attempt: 2, error }), begin('a@2')]);
    feed.record([begin('a@1', { state: 'ready', attempt: 0, createdAtMs: 3000, input: '{"y":2}' })]);
    const [newest, ...others] = store.list(ALL);
    assert.deepEqual([newest?.run, others.map((view) => view.run)], ['a@1', ['a@2']]);
    const { state, attempts, error: now, input } = store.show('a@1')!;
    assert.deepEqual([state, attempts, now, input], ['ready', [], null, '{"y":2}']);
    feed.record([end('a@1')]);
    assert.deepEqual(store.list({ ...ALL, state: 'failed' }), []);
    assert.equal(store.show('a@1')?.result, '7');
  },

  'the first transition of a run that lives is one more of it': (open) => {
    const { store, feed } = open();
    feed.record([begin('a@1'), then('a@1', { state: 'retrying', error: NO, dueAtMs: 1 })]);
    feed.record([begin('a@1', { attempt: 2 })]);
    const view = store.show('a@1');
    assert.deepEqual([view?.state, view?.attempt, view?.attempts.length], ['running', 2, 1]);
  },

  'list: newest first, by task, by state, at most the limit': (open) => {
    const { store, feed } = open();
    for (let index = 1; index <= 5; index++) {
      const task = index % 2 === 0 ? 'b' : 'a';
      feed.record([begin(`a@${index}`, { createdAtMs: index, task })]);
      if (index < 5) feed.record([end(`a@${index}`, { task })]);
    }
    const names = (filter: RunFilter) => store.list(filter).map((view) => view.run);
    assert.deepEqual(names(ALL), ['a@5', 'a@4', 'a@3', 'a@2', 'a@1']);
    assert.deepEqual(names({ ...ALL, task: 'b' }), ['a@4', 'a@2']);
    assert.deepEqual(names({ ...ALL, state: 'running' }), ['a@5']);
    assert.deepEqual(names({ ...ALL, task: 'a', state: 'success', limit: 1 }), ['a@3']);
    assert.deepEqual(names({ ...ALL, limit: 2 }), ['a@5', 'a@4']);
    feed.record([begin('a@6', { createdAtMs: 6 }), begin('a@7', { createdAtMs: 7 })]);
    feed.record([end('a@7'), end('a@6', { atMs: 1600 }), end('a@5', { atMs: 1700 })]);
    assert.deepEqual(
      names({ ...ALL, limit: 2 }),
      ['a@7', 'a@6'],
      'by when they began, not by when they ended',
    );
  },

  'a file is marked by a run that succeeded or failed for good, and by no other end': (open) => {
    const { store, feed } = open();
    const states = ['success', 'failed', 'cancelled', 'skipped'] as const;
    for (const [index, state] of states.entries()) {
      const mark = markOf(index);
      feed.record([begin(`a@${index}`, { mark }), end(`a@${index}`, { state, mark })]);
    }
    feed.record([begin('a@8', { state: 'success', mark: markOf(8) }), begin('a@9', { mark: markOf(9) })]);
    const found = store.marked('a', [0, 1, 2, 3, 8, 9].map(markOf));
    assert.deepEqual([...found].toSorted(), [markOf(0), markOf(1), markOf(8)]);
    assert.deepEqual([...store.marked('b', [markOf(0)])], [], 'marks belong to their task');
    const high = 'ffffffffffffffff';
    feed.record([begin('b@1', { task: 'b' }), end('b@1', { task: 'b', mark: high })]);
    assert.deepEqual([...store.marked('b', [high, markOf(0)])], [high]);
  },

  'the end of a scan that found nothing is not kept': (open) => {
    const { store, feed } = open();
    feed.record([end('a@1', { quiet: true })]);
    assert.equal(store.show('a@1'), null);
    assert.deepEqual(store.list(ALL), []);
  },

  'any text comes back as it went in': (open) => {
    const { store, feed } = open();
    const text = JSON.stringify({ 'ключ "x"\\': '\u0000\u0007\n🐦 \u2028 \ud800', deep: [[{}]] });
    const message = "it's\u0000 'quoted' 🐦";
    feed.record([begin("a'@;--", { input: text })]);
    feed.record([end("a'@;--", { state: 'failed', result: text, error: { ...NO, message } })]);
    const view = store.show("a'@;--");
    assert.deepEqual([view?.input, view?.result, view?.error?.message], [text, text, message]);
  },
};
