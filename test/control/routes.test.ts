import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { MAX_BODY_BYTES } from '../../src/actors/control/index.ts';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { runtimeView } from '../telemetry/fixtures.ts';
import { controlRig, http, runView } from './fixtures.ts';

const task = {
  name: 'hash',
  kind: 'cpu',
  handler: 'hash',
  group: null,
  schedule: 'every 5s',
  window: null,
  nextAtMs: Date.UTC(2026, 0, 1, 0, 0, 5),
  missed: 0,
  active: 1,
  queued: 2,
  lastState: 'success',
  lastEndedAtMs: null,
} as const;

const EVER = { sinceMs: null, untilMs: null };

test('status, version and tasks are made of the view of main', async (t) => {
  const { socketPath, clock } = await controlRig(t, { runs: { view: () => runtimeView({ tasks: [task] }) } });
  await clock.advance(61_000);
  const status = (await http(socketPath, 'GET', '/status')).document as Record<string, unknown>;
  assert.equal(status.uptime_seconds, 61);
  assert.equal(status.started_at, '2026-01-01T00:00:00.000Z');
  assert.equal(status.dead_letters, 2);
  assert.equal(status.tasks, 1);
  assert.deepEqual(status.thread_restarts, { cpu: 1 });
  assert.deepEqual(status.store, { kind: 'sqlite', writable: true, unrecorded: 3, reason: null });
  for (const key of Object.keys(status)) assert.match(key, /^[a-z]+(_[a-z0-9]+)*$/);
  assert.deepEqual((await http(socketPath, 'GET', '/version')).document, {
    version: '0.1.0',
    pid: 42,
    config_version: '2026-11-01',
  });
  assert.deepEqual((await http(socketPath, 'GET', '/tasks')).document, {
    tasks: [
      {
        name: 'hash',
        kind: 'cpu',
        handler: 'hash',
        group: null,
        schedule: 'every 5s',
        window: null,
        next_at: '2026-01-01T00:00:05.000Z',
        active: 1,
        queued: 2,
        last_state: 'success',
        last_ended_at: null,
      },
    ],
  });
});

test('runs: live and ended ones merged, the live one wins, newest first, cut to the limit', async (t) => {
  const at = (second: number) => ({ createdAtMs: Date.UTC(2026, 0, 1, 0, 0, second) });
  const { socketPath, asked } = await controlRig(t, {
    runs: { live: () => [runView('b', { ...at(2), state: 'running', result: null }), runView('d', at(4))] },
    store: { list: () => [runView('c', at(3)), runView('b', at(2)), runView('a', at(1))] },
  });
  const { document } = await http(socketPath, 'GET', '/runs?task=hash&state=running&limit=3');
  const { runs } = document as { runs: { run: string; state: string; input: unknown }[] };
  assert.deepEqual(
    runs.map(({ run, state }) => [run, state]),
    [
      ['d', 'success'],
      ['c', 'success'],
      ['b', 'running'],
    ],
  );
  assert.deepEqual(runs[0]?.input, { path: 'a' });
  assert.deepEqual(asked[0]?.body, { task: 'hash', state: 'running', limit: 3 });
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'state=nope', 'tsak=hash']) {
    assert.equal((await http(socketPath, 'GET', `/runs?${query}`)).status, 400, query);
  }
});

test('show: the live run, else the stored one, else 404', async (t) => {
  const { socketPath } = await controlRig(t, {
    runs: { 'show-live': ({ run }: { run: string }) => (run === 'live/1 ü' ? runView(run) : null) },
    store: { show: ({ run }: { run: string }) => (run === 'old' ? runView(run, { input: 'cut {' }) : null) },
  });
  const live = await http(socketPath, 'GET', `/runs/${encodeURIComponent('live/1 ü')}`);
  assert.equal((live.document as { run: string }).run, 'live/1 ü');
  const old = await http(socketPath, 'GET', '/runs/old');
  assert.equal((old.document as { input: string }).input, 'cut {');
  const none = await http(socketPath, 'GET', '/runs/none');
  assert.equal(none.status, 404);
  assert.equal((none.document as { error: { code: string } }).error.code, 'no-such-run');
  assert.equal((await http(socketPath, 'GET', '/runs/%E0%A4%A')).status, 400);
});

test('show with wait: answered when the run is over, without a deadline; of one that is over already, by the store', async (t) => {
  const over = Promise.withResolvers<RunView>();
  const deadlines: unknown[] = [];
  const { socketPath, asked } = await controlRig(t, {
    runs: {
      wait: async ({ run }: { run: string }, timeoutMs) => {
        deadlines.push(timeoutMs);
        return { run, ended: run === 'live' ? await over.promise : null };
      },
    },
    store: { show: ({ run }: { run: string }) => (run === 'old' ? runView(run) : null) },
  });
  const waiting = http(socketPath, 'GET', '/runs/live?wait=true');
  assert.equal(
    ((await http(socketPath, 'GET', '/runs/old?wait=true')).document as { run: string }).run,
    'old',
  );
  assert.equal((await http(socketPath, 'GET', '/runs/none?wait=true')).status, 404);
  over.resolve(runView('live', { state: 'failed' }));
  assert.equal(((await waiting).document as { state: string }).state, 'failed');
  assert.deepEqual(deadlines, [null, null, null]);
  assert.ok(!asked.some(({ kind }) => kind === 'show-live'));
});

