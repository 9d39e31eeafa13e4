import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  deadLetterDocument,
  runDocument,
  statusDocument,
  taskDocument,
} from '../../src/actors/control/documents.ts';
import type { TaskView } from '../../src/actors/views/runtime-view.ts';
import { deadLetterList, runList, taskList } from '../../src/main/cli/render/lists.ts';
import { Paint } from '../../src/main/cli/render/paint.ts';
import { runDetails } from '../../src/main/cli/render/run.ts';
import { statusText } from '../../src/main/cli/render/status.ts';
import { cutToWidth, displayWidth, padTo, tasksText } from '../../src/main/cli/render/text.ts';
import { durationText, relativeTime, uptimeText } from '../../src/main/cli/render/time.ts';
import { runView } from '../control/fixtures.ts';
import { runtimeView } from '../telemetry/fixtures.ts';
import { NOW } from './fixtures.ts';

const WIDTHS = [120, 80, 40] as const;
const at = (columns: number, colours = false) => ({
  isTTY: true,
  columns,
  paint: new Paint(colours),
  nowMs: NOW,
});
const expected = readFileSync(new URL('./render.expected.txt', import.meta.url), 'utf8');

const tried = { code: 'handler-failed', message: 'no such\nfile: \x1b[31m/a/very/long/path' } as const;
const runs = [
  runView('hash-inbox@2026-01-01T11:59:55Z.4f', {
    task: 'hash-inbox',
    createdAtMs: NOW - 5000,
    state: 'running',
    durationMs: null,
    endedAtMs: null,
    progress: { fraction: 0.255, note: 'half' },
  }),
  runView('日本語@1', {
    task: '日本語',
    createdAtMs: NOW - 3_600_000,
    state: 'failed',
    attempt: 2,
    durationMs: 61_000,
    error: { ...tried, cause: { code: 'file-failed', message: 'ENOENT' } },
    attempts: [
      { attempt: 1, state: 'failed', startedAtMs: NOW - 90_000, endedAtMs: NOW - 61_000, error: tried },
      { attempt: 2, state: 'failed', startedAtMs: NOW - 61_000, endedAtMs: NOW, error: null },
    ],
  }),
].map(runDocument);
const shown = runs.map((run) => ({ ...run, commands: [], again_of: null, step: null }));

const task: TaskView = {
  name: 'heartbeat',
  kind: 'io',
  handler: 'heartbeat',
  group: null,
  schedule: 'every 5s',
  window: null,
  nextAtMs: NOW + 4200,
  missed: 0,
  active: 0,
  queued: 0,
  lastState: 'success',
  lastEndedAtMs: NOW - 800,
};
const idle = { schedule: null, nextAtMs: null, lastState: null, lastEndedAtMs: null };
const tasks = [
  task,
  {
    ...task,
    ...idle,
    name: 'a-task-with-a-rather-long-name',
    kind: 'cpu' as const,
    active: 2,
    queued: 14_000,
  },
].map(taskDocument);

const letters = [
  { run: 'fail@1', task: 'fail', diedAtMs: NOW - 90_000_000, attempts: 6, input: '{}', error: tried },
].map(deadLetterDocument);

const full = { name: 'ready', depth: 950, capacity: 1000, rejected: 12 } as const;
const status = statusDocument(runtimeView({ queues: [full, ...runtimeView().queues.slice(1)] }), NOW);

/** Every screen at one width, as the expected file holds it. */
function screens(columns: number): string {
  return [
    `=== ${columns} columns`,
    runList(runs, at(columns)),
    taskList(tasks, at(columns)),
    deadLetterList(letters, at(columns)),
    statusText(status, at(columns)),
  ].join('\n');
}

test('the screens at 120, 80 and 40 columns are as they were looked at', () => {
  const got = [
    ...WIDTHS.map(screens),
    ...shown.map((run) => runDetails(run, { paint: new Paint(false), isTTY: false })),
  ].join('\n');
  assert.equal(got, expected);
});

test('a task with bounds has a column of its own on a terminal; in a pipe each line has the same fields', () => {
  const window = { start_at: null, stop_at: '2026-02-01T00:00:00.000Z', excluded: 3, splay_seconds: 30 };
  const some = [tasks[0]!, { ...tasks[1]!, window }];
  const text = 'until 2026-02-01T00:00:00Z, 3 dates excluded, splay 30s';
  const [head, first, second] = taskList(some, at(200)).split('\n');
  assert.match(head ?? '', /HANDLER {4}WINDOW$/);
  assert.match(first ?? '', /heartbeat {2}-$/);
  assert.ok(second?.endsWith(text));
  const piped = taskList(some, { ...at(80), isTTY: false });
  assert.deepEqual(
    piped
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t').slice(8)),
    [
      ['heartbeat', '-'],
      ['heartbeat', text],
    ],
  );
  assert.ok(!taskList(tasks, at(200)).includes('WINDOW'));
});

test('no line is wider than the terminal, at any width, and none ends in a blank', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 200 }), (columns) => {
      for (const line of screens(columns).split('\n').slice(1)) {
        assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
        assert.equal(line, line.trimEnd());
      }
    }),
  );
});

test('a daemon that stops shows how long it is up, not how long it has been stopping', () => {
  const { stopping: _, ...rest } = status;
  assert.match(
    statusText({ ...rest, stopping: true, uptime_seconds: 33 }, at(80)),
    /^colibri \S+ stopping, up 33s, pid/,
  );
});

test('colours change nothing but colours', () => {
  const coloured = runList(runs, at(120, true));
  assert.ok(coloured.includes('\x1b[34mrunning'));
  // biome's rule against control characters is off: they are the subject here.
  assert.equal(coloured.replace(/\x1b\[\d+m/g, ''), runList(runs, at(120)));
});

test('a text is cut and padded by its columns, not by its characters', () => {
  assert.equal(displayWidth('日本'), 4);
  assert.equal(displayWidth('e\u0301'), 1);
  assert.equal(cutToWidth('日本語', 4), '日…');
  assert.equal(cutToWidth('abc', 3), 'abc');
  assert.equal(cutToWidth('abcd', 3), 'ab…');
  assert.equal(cutToWidth('abc', 0), '');
  assert.equal(padTo('日', 4), '日  ');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 50 }), (text, width) => {
      assert.ok(displayWidth(cutToWidth(text, width)) <= width);
      assert.ok(displayWidth(padTo(text, width)) >= width);
    }),
  );
});

test('times in words', () => {
  const from = (ms: number): string => relativeTime(new Date(NOW + ms).toISOString(), NOW);
  assert.deepEqual([-999, 999, -1000, 61_000, -7_199_000, 172_800_000].map(from), [
    'now',
    'now',
    '1s ago',
    'in 1m',
    '1h ago',
    'in 2d',
  ]);
  assert.equal(relativeTime(null, NOW), '-');
  assert.deepEqual([0.04, 9.94, 12.5, 999, 1000, 59_900, 60_000, 3_725_000].map(durationText), [
    '0.0 ms',
    '9.9 ms',
    '13 ms',
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1m 00s',
    '62m 05s',
  ]);
  assert.deepEqual([5, 65, 3665, 90_000].map(uptimeText), ['5s', '1m 05s', '1h 01m', '1d 1h']);
});

test('tasks and flows are counted in the same words everywhere', () => {
  assert.equal(tasksText(7, 1), '7 tasks and 1 flow');
  assert.equal(tasksText(1, 2), '1 task and 2 flows');
  assert.equal(tasksText(0, 0), '0 tasks');
});
