/** What a user's module can do to its thread: the owning run fails with a clear message, and the daemon goes on. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { daemonInside, type Inside } from '../support/daemon-inside.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';

const handlers = fileURLToPath(new URL('./handlers', import.meta.url));

function start(t: HasAfter, kind: 'cpu' | 'io', more: Record<string, unknown> = {}): Promise<Inside> {
  return daemonInside(t, {
    handlers: [join(handlers, '*.ts')],
    defaults: { max_retry: 0, timeout_seconds: 10 },
    shutdown: { grace_seconds: 2 },
    pools: { cpu: { threads: 2 }, io: { slots: 4 } },
    tasks: [
      { name: 'mischief', kind, handler: 'mischief', overlap: 'allow' },
      { name: 'short', kind, handler: 'mischief', overlap: 'allow', timeout_seconds: 1 },
      { name: 'flaky', kind, handler: 'mischief', max_retry: 1, backoff: { base_seconds: 0.01 } },
    ],
    ...more,
  });
}

for (const kind of ['cpu', 'io'] as const) {
  describe(`a module of kind ${kind}`, () => {
    test('what is thrown or cannot be kept fails the run with its reason', async (t) => {
      const { run } = await start(t, kind);
      const expected: Record<string, [string, RegExp]> = {
        timer: ['handler-failed', /thrown in a timer/],
        undefined: ['handler-failed', /not an Error.*undefined/],
        string: ['handler-failed', /a bare string/],
        rejection: ['handler-failed', /rejected/],
        function: ['result-not-json', /function/],
        bigint: ['result-not-json', /BigInt/i],
        circle: ['result-not-json', /cycle/],
        exit: ['worker-lost', /exit/],
      };
      for (const [how, [code, message]] of Object.entries(expected)) {
        const ended = await run('mischief', { how });
        assert.equal(ended.state, 'failed', how);
        assert.equal(ended.error?.code, code, how);
        assert.match(ended.error?.message ?? '', message, how);
      }
      const fine = await run('mischief', { how: 'nothing' });
      assert.equal(fine.state, 'success');
      assert.equal(fine.result, JSON.stringify({ run: fine.run, attempt: 1 }));
    });

    test('an endless loop is ended by its timeout: slot and core are free within 2 s', async (t) => {
      const { run } = await start(t, kind);
      await run('mischief', { how: 'nothing' });
      const begun = performance.now();
      const ended = await run('short', { how: 'spin' });
      const took = performance.now() - begun;
      assert.equal(ended.error?.code, 'timeout');
      assert.ok(took < 3000, `${took} ms`);
      assert.equal((await run('mischief', { how: 'nothing' })).state, 'success');
    });

    test('promises that never settle, as many as there are slots, free every slot by their timeout', async (t) => {
      const { run, daemon } = await start(t, kind);
      const slots = kind === 'cpu' ? 2 : 4;
      const stuck = Array.from({ length: slots }, () => run('short', { how: 'never' }));
      for (const ended of await Promise.all(stuck)) assert.equal(ended.error?.code, 'timeout');
      assert.equal((await run('mischief', { how: 'nothing' })).state, 'success');
      assert.ok(daemon.view().pools.every((pool) => pool.active === 0));
    });

    test('a run that fails first and then succeeds keeps both attempts', async (t) => {
      const { run } = await start(t, kind);
      const ended = await run('flaky', { how: 'flaky' });
      assert.equal(ended.state, 'success');
      assert.equal(ended.attempt, 2);
      assert.equal(ended.attempts[0]?.error?.message, 'the first time');
    });
  });
}

test('a thread that exhausts its heap fails its run; its neighbours are not to blame and run again', async (t) => {
  const { run } = await start(t, 'cpu');
  const ended = await run('mischief', { how: 'heap' });
  assert.equal(ended.error?.code, 'worker-lost');
  assert.equal((await run('mischief', { how: 'nothing' })).state, 'success');
});

test('a module that cannot be imported fails its runs with file and cause, once', async (t) => {
  const dir = tempDir(t);
  cpSync(handlers, join(dir, 'handlers'), { recursive: true });
  const { writeFileSync } = await import('node:fs');
  writeFileSync(join(dir, 'handlers', 'torn.ts'), 'export default function torn( {');
  const { run } = await daemonInside(
    t,
    { handlers: ['./handlers/*.ts'], tasks: [{ name: 'torn', handler: 'torn' }] },
    dir,
  );
  const ended = await run('torn');
  assert.equal(ended.error?.code, 'handler-not-loaded');
  assert.equal(ended.attempt, 1);
});
