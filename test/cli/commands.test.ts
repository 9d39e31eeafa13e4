import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import { type ControlRig, controlRig, type FakeActor, runView } from '../control/fixtures.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';
import { runtimeView } from '../telemetry/fixtures.ts';
import { type CliRig, cliRig } from './fixtures.ts';

const taskView = {
  kind: 'cpu',
  handler: 'hash',
  group: null,
  schedule: null,
  window: null,
  nextAtMs: null,
  missed: 0,
  active: 0,
  queued: 0,
  lastState: null,
  lastEndedAtMs: null,
} as const;

async function setup(
  t: HasAfter,
  runs: FakeActor,
  store: FakeActor = {},
): Promise<{ cli: CliRig; daemon: ControlRig }> {
  const daemon = await controlRig(t, { runs, store });
  return { cli: cliRig(daemon.socketPath), daemon };
}

test('trigger prints the id; the payload comes from the line, a file or a pipe', async (t) => {
  const { cli, daemon } = await setup(t, { trigger: () => ({ run: 'hash@1', ended: null }) });
  const file = join(tempDir(t), 'in.json');
  writeFileSync(file, '[1]');
  cli.stdin = ' {"b":2}\n';
  assert.deepEqual(await cli.run('trigger', 'hash'), { code: 0, out: 'hash@1\n', err: '' });
  await cli.run('trigger', 'hash', '--payload', '{"a":1}', '--force');
  await cli.run('trigger', 'hash', `--payload=@${file}`);
  await cli.run('trigger', 'hash', '--payload', '-');
  assert.deepEqual(
    daemon.asked.map(({ body }) => body),
    [
      { task: 'hash', payload: null, wait: false, force: false, dueAtMs: null },
      { task: 'hash', payload: '{"a":1}', wait: false, force: true, dueAtMs: null },
      { task: 'hash', payload: '[1]', wait: false, force: false, dueAtMs: null },
      { task: 'hash', payload: '{"b":2}', wait: false, force: false, dueAtMs: null },
    ],
  );
  assert.deepEqual(JSON.parse((await cli.run('trigger', 'hash', '--json')).out), {
    run: 'hash@1',
    due_at: null,
    ended: null,
  });
});

test('trigger --in and --at: a run that begins later', async (t) => {
  const { cli, daemon } = await setup(t, { trigger: () => ({ run: 'hash@1', ended: null }) });
  const nowMs = Date.now();
  cli.nowMs = nowMs;
  const inAnHour = new Date(nowMs + 3_600_000).toISOString();
  assert.equal((await cli.run('trigger', 'hash', '--in', '1h')).out, 'hash@1\n');
  const { out } = await cli.run('trigger', 'hash', '--at', inAnHour, '--json');
  assert.deepEqual(JSON.parse(out), { run: 'hash@1', due_at: inAnHour, ended: null });
  const dues = daemon.asked.map(({ body }) => (body as { dueAtMs: number }).dueAtMs);
  assert.deepEqual(dues, [nowMs + 3_600_000, nowMs + 3_600_000]);
  for (const [flags, wanted] of [
    [['--in', 'soon'], /--in: expected a time such as 90s/],
    [['--in', '4000d'], /ten years/],
    [['--at', '2026-02-30T00:00:00Z'], /--at: expected/],
    [['--at', '2020-01-01T00:00:00Z'], /an instant to come/],
    [['--at', inAnHour, '--in', '1h'], /one of --in and --at/],
    [['--in', '1h', '--force'], /--force or a later time/],
  ] as const) {
    const { code, err } = await cli.run('trigger', 'hash', ...flags);
    assert.equal(code, 2);
    assert.match(err, wanted);
  }
  assert.equal(daemon.asked.length, 2);
});

test('trigger --wait tells how it ended: 0 for success, 1 for any other end', async (t) => {
  let ended = runView('hash@1');
  const { cli } = await setup(t, {
    trigger: () => ({ run: 'hash@1', ended: null }),
    wait: () => ({ run: 'hash@1', ended }),
  });
  assert.deepEqual(await cli.run('trigger', 'hash', '--wait'), {
    code: 0,
    out: 'hash@1 success in 13 ms\n{"digest":"00"}\n',
    err: '',
  });
  ended = runView('hash@1', {
    state: 'failed',
    attempt: 3,
    error: { code: 'timeout', message: 'too\nlong' },
  });
  assert.deepEqual(await cli.run('trigger', 'hash', '--wait'), {
    code: 1,
    out: 'hash@1 failed in 13 ms (attempt 3)\ntimeout: too\\nlong\n',
    err: '',
  });
  assert.equal((await cli.run('trigger', 'hash', '--wait', '--json')).code, 1);
});

