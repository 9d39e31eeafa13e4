/** docs/run-states.md against the code: states, transitions, overlap and misfire policies, backoff. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BackoffPolicy,
  backoffMs,
  INTERRUPTION_BUDGET,
  isTerminal,
  OverlapPolicy,
  RUN_STATES,
  RUN_TRANSITIONS,
  WhenFull,
} from '../../src/actors/runs/index.ts';
import { codeSpans, plain, readDocument, rowsBelow, sections, tableRows } from './markdown.ts';

const text = readDocument('docs/run-states.md');

test('the table of transitions is that of the code', () => {
  const rows = rowsBelow(text, 'States');
  const start = rows.findIndex(([from]) => from === 'from');
  const listed = rows
    .slice(start + 1)
    .map(([from = '', to = '']) => [plain(from), plain(to).split(', ')] as const);
  const known = RUN_STATES.filter((state) => !isTerminal(state)).map(
    (state) => [state, RUN_TRANSITIONS[state]] as const,
  );
  assert.deepEqual(listed.toSorted(), known.toSorted());
  assert.deepEqual(
    rows
      .slice(0, start)
      .map(([state = '']) => plain(state))
      .toSorted(),
    [...RUN_STATES].sort(),
  );
});

test('policies are those of the code', () => {
  const names = (heading: string) => rowsBelow(text, heading).map(([name = '']) => plain(name));
  assert.deepEqual(names('Overlap').toSorted(), Object.values(OverlapPolicy).toSorted());
  const queues = tableRows(sections(text).get('Queues') ?? '').map(([name = '']) => plain(name));
  const whenFull = queues.slice(queues.indexOf('queues.ready.when_full') + 1);
  assert.deepEqual(whenFull.toSorted(), Object.values(WhenFull).toSorted());
});

test('the waits of the backoff table are what the code waits', () => {
  const rows = tableRows(sections(text).get('Backoff') ?? '').filter(([n]) => /^\d+$/.test(n ?? ''));
  assert.equal(rows.length, 8);
  const scaled: BackoffPolicy = { kind: 'scaled', baseMs: 1000, capMs: 60_000 };
  const additive: BackoffPolicy = { kind: 'additive', baseMs: 1000, capMs: 60_000, jitterMs: 1000 };
  for (const cells of rows) {
    const [n, ...waits] = cells.map(Number);
    const expected: number[] = [scaled, additive].flatMap((policy) =>
      [0, 1].map((rand) => backoffMs(policy, n!, () => rand) / 1000),
    );
    assert.deepEqual(waits, expected, `n = ${n}`);
  }
});

test('the interruption budget is that of the code', () => {
  const section = sections(text).get('Interruptions') ?? '';
  assert.match(section, new RegExp(`a budget of its own, ${INTERRUPTION_BUDGET}:`));
  assert.ok(codeSpans(section).includes('on_interrupted: rerun'));
});
