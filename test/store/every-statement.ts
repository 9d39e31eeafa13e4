/** A history that makes use of every statement there is, in commits of all sizes. */
import type { RunEvent } from '../../src/actors/records.ts';
import { resultFileName } from '../../src/actors/results/result-reference.ts';
import type { Retention } from '../../src/actors/store/index.ts';
import { begin, death, end, markOf, then } from './feed.ts';
import type { Step } from './random-history.ts';

/** Under which it has something to forget, by each of the bounds. */
export const TIGHT: Retention = {
  runs: 8,
  results: 5,
  resultTtlMs: 1e12,
  fileBytes: 1e12,
  maxBytes: 150_000,
};

export function everything(): readonly Step[] {
  const steps: Step[] = [];
  let first = 1;
  const record = (events: readonly RunEvent[], dropped: readonly string[] = []) => {
    steps.push({ do: 'record', batch: { first, events, dropped } });
    first += events.length;
  };
  const commit = () => void steps.push({ do: 'commit' });
  const ask = () => void steps.push({ do: 'ask', run: 'a@1', mark: markOf(1) });
  const schedules = ['a', 'b'].map((task) => ({ task, schedule: 'every 5s' }));
  steps.push({ do: 'mount', body: { atMs: 1000, schedules } });
  const mark = markOf(1);
  record([begin('a@1', { mark, occurrenceMs: 2000 }), then('a@1', { state: 'retrying', dueAtMs: 5 })]);
  record([then('a@1', { attempt: 2 }), end('a@1', { attempt: 2, mark })]);
  ask();
  record([
    begin('a@2', { state: 'ready', attempt: 0 }),
    then('a@2', {}),
    then('a@2', { state: 'interrupted' }),
  ]);
  record([begin('d@1'), death('d@1'), begin('d@2'), death('d@2'), begin('d@3'), death('d@3')]);
  commit();
  record([then('a@2', { attempt: 2 }), end('a@2', { attempt: 2, result: null })], ['d@1']);
  record([begin('a@1', { createdAtMs: 2000 }), end('a@1', { atMs: 2100 }), begin('d@2')], ['d@3']);
  record([begin('e@1', { state: 'pending', attempt: 0, dueAtMs: 1e13 })]);
  record([begin('a@0', { note: '{}' }), begin('a@0/x', { flow: 'a@0' }), end('a@0/x', { flow: 'a@0' })]);
  ask();
  record([then('a@0', { note: '{"stop":1}' }), end('a@0', { note: '{"end":1}' })]);
  record([begin('a@0~1', { adopts: ['a@0/x'] }), end('a@0~1')]);
  ask();
  steps.push({ do: 'mount', body: { atMs: 3000, schedules: schedules.slice(1) } });
  for (let index = 0; index < 100; index++) {
    steps.push({
      do: 'audit',
      entry: { atMs: index, actor: 'ann (1)', action: 'stop', target: null, fields: {} },
    });
  }
  commit();
  const file = JSON.stringify({ $file: `/state/results/${resultFileName('c@1', 1, 'x')}`, $bytes: 9 });
  record([begin('c@1'), end('c@1', { result: file, atMs: 2500 })]);
  commit();
  record([begin('c@1', { createdAtMs: 2500 }), end('c@1', { atMs: 2600 })]);
  commit();
  for (let index = 0; index < 12; index++) {
    const input = JSON.stringify('i'.repeat(index < 8 ? 10 : 40_000));
    record([begin(`b@${index}`, { input }), end(`b@${index}`, { atMs: 3000 + index })]);
    if (index % 3 === 2) commit();
  }
  ask();
  return steps;
}