test('Ctrl-C ends the waiting with 130 and cancels nothing', async (t) => {
  const asking = Promise.withResolvers<void>();
  const { cli, daemon } = await setup(t, {
    trigger: () => {
      asking.resolve();
      return new Promise(() => {});
    },
  });
  const running = cli.run('trigger', 'hash', '--wait');
  await asking.promise;
  await cli.interruptible;
  cli.interrupt();
  const { code, err } = await running;
  assert.equal(code, 130);
  assert.match(err, /the run goes on/);
  assert.deepEqual(
    daemon.asked.map(({ kind }) => kind),
    ['trigger'],
  );
});

test('Ctrl-C once the run is accepted names it', async (t) => {
  const asking = Promise.withResolvers<void>();
  const { cli } = await setup(t, {
    trigger: () => ({ run: 'hash@1', ended: null }),
    wait: () => {
      asking.resolve();
      return new Promise(() => {});
    },
  });
  const running = cli.run('trigger', 'hash', '--wait');
  await asking.promise;
  await cli.interruptible;
  cli.interrupt();
  assert.deepEqual(await running, {
    code: 130,
    out: '',
    err: 'stopped waiting; hash@1 goes on, `colibri show` shows it\n',
  });
});

test('a run that ended between the two questions is asked of the store', async (t) => {
  const { cli } = await setup(
    t,
    { trigger: () => ({ run: 'hash@1', ended: null }), wait: () => ({ run: 'hash@1', ended: null }) },
    { show: ({ run }: { run: string }) => runView(run) },
  );
  assert.match((await cli.run('trigger', 'hash', '--wait')).out, /^hash@1 success/);
});

test('a daemon that ends before the run that is waited for: 69, the run, and what becomes of it', async (t) => {
  const asked = async (kind: string, ...flags: string[]) => {
    const asking = Promise.withResolvers<void>();
    const { cli, daemon } = await setup(t, {
      trigger: () => ({ run: 'hash@1', ended: null }),
      wait: () => {
        asking.resolve();
        return new Promise(() => {});
      },
    });
    const stateDir = dirname(daemon.socketPath);
    cli.deps = { loadConfig: async () => ({ config: { stateDir, store: { kind } } as never, warnings: [] }) };
    const running = cli.run('trigger', 'hash', '--wait', ...flags);
    await asking.promise;
    await daemon.close();
    return await running;
  };
  const onDisk = await asked('sqlite');
  assert.equal(onDisk.code, 69);
  assert.match(
    onDisk.err,
    /^colibri: expected hash@1 to end, got the end of the daemon before: the run is kept.*`colibri show hash@1`/,
  );
  assert.match((await asked('memory')).err, /hash@1 .* in memory, so the run is lost .*trigger it again$/m);
  const { run, error } = JSON.parse((await asked('sqlite', '--json')).out);
  assert.deepEqual([run, error.code], ['hash@1', 'no-daemon']);
});

test('a daemon that ends before it has accepted the trigger: 69, and no run', async (t) => {
  const asking = Promise.withResolvers<void>();
  const { cli, daemon } = await setup(t, {
    trigger: () => {
      asking.resolve();
      return new Promise(() => {});
    },
  });
  const running = cli.run('trigger', 'hash', '--wait');
  await asking.promise;
  await daemon.close();
  const { code, err } = await running;
  assert.equal(code, 69);
  assert.match(err, /ended the connection/);
});

test('an error of the daemon is told as it is and ends with 1', async (t) => {
  const { cli } = await setup(t, {
    trigger: () => {
      throw new ColibriError('queue-full', 'expected room in the ready queue, got none');
    },
  });
  const plain = await cli.run('trigger', 'hsah');
  assert.deepEqual(plain, { code: 1, out: '', err: 'colibri: expected room in the ready queue, got none\n' });
  const json = await cli.run('trigger', 'hsah', '--json');
  assert.equal(json.code, 1);
  assert.deepEqual(JSON.parse(json.out), {
    error: { code: 'queue-full', message: 'expected room in the ready queue, got none' },
  });
});

