/** The checks of the kill tests see what they are for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunDocument } from '../../src/actors/control/documents.ts';
import type { FlowStepDocument } from '../../src/actors/control/flow-routes.ts';
import { type Graph, type GraphStep, orderViolations, stepViolations } from './graphs.ts';
import { type LedgerMark, parseLine } from './ledger.ts';
import { ghostViolations, overlapViolations, runViolations, scheduleViolations } from './violations.ts';

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

test('a step that begins before what it waits for is over is seen, and one that goes on behind another', () => {
  const of = (run: string, mark: LedgerMark) => ({ run, attempt: 1, mark, pid: 1, atMs: 0 });
  const step = (task: string, more: Partial<GraphStep> = {}): GraphStep => {
    return { task, dependsOn: [], policy: 'skip', each: null, effect: { ms: 1 }, ...more };
  };
  const each = { list: 'one', concurrency: 1, onFailure: 'stop' } as const;
  const graph: Graph = {
    flow: 'f',
    steps: [
      step('one'),
      step('two', { dependsOn: ['one'] }),
      step('items', { dependsOn: ['one'], policy: 'run', each }),
      step('last', { dependsOn: ['items'], policy: 'run' }),
    ],
  };
  const found = (...lines: ReturnType<typeof of>[]) => orderViolations([graph], lines).length;
  const [first, second, item, last] = ['f@a/one', 'f@a/two', 'f@a/items[0]', 'f@a/last'];
  assert.equal(found(of(first, 'begin'), of(first, 'end'), of(second, 'begin')), 0);
  assert.equal(found(of(first, 'begin'), of(second, 'begin'), of(first, 'end')), 2);
  assert.equal(found(of('f@b/one', 'end'), of(second, 'begin')), 1);
  // Its policy lets it run after a failure, and not before the end.
  assert.equal(found(of(first, 'begin'), of(first, 'fail'), of(item, 'begin')), 0);
  assert.equal(found(of(item, 'begin'), of(first, 'begin')), 1);
  // Also of what is further before it, whatever item it is.
  assert.equal(found(of(last, 'begin'), of(item, 'begin')), 1);
  assert.equal(found(of(last, 'begin'), of(first, 'fail')), 1);
  assert.equal(found(of(last, 'begin'), of(item, 'cut')), 0);
  assert.equal(found(of(last, 'begin'), of('f@b/items[0]', 'begin')), 0);

  let state = 'failed';
  const ends = (...told: readonly (readonly [string, string, string | null])[]) => {
    const steps = told.map(([name, state, reason]) => ({ step: name, state, reason }) as FlowStepDocument);
    return stepViolations(graph, { run: 'f@a', state, steps }).length;
  };
  const done = ['success', 'done'] as const;
  const upstream = ['skipped', 'upstream'] as const;
  assert.equal(ends(['one', ...done], ['two', ...done], ['items', ...done], ['last', ...done]), 0);
  const failed = ['one', 'failed', 'run-failed'] as const;
  assert.equal(ends(failed, ['two', ...upstream], ['items', ...done], ['last', ...done]), 0);
  assert.equal(ends(failed, ['two', ...done], ['items', ...done], ['last', ...done]), 1);
  assert.equal(ends(failed, ['two', ...upstream], ['items', ...upstream], ['last', ...done]), 1);
  assert.equal(ends(['one', ...done], ['two', 'running', null], ['items', ...done], ['last', ...done]), 1);
  assert.equal(
    ends(['one', 'failed', 'run-lost'], ['two', ...upstream], ['items', ...done], ['last', ...done]),
    1,
  );
  assert.equal(ends(['one', ...done]), 1);
  state = 'cancelled';
  const cancelled = ['cancelled', 'flow-cancelled'] as const;
  assert.equal(ends(failed, ['two', ...upstream], ['items', ...cancelled], ['last', ...cancelled]), 0);
  const never = ['pending', null] as const;
  assert.equal(ends(['one', ...never], ['two', ...never], ['items', ...never], ['last', ...never]), 0);
  assert.equal(ends(['one', ...done], ['two', ...never], ['items', ...cancelled], ['last', ...cancelled]), 1);
});
