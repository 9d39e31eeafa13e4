import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlRig } from '../control/fixtures.ts';
import { cliRig, NOW } from './fixtures.ts';

const HOUR = 3_600_000;

test('dead letters by time: spans are reckoned from the clock of the user, beside a task or alone', async (t) => {
  const { socketPath, asked } = await controlRig(t, {
    runs: {
      'dead-list': () => [
        { run: 'a@1', task: 'a', diedAtMs: NOW - HOUR, attempts: 3, input: '{}', error: null },
      ],
      'dead-replay': () => ({ runs: ['a@1~1'], refused: 0 }),
      'dead-purge': () => ({ purged: 4 }),
    },
  });
  const cli = cliRig(socketPath);
  const listed = await cli.run('dead', 'list', '--since', '1d12h', '--until', '2026-01-01T11:30:00Z');
  assert.deepEqual([listed.code, listed.out], [0, 'a@1\t2026-01-01T11:00:00.000Z\t3\t-\ta\n']);
  const replayed = await cli.run('dead', 'replay', '--task', 'a', '--since=2h');
  assert.deepEqual([replayed.code, replayed.out], [0, '1 replayed\n']);
  const purged = await cli.run('dead', 'purge', '--until', '30m');
  assert.deepEqual([purged.code, purged.out], [0, '4 purged\n']);
  assert.deepEqual(
    asked.map(({ kind, body }) => [kind, body]),
    [
      ['dead-list', { task: null, sinceMs: NOW - 36 * HOUR, untilMs: NOW - HOUR / 2, limit: 50 }],
      ['dead-replay', { runs: null, task: 'a', sinceMs: NOW - 2 * HOUR, untilMs: null }],
      ['dead-purge', { runs: null, task: null, sinceMs: null, untilMs: NOW - HOUR / 2 }],
    ],
  );
});