test('lists in a pipe: a line each, tabs between, exact times, nothing for nothing', async (t) => {
  let live = [runView('a@1', { error: { code: 'timeout', message: 'x\ty' }, state: 'failed' })];
  const { cli, daemon } = await setup(t, { live: () => live, 'dead-list': () => [] }, { list: () => [] });
  const { out } = await cli.run('runs', '--task', 'hash', '--state', 'failed', '-n', '5');
  assert.equal(out, 'a@1\tfailed\t2026-01-01T00:00:00.000Z\t12.5\t1\ttimeout: x\\ty\thash\n');
  assert.deepEqual(daemon.asked[0]?.body, { task: 'hash', state: 'failed', limit: 5 });
  live = [];
  assert.deepEqual(await cli.run('runs'), { code: 0, out: '', err: '' });
  assert.deepEqual(await cli.run('dead', 'list'), { code: 0, out: '', err: '' });
  assert.deepEqual(JSON.parse((await cli.run('runs', '--json')).out), { runs: [] });
  cli.isTTY = true;
  assert.equal((await cli.run('runs')).out, 'No runs.\n');
});

test('show, cancel and the dead letters', async (t) => {
  const { cli, daemon } = await setup(
    t,
    {
      'show-live': () => null,
      cancel: () => ({ state: 'running' }),
      'dead-replay': ({ runs: [run] }: { runs: string[] }) =>
        run === 'r1' ? { runs: ['x'], refused: 0 } : { runs: [], refused: run === 'r2' ? 1 : 0 },
      'dead-purge': ({ runs }: { runs: string[] | null }) => ({
        purged: runs === null ? 3 : runs[0] === 'r1' ? 1 : 0,
      }),
    },
    { show: ({ run }: { run: string }) => (run === 'none' ? null : runView(run)) },
  );
  assert.match((await cli.run('show', 'a b/c')).out, /^run {7}a b\/c\ntask {6}hash\nstate {5}success\n/);
  assert.deepEqual(JSON.parse((await cli.run('show', 'x', '--json')).out).result, { digest: '00' });
  assert.equal((await cli.run('show', 'none')).code, 1);
  assert.deepEqual(await cli.run('cancel', 'x'), { code: 0, out: 'told to stop\n', err: '' });
  const replay = await cli.run('dead', 'replay', 'r1', 'r2');
  assert.deepEqual(
    [replay.code, replay.out],
    [1, '1 replayed, 1 refused: no room, they stay dead letters\n'],
  );
  assert.deepEqual(await cli.run('dead', 'purge', '--all'), { code: 0, out: '3 purged\n', err: '' });
  assert.deepEqual(
    daemon.asked.slice(-3).map(({ body }) => body),
    [
      { runs: ['r1'], task: null, sinceMs: null, untilMs: null },
      { runs: ['r2'], task: null, sinceMs: null, untilMs: null },
      { runs: null, task: null, sinceMs: null, untilMs: null },
    ],
  );
  const unknown = /^colibri: expected ids of dead letters, got "nope", which are none; `colibri dead list`/;
  const purged = await cli.run('dead', 'purge', 'r1', 'nope', 'r1');
  assert.deepEqual([purged.code, purged.out], [1, '1 purged\n']);
  assert.match(purged.err, unknown);
  const again = await cli.run('dead', 'replay', 'nope', 'r1');
  assert.deepEqual([again.code, again.out], [1, '1 replayed\n']);
  assert.match(again.err, unknown);
  const json = await cli.run('dead', 'purge', 'nope', '--json');
  assert.deepEqual([json.code, JSON.parse(json.out)], [1, { purged: 0, unknown: ['nope'] }]);
  for (const action of ['purge', 'replay']) {
    const { code, out, err } = await cli.run('dead', action, 'nope');
    assert.deepEqual([code, out], [1, ''], 'no number before an error that says all');
    assert.match(err, /got "nope", which are none/);
  }
});

test('status and tasks as JSON are the documents of the socket', async (t) => {
  const { cli } = await setup(t, { view: () => runtimeView() });
  const status = JSON.parse((await cli.run('status', '--json')).out);
  assert.equal(status.queues[0].name, 'ready');
  assert.equal(status.pools[0].busy_ratio, 0.5);
  assert.deepEqual(JSON.parse((await cli.run('tasks', '--json')).out), { tasks: [] });
  const { out } = await cli.run('status');
  assert.match(out, /^memory_rss_bytes\t30000000$/m);
  assert.match(out, /^store_kind\tsqlite\nstore_writable\tyes\nstore_reason\t-\nstore_unrecorded\t3$/m);
});