test('trigger passes payload, force and wait on; none has a deadline, for a full queue may hold either back', async (t) => {
  const deadlines: unknown[] = [];
  const { socketPath, asked, logged } = await controlRig(t, {
    runs: {
      trigger: ({ wait }: { wait: boolean }, timeoutMs) => {
        deadlines.push(timeoutMs);
        return { run: 'hash@1', ended: wait ? runView('hash@1') : null };
      },
    },
  });
  const plain = await http(socketPath, 'POST', '/trigger', '{"task":"hash"}');
  assert.deepEqual(plain.document, { run: 'hash@1', due_at: null, ended: null });
  const waited = await http(
    socketPath,
    'POST',
    '/trigger',
    '{"task":"hash","payload":null,"wait":true,"force":true}',
  );
  assert.deepEqual((waited.document as { ended: { result: unknown } }).ended.result, { digest: '00' });
  assert.deepEqual(
    asked.map(({ body }) => body),
    [
      { task: 'hash', payload: null, wait: false, force: false, dueAtMs: null },
      { task: 'hash', payload: 'null', wait: true, force: true, dueAtMs: null },
    ],
  );
  assert.deepEqual(deadlines, [null, null]);
  assert.deepEqual(logged[1], {
    msg: 'command',
    command: 'trigger',
    user: 'unknown',
    task: 'hash',
    force: true,
    answer: 'accepted',
    run: 'hash@1',
  });
  for (const body of ['{}', '[]', '', '{"task":1}', '{"task":"a","wait":1}', '{"task":"a","tsak":1}', '{']) {
    assert.equal((await http(socketPath, 'POST', '/trigger', body)).status, 400, body);
  }
});

test('cancel, dead letters and stop', async (t) => {
  const rig = await controlRig(t, {
    runs: {
      cancel: () => ({ state: 'cancelled' }),
      'dead-list': () => [{ run: 'r', task: 'hash', diedAtMs: 0, attempts: 3, input: '1', error: null }],
      'dead-replay': () => ({ runs: ['r2'], refused: 0 }),
      'dead-purge': () => ({ purged: 4 }),
    },
  });
  const { socketPath, asked, logged } = rig;
  assert.deepEqual((await http(socketPath, 'POST', '/runs/r/cancel')).document, {
    run: 'r',
    state: 'cancelled',
  });
  assert.deepEqual((await http(socketPath, 'GET', '/dead?task=hash')).document, {
    dead_letters: [
      { run: 'r', task: 'hash', died_at: '1970-01-01T00:00:00.000Z', attempts: 3, input: 1, error: null },
    ],
  });
  assert.deepEqual((await http(socketPath, 'POST', '/dead/replay', '{"runs":["r"]}')).document, {
    runs: ['r2'],
    refused: 0,
    unknown: [],
  });
  assert.deepEqual((await http(socketPath, 'POST', '/dead/purge', '{"all":true}')).document, {
    purged: 4,
    unknown: [],
  });
  assert.deepEqual(logged.at(-1), {
    msg: 'command',
    command: 'dead purge',
    user: 'unknown',
    answer: 'accepted',
    purged: 4,
    unknown: [],
  });
  await http(socketPath, 'POST', '/dead/purge', '{"task":"hash"}');
  assert.deepEqual(
    asked.slice(2).map(({ body }) => body),
    [
      { runs: ['r'], task: null, ...EVER },
      { runs: null, task: null, ...EVER },
      { runs: null, task: 'hash', ...EVER },
    ],
  );
  for (const body of ['{}', '{"all":false}', '{"runs":[]}', '{"runs":[1]}', '{"task":"a","all":true}', '']) {
    assert.equal((await http(socketPath, 'POST', '/dead/purge', body)).status, 400, body);
  }
  assert.equal(asked.length, 5);
  assert.deepEqual((await http(socketPath, 'POST', '/stop')).document, { stopping: true });
  assert.equal(rig.stops, 1);
});

test('a command that was refused is written down as refused, with its code', async (t) => {
  const { socketPath, logged } = await controlRig(t, {
    runs: {
      trigger: () => {
        throw new ColibriError('shutting-down', 'expected a daemon that takes work, got one that stops');
      },
    },
  });
  assert.equal((await http(socketPath, 'POST', '/trigger', '{"task":"hash"}')).status, 503);
  const line = { msg: 'command', command: 'trigger', user: 'unknown', task: 'hash', force: false };
  assert.deepEqual(logged, [{ ...line, answer: 'refused', code: 'shutting-down' }]);
});

