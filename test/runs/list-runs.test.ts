import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActorRef } from '../../src/actors/kernel/index.ts';
import type { RunFilter, RunsMessages, StoreMessages } from '../../src/actors/protocol.ts';
import { listRuns } from '../../src/actors/runs/index.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { runView } from '../control/fixtures.ts';

/** Main and a store that has not heard of the last transitions. */
function keepers(main: readonly RunView[], kept: readonly RunView[]) {
  const wanted = (views: readonly RunView[], { state, limit }: RunFilter) =>
    views.filter((view) => state === null || view.state === state).slice(0, limit);
  const runs = {
    ask: async (kind: string, body: never) =>
      kind === 'live'
        ? wanted(main, body)
        : (main.find(({ run }) => run === (body as { run: string }).run) ?? null),
  } as unknown as ActorRef<RunsMessages>;
  // By the second question it has heard of the one that main has forgotten since.
  const store = {
    ask: async (kind: string, body: never) => {
      if (kind === 'list') return wanted(kept, body);
      const view = kept.find(({ run }) => run === (body as { run: string }).run)!;
      return view.run === 'gone' ? { ...view, ...at(3, 'success') } : view;
    },
  } as unknown as ActorRef<StoreMessages>;
  return { runs, store };
}

const at = (second: number, state: RunView['state']): Partial<RunView> => {
  const createdAtMs = Date.UTC(2026, 0, 1, 0, 0, second);
  const isOver = state === 'success' || state === 'failed';
  return { createdAtMs, state, endedAtMs: isOver ? createdAtMs : null };
};

test('what main knows wins over what the store has not heard of yet, whatever state is asked for', async () => {
  const main = [runView('over', at(5, 'success')), runView('works', at(4, 'running'))];
  const kept = [
    runView('over', at(5, 'running')),
    runView('works', at(4, 'pending')),
    runView('gone', at(3, 'running')),
    runView('far', at(3, 'pending')),
    runView('past', at(2, 'success')),
  ];
  const list = async (state: RunView['state'] | null, limit = 10) =>
    (await listRuns(keepers(main, kept), { task: null, state, limit })).map(({ run }) => run);
  assert.deepEqual(await list(null), ['over', 'works', 'gone', 'far', 'past']);
  assert.deepEqual(await list('running'), ['works']);
  assert.deepEqual(await list('success'), ['over', 'past']);
  assert.deepEqual(await list('pending'), ['far'], 'one that the store alone has stays');
  assert.deepEqual(await list(null, 2), ['over', 'works']);
});
