import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReloadReply } from '../../src/actors/protocol.ts';
import { controlRig, http } from './fixtures.ts';

test('GET /size is the ledger of main, keys in snake case', async (t) => {
  const rows = [{ name: 'main heap', within: null, boundBytes: null, measuredBytes: 7, how: 'so' }];
  const { socketPath, asked } = await controlRig(t, {
    runs: {
      size: () => ({
        budgetBytes: 100,
        rssBytes: 50,
        rows,
        boundsBytes: 120,
        unbounded: ['main heap'],
        steps: null,
        ready: { capacity: 3, rates: null, runBytes: 2, maxBytes: 9 },
        io: { sizing: 'fixed', slots: 1, cores: 2, waitMs: 3, computeMs: 4 },
        flow: { windowMs: 0, arrivals: 0, meanDepth: 0, ended: 0, durationMs: 0 },
      }),
    },
  });
  const { status, document } = await http(socketPath, 'GET', '/size');
  assert.equal(status, 200);
  assert.deepEqual(document, {
    measured: true,
    budget_bytes: 100,
    rss_bytes: 50,
    rows: [{ name: 'main heap', within: null, bound_bytes: null, measured_bytes: 7, how: 'so' }],
    sum: { bound_bytes: 120, measured_bytes: 50, within_budget: false, unbounded: ['main heap'] },
    governor: null,
    ready: { capacity: 3, backlog_per_second: null, tolerate_seconds: null, run_bytes: 2, max_bytes: 9 },
    io: { sizing: 'fixed', slots: 1, cores: 2, wait_ms: 3, compute_ms: 4 },
    flow: {
      window_seconds: 0.001,
      runs_per_second: 0,
      mean_depth: 0,
      mean_wait_seconds: null,
      ended_per_second: 0,
      mean_duration_ms: null,
      mean_active: 0,
    },
  });
  assert.deepEqual(
    asked.map(({ kind }) => kind),
    ['size'],
  );
  assert.equal((await http(socketPath, 'POST', '/size')).status, 405);
});

test('POST /reload: 200 where nothing changed, 422 with every problem, 409 where a restart is needed', async (t) => {
  let reply: ReloadReply = { outcome: 'unchanged', version: null, tasks: 3 };
  const { socketPath, logged, trail } = await controlRig(t, { runs: { reload: () => reply } });
  assert.deepEqual((await http(socketPath, 'POST', '/reload')).document, {
    changed: false,
    config_version: null,
    tasks: 3,
  });
  const problem = { file: 'c.yaml', line: 1, column: 2, message: 'no' };
  reply = { outcome: 'invalid', problems: [problem, problem] };
  const wrong = await http(socketPath, 'POST', '/reload');
  assert.equal(wrong.status, 422);
  assert.deepEqual(wrong.document, {
    problems: [problem, problem],
    error: {
      code: 'config-invalid',
      message: 'expected a config without problems, got 2; nothing has changed',
    },
  });
  reply = { outcome: 'differs', changes: ['task a added', 'task b removed'], more: 0 };
  const differs = await http(socketPath, 'POST', '/reload');
  assert.equal(differs.status, 409);
  assert.match(JSON.stringify(differs.document), /restart-needed.*task a added, task b removed; nothing/);
  assert.equal((await http(socketPath, 'GET', '/reload')).status, 405);
  assert.deepEqual(logged, [], 'main writes the line about it');
  assert.deepEqual(
    trail.map(({ action, target, fields }) => [action, target, fields]),
    [
      ['reload', null, { answer: 'accepted' }],
      ['reload', null, { answer: 'refused', code: 'config-invalid' }],
      ['reload', null, { answer: 'refused', code: 'restart-needed' }],
    ],
  );
});