test('errors of actors keep their code and get a fitting status', async (t) => {
  let code: ConstructorParameters<typeof ColibriError>[0] = 'internal';
  const { socketPath } = await controlRig(t, {
    runs: {
      view: () => {
        throw new ColibriError(code, 'why', { cause: new ColibriError('timeout', 'below') });
      },
    },
  });
  const expected = {
    'no-such-task': 404,
    'overlap-refused': 409,
    'rerun-refused': 409,
    'queue-full': 429,
    'file-failed': 409,
    'store-failed': 409,
    'shutting-down': 503,
    'store-unavailable': 503,
    'ask-timeout': 504,
    internal: 500,
  };
  for (const [name, status] of Object.entries(expected)) {
    code = name as typeof code;
    const answer = await http(socketPath, 'GET', '/status');
    assert.equal(answer.status, status);
    assert.deepEqual(answer.document, {
      error: { code, message: 'why', cause: { code: 'timeout', message: 'below' } },
    });
  }
});

test('status counts flows apart from tasks, as check does', async (t) => {
  const flow = { ...task, name: 'nightly', kind: 'flow', handler: '' } as const;
  const tasks = [task, flow, { ...task, name: 'mail' }];
  const { socketPath } = await controlRig(t, { runs: { view: () => runtimeView({ tasks }) } });
  const status = (await http(socketPath, 'GET', '/status')).document as Record<string, unknown>;
  assert.deepEqual([status.tasks, status.flows], [2, 1]);
});

test('unknown path 404, wrong method 405 with what is allowed', async (t) => {
  const { socketPath } = await controlRig(t, {});
  assert.equal((await http(socketPath, 'GET', '/')).status, 404);
  assert.equal((await http(socketPath, 'GET', '/runs/a/b')).status, 404);
  const wrong = await http(socketPath, 'DELETE', '/runs/a');
  assert.deepEqual([wrong.status, wrong.allow], [405, 'GET']);
  const post = await http(socketPath, 'GET', '/trigger');
  assert.deepEqual([post.status, post.allow], [405, 'POST']);
});

test('a body past the bound is refused, announced or not', async (t) => {
  const { socketPath, asked } = await controlRig(t, { runs: { trigger: () => ({ run: 'r', ended: null }) } });
  const exact = `{"task":"a","payload":"${'x'.repeat(MAX_BODY_BYTES - 25)}"}`;
  assert.equal(exact.length, MAX_BODY_BYTES);
  assert.equal((await http(socketPath, 'POST', '/trigger', exact)).status, 200);
  assert.equal(asked.length, 1);
  const announced = await raw(
    socketPath,
    `POST /trigger HTTP/1.1\r\nHost: x\r\nContent-Length: ${MAX_BODY_BYTES + 1}\r\n\r\n`,
  );
  assert.match(announced, /^HTTP\/1\.1 413 /);
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(17);
  const streamed = await raw(
    socketPath,
    `POST /trigger HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
  );
  assert.match(streamed, /^HTTP\/1\.1 413 /);
  assert.equal(asked.length, 1);
});

test('a connection is kept for the next request, after an error too, and let go when the client says so', async (t) => {
  const { socketPath } = await controlRig(t, { runs: { view: () => runtimeView({ tasks: [task] }) } });
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const refused = 'POST /trigger HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n[]';
  const got = await raw(
    socketPath,
    get('/version') + get('/nowhere') + refused + get('/version', 'Connection: close\r\n'),
  );
  const statuses = [...got.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
  assert.deepEqual(statuses, [200, 404, 400, 200]);
});

test('with more than 48 connections each is closed after its answer, so that there is a place for the next', async (t) => {
  const { socketPath } = await controlRig(t, { runs: { view: () => runtimeView({ tasks: [task] }) } });
  const text = 'GET /version HTTP/1.1\r\nHost: x\r\n\r\n';
  const kept = await Promise.all(Array.from({ length: 48 }, () => keeping(t, socketPath, text)));
  assert.ok(kept.every((answer) => /Connection: keep-alive/i.test(answer)));
  assert.match(await raw(socketPath, text), /^HTTP\/1\.1 200 [\s\S]*Connection: close/i);
});

test('closing ends the wait of whoever waits for a run', async (t) => {
  const asking = Promise.withResolvers<void>();
  const rig = await controlRig(t, {
    runs: {
      trigger: () => {
        asking.resolve();
        return new Promise(() => {});
      },
    },
  });
  const waiting = http(rig.socketPath, 'POST', '/trigger', '{"task":"a","wait":true}');
  const rejected = assert.rejects(waiting, { code: 'ECONNRESET' });
  await asking.promise;
  await rig.close();
  await rejected;
  await rig.close();
});

/** Sends bytes and resolves with the first that come back; the connection stays for the length of the test. */
async function keeping(t: HasAfter, socketPath: string, text: string): Promise<string> {
  const socket = connect(socketPath);
  t.after(() => void socket.destroy());
  socket.write(text);
  const [answer] = await once(socket, 'data');
  return String(answer);
}

/** Sends bytes and resolves with all that comes back until the other side ends. */
function raw(socketPath: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let got = '';
    socket.on('data', (piece) => {
      got += piece;
    });
    // The other side may close while this one still sends.
    socket.on('error', () => {});
    socket.on('close', () => resolve(got));
    socket.write(text);
  });
}
