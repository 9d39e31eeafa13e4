/** The attempts of a run, with the one that only the run itself tells of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AttemptView, MAX_ATTEMPTS_KEPT } from '../../src/actors/records.ts';
import { RUN_STATES } from '../../src/actors/runs/index.ts';
import { allAttempts } from '../../src/actors/views/all-attempts.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { runView } from '../control/fixtures.ts';

const NO = { code: 'handler-failed', message: 'no' } as const;
const failed = (attempt: number): AttemptView => ({
  attempt,
  startedAtMs: attempt * 10,
  endedAtMs: attempt * 10 + 5,
  state: 'failed',
  error: NO,
});

/** Of a run that began at 100 and, where it is over, ended at 150, its last attempt taking 20 ms. */
function last(fields: Partial<RunView>): AttemptView | undefined {
  return allAttempts(runView('a@1', { startedAtMs: 100, endedAtMs: 150, durationMs: 20, ...fields })).at(-1);
}

test('a run that succeeded at once has one attempt; of several the last one counts', () => {
  const one = { attempt: 1, startedAtMs: 100, endedAtMs: 150, state: 'success', error: null };
  assert.deepEqual(allAttempts(runView('a@1', { startedAtMs: 100, endedAtMs: 150, durationMs: 20 })), [one]);
  assert.deepEqual(last({ attempt: 2, attempts: [failed(1)] }), { ...one, attempt: 2 });
  // Told in one piece, where the start is that of the first; in whole milliseconds, as all of them.
  const first = { ...failed(1), startedAtMs: 100, endedAtMs: 105 };
  const told = { ...one, attempt: 2, startedAtMs: 130 };
  assert.deepEqual(last({ attempt: 2, attempts: [first], durationMs: 20.4 }), told);
  assert.deepEqual(last({ attempt: 3, attempts: [first] }), { ...told, attempt: 3 });
  assert.deepEqual(last({ durationMs: null }), { ...one, startedAtMs: 100 });
});

test('a run that was cancelled, or is running', () => {
  const error = { code: 'cancelled', message: 'by a user' } as const;
  assert.deepEqual(last({ state: 'cancelled', error, attempts: [] })?.error, error);
  const open = { endedAtMs: null, durationMs: 5, attempt: 2, attempts: [failed(1)], error: NO };
  assert.deepEqual(last({ ...open, state: 'running' }), {
    attempt: 2,
    startedAtMs: 100,
    endedAtMs: null,
    state: 'running',
    error: null,
  });
});

test('what is kept is not told twice, and what never began has none', () => {
  for (const state of RUN_STATES) {
    assert.deepEqual(last({ state, attempts: [failed(1)] }), failed(1), state);
    assert.equal(last({ state, attempt: 0, startedAtMs: null, durationMs: null }), undefined, state);
  }
  for (const state of ['pending', 'ready', 'retrying', 'interrupted', 'orphaned'] as const) {
    assert.equal(last({ state, endedAtMs: null }), undefined, state);
  }
  assert.equal(last({ startedAtMs: null, durationMs: null }), undefined);
});

test('no more of them than are kept', () => {
  const attempts = Array.from({ length: MAX_ATTEMPTS_KEPT }, (_, index) => failed(index + 1));
  const all = allAttempts(runView('a@1', { attempt: MAX_ATTEMPTS_KEPT + 1, attempts }));
  assert.equal(all.length, MAX_ATTEMPTS_KEPT);
  assert.deepEqual([all[0]?.attempt, all.at(-1)?.attempt], [2, MAX_ATTEMPTS_KEPT + 1]);
});
