import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptView, AuditEntry } from '../../src/actors/records.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { controlRig, runView } from '../control/fixtures.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { cliRig } from './fixtures.ts';

const START = Date.UTC(2026, 0, 1);

const attempt = (number: number, fields: Partial<AttemptView> = {}): AttemptView => ({
  attempt: number,
  startedAtMs: START + number * 10_000,
  endedAtMs: START + number * 10_000 + 2500,
  state: 'failed',
  error: { code: 'timeout', message: 'too\nlong' },
  ...fields,
});

/** What `show` prints, without the lines that every run has. */
async function shown(t: HasAfter, fields: Partial<RunView>, trail: readonly AuditEntry[] = []) {
  const { socketPath } = await controlRig(t, {
    runs: { 'show-live': () => runView('a@1', fields) },
    store: { 'audit-list': () => trail },
  });
  const { code, out } = await cliRig(socketPath).run('show', 'a@1');
  assert.equal(code, 0);
  return out.split('\n').slice(0, -1);
}

const section = (lines: readonly string[]) => lines.slice(lines.indexOf('attempts'));
const line = (lines: readonly string[], key: string) =>
  lines.filter((text) => text.startsWith(key.padEnd(10)));

test('the history: number, start, time taken, state and error of each attempt', async (t) => {
  const attempts = [
    attempt(1),
    attempt(2, { state: 'interrupted', error: { code: 'thread-lost', message: 'gone' } }),
    attempt(3, { state: 'success', error: null }),
  ];
  const lines = await shown(t, { attempt: 3, attempts });
  assert.deepEqual(section(lines), [
    'attempts',
    '  1. 2026-01-01T00:00:10.000Z 2.5 s failed timeout: too\\nlong',
    '  2. 2026-01-01T00:00:20.000Z 2.5 s interrupted thread-lost: gone',
    '  3. 2026-01-01T00:00:30.000Z 2.5 s success',
  ]);
  assert.deepEqual(line(lines, 'attempt'), ['attempt   3 (1 interrupted)']);
});

test('one attempt that failed is shown while the run goes on, and not where it is the whole story', async (t) => {
  const retrying = { state: 'retrying', attempt: 1, attempts: [attempt(1)], endedAtMs: null } as const;
  assert.equal(section(await shown(t, retrying)).length, 2);
  const again = { state: 'running', attempt: 2, attempts: [attempt(1)], endedAtMs: null } as const;
  assert.deepEqual(section(await shown(t, again)).slice(1), [
    '  1. 2026-01-01T00:00:10.000Z 2.5 s failed timeout: too\\nlong',
    '  2. 2026-01-01T00:00:01.000Z running',
  ]);
  assert.ok(!(await shown(t, { ...again, attempt: 1, attempts: [] })).includes('attempts'));
  const over = await shown(t, { state: 'failed', attempts: [attempt(1)] });
  assert.ok(!over.includes('attempts'));
  assert.deepEqual(line(over, 'attempt'), ['attempt   1']);
});

test('each error stands with the attempt that it is of', async (t) => {
  const error = { code: 'command-failed', message: 'one\ntwo' } as const;
  const failed = { attempts: [attempt(1, { error })], error } as const;
  const again = { ...failed, state: 'running', attempt: 2, endedAtMs: null } as const;
  const lines = await shown(t, again);
  assert.deepEqual(line(lines, 'error'), [], 'the run has none yet');
  assert.match(section(lines)[1]!, /^ {2}1\. .* failed command-failed: one/);
  const over = await shown(t, {
    ...failed,
    state: 'failed',
    attempt: 2,
    error: { code: 'timeout', message: 'late' },
  });
  assert.deepEqual(line(over, 'error'), ['error     timeout: late']);
  assert.match(section(over)[2]!, /^ {2}2\. .* failed timeout: late$/);
  const { socketPath } = await controlRig(t, {
    runs: { 'show-live': () => runView('a@1', again), live: () => [runView('a@1', again)] },
    store: { 'audit-list': () => [], list: () => [] },
  });
  const cli = cliRig(socketPath);
  assert.match((await cli.run('runs')).out, /\tattempt 1: command-failed: one/);
  cli.isTTY = true;
  cli.env = { NO_COLOR: '1' };
  assert.match(
    (await cli.run('show', 'a@1')).out,
    /^ {2}1\. .* failed command-failed: one\n {4}two\n {2}2\. .* running$/m,
  );
});

test('attempts that are not kept any more are told', async (t) => {
  const many = await shown(t, {
    attempt: 31,
    attempts: Array.from({ length: 20 }, (_, i) => attempt(i + 11)),
  });
  assert.equal(section(many)[1], '  11 earlier ones are not kept');
  assert.match(section(many).at(-1)!, /^ {2}31\. .* success$/);
  const open = await shown(t, {
    state: 'ready',
    attempt: 3,
    endedAtMs: null,
    attempts: [attempt(2, { endedAtMs: null, error: null })],
  });
  assert.deepEqual(section(open).slice(1), [
    '  1 earlier one is not kept',
    '  2. 2026-01-01T00:00:20.000Z failed',
  ]);
});

test('an orphaned and an interrupted run say what that means and what to do; others need no note', async (t) => {
  const open = { endedAtMs: null, result: null };
  const [orphaned] = line(await shown(t, { ...open, state: 'orphaned' }), 'note');
  assert.match(orphaned!, /its task is not in the config: put it back and restart .*`colibri cancel RUN`$/);
  const [interrupted] = line(await shown(t, { ...open, state: 'interrupted' }), 'note');
  assert.match(
    interrupted!,
    /the thread or the daemon under it ended; on_interrupted of its task .*runs it again by itself$/,
  );
  assert.deepEqual(line(await shown(t, {}), 'note'), []);
});

test('who triggered, cancelled and replayed it', async (t) => {
  const by = { atMs: START, actor: 'alice (1000)', target: 'a@1', fields: { answer: 'accepted' } };
  const lines = await shown(t, {}, [
    { ...by, action: 'dead replay', actor: 'eve \u202e(1)' },
    { ...by, action: 'cancel' },
    { ...by, action: 'trigger' },
  ]);
  assert.deepEqual(lines.slice(-3), [
    'triggered 2026-01-01T00:00:00.000Z by alice (1000)',
    'cancelled 2026-01-01T00:00:00.000Z by alice (1000)',
    'replayed  2026-01-01T00:00:00.000Z by eve \\u202e(1)',
  ]);
});

test('a result that is forgotten is told from one of nothing', async (t) => {
  assert.deepEqual(line(await shown(t, { result: null }), 'result'), ['result    null']);
  const forgotten = await shown(t, { result: null, forgotten: true });
  assert.deepEqual(line(forgotten, 'result'), ['result    forgotten: it was kept as long as retention says']);
});
