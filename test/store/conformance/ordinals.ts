/** Each transition is applied once, in order, however often it comes. */
import assert from 'node:assert/strict';
import { Appended } from '../../../src/actors/store/index.ts';
import type { Cases } from '../conformance.ts';
import { begin, death, end, then } from '../feed.ts';

export const ordinalCases: Cases = {
  'kept is the ordinal of the last transition that was committed': (open) => {
    const { store, feed } = open();
    assert.equal(store.kept, 0);
    store.commit();
    assert.equal(store.kept, 0);
    feed.record([begin('a@1')]);
    assert.equal(store.kept, 1);
    feed.append([end('a@1'), begin('a@2')]);
    feed.append([end('a@2')]);
    store.commit();
    assert.equal(store.kept, 4);
  },

  'a batch that is known is said to be, and not applied again': (open) => {
    const { store, feed } = open();
    const batch = feed.record([begin('a@1'), then('a@1', { state: 'interrupted' })]);
    feed.record([then('a@1', { attempt: 2 }), end('a@1', { attempt: 2 })]);
    const view = store.show('a@1');
    assert.equal(store.append(batch), Appended.Known);
    assert.equal(store.append({ ...batch, events: [end('a@1', { state: 'failed' })] }), Appended.Known);
    store.commit();
    assert.deepEqual(store.show('a@1'), view);
    assert.equal(store.kept, 4);
  },

  'a batch that is known before it is committed is so too': (open) => {
    const { store, feed } = open();
    const batch = feed.append([begin('a@1')]);
    feed.append([then('a@1', { state: 'retrying', dueAtMs: 1 })]);
    assert.equal(store.append(batch), Appended.Known);
    store.commit();
    assert.deepEqual([store.kept, store.show('a@1')?.state], [2, 'retrying']);
  },

  'of a batch that is known in part the rest is applied': (open) => {
    const { store, feed } = open();
    feed.record([begin('a@1'), end('a@1')]);
    const events = [begin('a@1', { input: '"other"' }), end('a@1', { state: 'failed' }), begin('a@2')];
    assert.equal(store.append({ first: 1, events, dropped: [] }), Appended.Applied);
    store.commit();
    assert.deepEqual(
      [store.kept, store.show('a@1')?.state, store.show('a@2')?.state],
      [3, 'success', 'running'],
    );
  },

  'after a gap nothing is applied, and what was missing is still taken': (open) => {
    const { store, feed } = open();
    feed.record([begin('a@1')]);
    const missing = feed.batch([end('a@1'), begin('a@2')]);
    const later = feed.batch([end('a@2')], ['a@1']);
    assert.equal(store.append(later), Appended.Gap);
    store.commit();
    assert.deepEqual([store.kept, store.show('a@2')], [1, null]);
    assert.equal(store.append(missing), Appended.Applied);
    assert.equal(store.append(later), Appended.Applied);
    store.commit();
    assert.deepEqual([store.kept, store.show('a@2')?.state], [4, 'success']);
  },

  'a batch of dropped letters alone takes no ordinal': (open) => {
    const { store, feed } = open({ runs: 1 });
    feed.record([begin('d@1'), death('d@1')]);
    feed.record([], ['d@1']);
    assert.equal(store.kept, 2);
    feed.record([begin('a@1'), end('a@1', { atMs: 1600 })]);
    assert.deepEqual([store.kept, store.show('d@1')], [4, null]);
  },

  'a batch of dropped letters alone that comes late sets nothing back': (open) => {
    const { store, feed } = open({ runs: 0 });
    const dropping = feed.record([], ['d@1']);
    const batch = feed.record([begin('d@1'), death('d@1')]);
    assert.equal(store.append(dropping), Appended.Known);
    store.commit();
    assert.equal(store.kept, 2);
    assert.equal(store.append(batch), Appended.Known);
    assert.equal(store.show('d@1')?.state, 'failed', 'it died after those were dropped');
  },

  'the ordinals of a daemon whose store is a new one go on': (open) => {
    const { store } = open({}, 1000);
    assert.equal(store.kept, 1000);
    assert.equal(store.append({ first: 1002, events: [begin('a@1')], dropped: [] }), Appended.Gap);
    assert.equal(store.append({ first: 1001, events: [begin('a@1')], dropped: [] }), Appended.Applied);
    store.commit();
    assert.equal(store.kept, 1001);
  },

  'close may be called twice': (open) => {
    const { store, feed } = open();
    feed.append([begin('a@1')]);
    store.close();
    store.close();
  },
};
