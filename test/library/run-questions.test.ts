/** What a program asks about runs: what no store can answer is refused before it gets there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeChecks } from '../../src/actors/store/message-checks.ts';
import { type RunsFilter, runFilter, runId } from '../../src/main/library/run-questions.ts';

const WRONG = [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1.5, 1001, 2 ** 60, '3', null, {}, [], 3n, true];

test('a question about runs is whole, or refused with what was given', () => {
  const taken: [RunsFilter, object][] = [
    [{}, { task: null, state: null, limit: 100 }],
    [
      { task: 'a', state: 'success', limit: 1 },
      { task: 'a', state: 'success', limit: 1 },
    ],
    [
      { task: { name: 'b' }, limit: 1000 },
      { task: 'b', state: null, limit: 1000 },
    ],
  ];
  for (const [filter, wanted] of taken) {
    assert.deepEqual(runFilter(filter), wanted);
    assert.equal(storeChecks.list?.(runFilter(filter)), true);
  }
  const refused = (filter: object, message: RegExp) =>
    assert.throws(() => runFilter(filter as RunsFilter), { code: 'usage', message });
  for (const limit of WRONG) refused({ limit }, /limit to be a whole number from 1 to 1000, got /);
  for (const state of ['done', ...WRONG]) refused({ state }, /state to be one of pending, .*, got /);
  for (const task of WRONG.filter((one) => one !== '3')) refused({ task }, /task to be a handle or a name/);
  assert.equal(runId('a@1'), 'a@1');
  for (const id of [undefined, 5, null, {}, ['a']]) {
    assert.throws(() => runId(id as never), {
      code: 'usage',
      message: /the id of a run, which is a text, got /,
    });
  }
});

test('what SQLite would throw at does not reach it, from whatever thread it comes', () => {
  const whole = { task: null, state: null, limit: 5 };
  for (const limit of WRONG.filter((one) => one !== 0 && one !== 1001)) {
    assert.equal(storeChecks.list?.({ ...whole, limit }), false, String(limit));
    assert.equal(storeChecks['audit-list']?.({ limit }), false, String(limit));
  }
  for (const name of [5, {}, undefined]) {
    assert.equal(storeChecks.list?.({ ...whole, task: name }), false);
    assert.equal(storeChecks.list?.({ ...whole, state: name }), false);
    assert.equal(storeChecks.show?.({ run: name }), false);
  }
  assert.equal(storeChecks.show?.({ run: 'a@1' }), true);
  assert.equal(storeChecks['audit-list']?.({ limit: 1000 }), true);
});