const noTask = {
  code: 1,
  out: '',
  err: 'colibri: expected the name of a task in the config, got "hsah"; did you mean "hash"?\n',
};

test('a task that is not in the config is told, with the nearest name, unless something of it is found', async (t) => {
  let live = [runView('a@1', { task: 'hsah' })];
  const view = () => runtimeView({ tasks: [{ ...taskView, name: 'hash' }] });
  const { cli } = await setup(
    t,
    {
      view,
      live: () => live,
      trigger: () => {
        throw new ColibriError('no-such-task', 'bare');
      },
      'dead-list': () => [],
      'dead-purge': () => ({ purged: 0 }),
      'dead-replay': () => ({ runs: [], refused: 0 }),
    },
    { list: () => [] },
  );
  assert.equal((await cli.run('runs', '--task', 'hsah')).code, 0);
  live = [];
  assert.deepEqual(await cli.run('runs', '--task', 'hsah'), noTask);
  assert.deepEqual(await cli.run('trigger', 'hsah'), noTask);
  for (const action of ['list', 'purge', 'replay']) {
    assert.deepEqual(await cli.run('dead', action, '--task', 'hsah'), noTask);
    assert.equal((await cli.run('dead', action, '--task', 'hash')).code, 0);
  }
  assert.equal((await cli.run('runs', '--task', 'hash')).code, 0);
});

test('cancel of a run that is over, or unknown, says so', async (t) => {
  const { cli } = await setup(
    t,
    {
      cancel: () => {
        throw new ColibriError('no-such-run', 'bare');
      },
      'show-live': () => null,
    },
    { show: ({ run }: { run: string }) => (run === 'none' ? null : runView(run)) },
  );
  const over = await cli.run('cancel', 'old');
  assert.deepEqual(
    [over.code, over.err],
    [1, 'colibri: expected a run that is not over, got "old", which is over (success)\n'],
  );
  const none = await cli.run('cancel', 'none');
  assert.deepEqual(none, await cli.run('show', 'none'));
  assert.match(none.err, /expected the id of a known run, got "none"; `colibri runs` lists/);
});

test('a cause is told where the message does not say it', async (t) => {
  const error = {
    code: 'handler-failed',
    message: 'fetch failed',
    cause: {
      code: 'handler-failed',
      message: 'connect ECONNREFUSED',
      cause: { code: 'internal', message: 'fetch' },
    },
  } as const;
  const failed = runView('a@1', { state: 'failed', error, result: null });
  const { cli } = await setup(
    t,
    {
      trigger: () => ({ run: 'a@1', ended: null }),
      wait: () => ({ run: 'a@1', ended: failed }),
      live: () => [failed],
    },
    { list: () => [] },
  );
  const text = 'handler-failed: fetch failed (cause: connect ECONNREFUSED)';
  assert.equal((await cli.run('trigger', 'hash', '--wait')).out, `a@1 failed in 13 ms\n${text}\n`);
  assert.match((await cli.run('runs')).out, /fetch failed \(cause: connect ECONNREFUSED\)\thash/);
});

test('what a command wrote stands line by line on a terminal, and in one line in a pipe', async (t) => {
  const result = JSON.stringify({ exit_code: 0, stdout: 'one\ntwo\x1b[31m\n', stderr: '', stdout_bytes: 8 });
  const ended = runView('a@1', { result });
  const { cli } = await setup(t, {
    trigger: () => ({ run: 'a@1', ended: null }),
    wait: () => ({ run: 'a@1', ended }),
    'show-live': () => ended,
  });
  cli.env = { NO_COLOR: '1' };
  assert.equal((await cli.run('trigger', 'a', '--wait')).out.split('\n').length, 3);
  cli.isTTY = true;
  const lines = '{"exit_code":0,"stdout_bytes":8}\n  stdout\n    one\n    two\\u001b[31m\n';
  assert.equal((await cli.run('trigger', 'a', '--wait')).out, `a@1 success in 13 ms\n${lines}`);
  assert.ok((await cli.run('show', 'a@1')).out.endsWith(`result    ${lines}`));
});
