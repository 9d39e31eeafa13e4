/** Up to when the occurrences of schedules have been dealt with. A store that is not durable begins with this moment. */
import assert from 'node:assert/strict';
import type { Store } from '../../../src/actors/store/index.ts';
import type { Cases } from '../conformance.ts';
import { begin, end } from '../feed.ts';

function mount(store: Store, atMs: number, tasks: Readonly<Record<string, string>>): readonly number[] {
  const schedules = Object.entries(tasks).map(([task, schedule]) => ({ task, schedule }));
  return store.mount({ atMs, schedules });
}

/** What a durable store says; the other one has no past. */
function expectHandled(
  store: Store,
  atMs: number,
  tasks: Readonly<Record<string, string>>,
  wanted: number[],
) {
  const handled = mount(store, atMs, tasks);
  assert.deepEqual(handled, store.abilities.durable ? wanted : wanted.map(() => atMs));
}

export const scheduleCases: Cases = {
  'a schedule that is new, or another one, begins now; one that is the same goes on': (open) => {
    const { store } = open();
    expectHandled(store, 1000, { a: 'every 5s', b: '* * * * *' }, [1000, 1000]);
    expectHandled(store, 2000, { b: '* * * * *', c: 'every 1m', a: 'every 5s' }, [1000, 2000, 1000]);
    expectHandled(store, 3000, { a: 'every 6s', b: '* * * * *', c: 'every 1m' }, [3000, 1000, 2000]);
    expectHandled(store, 4000, { a: 'every 6s', b: '* * * * *' }, [3000, 1000]);
    expectHandled(store, 5000, { c: 'every 1m', a: 'every 6s' }, [5000, 3000]);
    assert.deepEqual(mount(store, 6000, {}), []);
    expectHandled(store, 7000, { a: 'every 6s' }, [7000]);
  },

  'an occurrence moves that forward, and never back': (open) => {
    const { store, feed } = open();
    const tasks = { a: 'every 5s', b: 'every 5s' };
    expectHandled(store, 1000, tasks, [1000, 1000]);
    feed.record([begin('a@1', { origin: 'schedule', atMs: 6000, occurrenceMs: 6000 })]);
    expectHandled(store, 9000, tasks, [6000, 1000]);
    feed.record([
      begin('a@2', { atMs: 11_000, occurrenceMs: 11_000 }),
      end('a@2', { atMs: 11_500, occurrenceMs: 3000 }),
    ]);
    expectHandled(store, 9000, tasks, [11_000, 1000]);
    feed.record([begin('x@1', { task: 'x', occurrenceMs: 11_000 })]);
    expectHandled(store, 12_000, { ...tasks, x: 'every 5s' }, [11_000, 1000, 12_000]);
  },

  'where it lies in the future, a clock was wrong: the next occurrence sets it right': (open) => {
    const { store, feed } = open();
    const tasks = { a: 'every 5s', b: 'every 5s' };
    mount(store, 1000, tasks);
    const later = 40_000_000;
    feed.record([begin('a@1', { atMs: later, occurrenceMs: later }), end('a@1', { atMs: later })]);
    expectHandled(store, 2000, tasks, [later, 1000]);
    feed.record([begin('a@2', { atMs: 5001, occurrenceMs: 5000 })]);
    expectHandled(store, 6000, tasks, [5000, 1000]);
  },

  'so does the end of a scan that found nothing': (open) => {
    const { store, feed } = open();
    mount(store, 1000, { a: 'every 5s' });
    feed.record([end('a@1', { quiet: true, occurrenceMs: 6000 })]);
    expectHandled(store, 9000, { a: 'every 5s' }, [6000]);
    assert.equal(store.show('a@1'), null);
  },

  'what was applied before is as good after': (open) => {
    const { store, feed } = open();
    feed.append([begin('a@1'), begin('a@2')]);
    mount(store, 1000, { a: 'every 5s' });
    store.commit();
    assert.deepEqual([store.kept, store.show('a@2')?.state], [2, 'running']);
    feed.record([end('a@2')]);
  },
};
