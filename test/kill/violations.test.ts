/** The checks of the kill tests see what they are for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunDocument } from '../../src/actors/control/documents.ts';
import { type LedgerMark, parseLine } from './ledger.ts';
import {
  ghostViolations,
  orderViolations,
  overlapViolations,
  runViolations,
  scheduleViolations,
} from './violations.ts';

const RUN = 'task@2026-11-29T12:00:00Z.1';

const line = (attempt: number, mark: LedgerMark) => ({ run: RUN, attempt, mark, pid: 1, atMs: 0 });

function view(state: string, attempt: number, attempts: readonly string[] = []): RunDocument {
  const started_at = '2026-11-29T12:00:00.000Z';
  const told = attempts.map((one, index) => {
    return { attempt: index + 1, state: one, started_at, ended_at: started_at, error: null };
  });
  return { run: RUN, state, attempt, attempts: told, started_at } as unknown as RunDocument;
}

/** Names of the rules that are broken. */
function broken(
  marks: readonly (readonly [number, LedgerMark])[],
  shown: RunDocument | null,
  doomed = false,
) {
  const lines = marks.map(([attempt, mark]) => line(attempt, mark));
  return runViolations({ run: RUN, before: lines, view: shown, after: lines, doomed }).map(
    ({ rule }) => rule,
  );
}

test('a run that went as it should breaks no rule, interrupted or not', () => {
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
      ],
      view('success', 1),
    ),
    [],
  );
  assert.deepEqual(broken([[1, 'begin']], view('running', 1)), []);
  assert.deepEqual(broken([], view('ready', 0)), []);
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [2, 'begin'],
        [2, 'end'],
      ],
      view('success', 2, ['interrupted', 'success']),
    ),
    [],
  );
  // Done, and killed before that was recorded: done again, and told so.
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
        [2, 'begin'],
        [2, 'end'],
      ],
      view('success', 2, ['interrupted']),
    ),
    [],
  );
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'fail'],
        [2, 'begin'],
        [2, 'end'],
      ],
      view('success', 2, ['failed']),
    ),
    [],
  );
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'fail'],
      ],
      view('failed', 1, ['failed']),
      true,
    ),
    [],
  );
});

test('each thing that must not be is told by its rule', () => {
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
      ],
      null,
    ),
    ['unknown-run'],
  );
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
        [1, 'begin'],
        [1, 'end'],
      ],
      view('success', 1),
    ),
    ['begun-twice'],
  );
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
        [2, 'begin'],
        [2, 'end'],
      ],
      view('success', 2),
    ),
    ['done-twice'],
  );
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
        [2, 'begin'],
        [2, 'end'],
      ],
      view('success', 2, ['failed']),
    ),
    ['done-twice'],
  );
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [2, 'begin'],
      ],
      view('running', 2),
    ),
    ['gone-on-unexplained'],
  );
  assert.deepEqual(broken([[1, 'begin']], view('ready', 0)), ['began-unrecorded']);
  assert.deepEqual(broken([[1, 'begin']], view('success', 1)), ['success-undone']);
  assert.deepEqual(broken([], view('success', 1)), ['success-undone']);
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
      ],
      view('failed', 1),
    ),
    ['failed-unexplained'],
  );
  assert.deepEqual(
    broken(
      [
        [1, 'begin'],
        [1, 'end'],
      ],
      view('skipped', 1),
    ),
    ['done-but-dropped'],
  );
});

test('a run that is given up for its interruptions has had more of them than it may', () => {
  const cut = (count: number) =>
    view(
      'failed',
      count,
      Array.from({ length: count }, () => 'interrupted'),
    );
  assert.deepEqual(broken([], cut(4)), []);
  assert.deepEqual(broken([], cut(3)), ['failed-unexplained']);
});

test('a run of an earlier life that stands as running is told from one of this life', () => {
  const startedAtMs = Date.parse('2026-11-29T12:00:00.000Z');
  assert.deepEqual(ghostViolations([view('running', 1)], startedAtMs), []);
  assert.equal(ghostViolations([view('running', 1)], startedAtMs + 1).length, 1);
});

test('a second that a schedule left out is told, and one at the end too', () => {
  const at = (second: number) => `s@${new Date(1e12 + second * 1000).toISOString().replace('.000', '')}`;
  const seconds = [1, 2, 3, 4].map(at);
  assert.deepEqual(scheduleViolations('s', [...seconds, 'other@x'], 1e12 + 4500), []);
  assert.equal(scheduleViolations('s', [at(1), at(2), at(4)], 1e12 + 4500).length, 1);
  assert.equal(scheduleViolations('s', seconds, 1e12 + 6500).length, 1);
  assert.equal(scheduleViolations('s', [], 1e12).length, 1);
});

test('a line of the ledger that a kill cut short is none', () => {
  const whole = 'run a@b 1 begin 12 34 .';
  assert.deepEqual(parseLine(whole), { run: 'a@b', attempt: 1, mark: 'begin', pid: 12, atMs: 34 });
  for (let length = 1; length < whole.length; length++) {
    assert.equal(parseLine(whole.slice(0, length)), null);
    assert.equal(parseLine(whole.slice(0, length) + whole), null);
  }
});

test('runs that overlap are told, and those of two processes are none', () => {
  const of = (run: string, mark: LedgerMark, pid = 1) => ({ run, attempt: 1, mark, pid, atMs: 0 });
  const [a, b] = ['s@a', 's@b'];
  assert.deepEqual(overlapViolations('s', [of(a, 'begin'), of(a, 'end'), of(b, 'begin')]), []);
  assert.deepEqual(overlapViolations('s', [of(a, 'begin'), of('t@c', 'begin'), of(b, 'begin', 2)]), []);
  assert.equal(overlapViolations('s', [of(a, 'begin'), of(b, 'begin')]).length, 1);
});

test('a step that began before the one before it was done is told', () => {
  const of = (run: string, mark: LedgerMark) => ({ run, attempt: 1, mark, pid: 1, atMs: 0 });
  const steps = ['one', 'two'];
  const [first, second] = ['f@a/one', 'f@a/two'];
  assert.deepEqual(orderViolations(steps, [of(first, 'begin'), of(first, 'end'), of(second, 'begin')]), []);
  assert.equal(orderViolations(steps, [of(first, 'begin'), of(second, 'begin'), of(first, 'end')]).length, 1);
  assert.equal(orderViolations(steps, [of('f@b/one', 'end'), of(second, 'begin')]).length, 1);
});
