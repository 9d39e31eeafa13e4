/** What a user's module can do to its thread: the owning run fails with a clear message, and the daemon goes on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { daemonInside, type Inside } from '../support/daemon-inside.ts';
import { MachineLag } from '../support/process-facts.ts';
import { StallMeter } from '../support/stalls.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';

const handlers = fileURLToPath(new URL('./handlers', import.meta.url));

function start(t: HasAfter, kind: 'cpu' | 'io', slots: number): Promise<Inside> {
  return daemonInside(t, {
    handlers: [join(handlers, '*.ts')],
    defaults: { max_retry: 0, timeout_seconds: 60 },
    shutdown: { grace_seconds: 2 },
    pools: { cpu: { threads: slots }, io: { slots } },
    tasks: [
      { name: 'mischief', kind, handler: 'mischief', overlap: 'allow' },
      { name: 'short', kind, handler: 'mischief', overlap: 'allow', timeout_seconds: 1 },
      { name: 'flaky', kind, handler: 'mischief', max_retry: 1, backoff: { base_seconds: 0.01 } },
    ],
  });
}

for (const kind of ['cpu', 'io'] as const) {
  describe(`a module of kind ${kind}`, () => {
    const slots = 2;
    const started = Promise.withResolvers<Inside>();
    const undo: (() => void | Promise<void>)[] = [];
    before(() =>
      start({ after: (step) => undo.push(step) }, kind, slots).then(started.resolve, started.reject),
    );
    after(async () => {
      for (const step of undo.reverse()) await step();
    });

    test('W6: what is thrown or cannot be kept fails the run with its reason', async () => {
      const { run } = await started.promise;
      const expected: Record<string, [string, RegExp]> = {
        throw: ['handler-failed', /thrown at once/],
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

    test('R9: promises that never settle, as many as there are slots, free every slot by their timeout', async () => {
      const { run, daemon } = await started.promise;
      const stuck = Array.from({ length: slots }, () => run('short', { how: 'never' }));
      for (const ended of await Promise.all(stuck)) assert.equal(ended.error?.code, 'timeout');
      const next = Array.from({ length: slots }, () => run('mischief', { how: 'nothing' }));
      for (const ended of await Promise.all(next)) assert.equal(ended.state, 'success');
      assert.ok(daemon.view().pools.every((pool) => pool.active === 0));
    });

    test('a run that fails first and then succeeds keeps both attempts', async () => {
      const { run } = await started.promise;
      const ended = await run('flaky', { how: 'flaky' });
      assert.equal(ended.state, 'success');
      assert.equal(ended.attempt, 2);
      assert.equal(ended.attempts[0]?.error?.message, 'the first time');
    });

    test('W2: an endless loop with a timeout of 1 s: slot and core are free within 2 s of its start', async (t) => {
      // Not one of the threads that are looked at.
      const stalls = await StallMeter.start(t);
      const threads: Worker[] = [];
      const onWorker = (thread: Worker) => threads.push(thread);
      process.on('worker', onWorker);
      t.after(() => process.off('worker', onWorker));
      const { run } = await start(t, kind, 1);
      await run('mischief', { how: 'nothing' });
      const coreFreeAtMs = Promise.race(threads.map((thread) => once(thread, 'exit').then(() => Date.now())));
      const lag = new MachineLag();
      const stalledMs = stalls.takenMs();
      const spins = run('short', { how: 'spin' });
      // Has to wait for the only slot.
      const next = await run('mischief', { how: 'nothing' });
      const spun = await spins;
      assert.equal(spun.error?.code, 'timeout');
      assert.equal(spun.state, 'failed');
      assert.equal(next.state, 'success');
      const figures = {
        outcome: spun.durationMs!,
        slot: next.startedAtMs! - spun.startedAtMs!,
        core: (await coreFreeAtMs) - spun.startedAtMs!,
      };
      const boundMs = 2000 + lag.takenMs() + stalls.takenMs() - stalledMs;
      const latestMs = Math.max(figures.outcome, figures.slot, figures.core);
      assert.ok(latestMs < boundMs, JSON.stringify({ ...figures, boundMs }));
      assert.ok(figures.outcome >= 1000 && figures.slot >= 1000, JSON.stringify(figures));
    });
  });
}

test('W1: a thread that exhausts its heap fails its run, and the daemon goes on', async (t) => {
  const { run, daemon } = await start(t, 'cpu', 1);
  const ended = await run('mischief', { how: 'heap' });
  assert.equal(ended.error?.code, 'worker-lost');
  assert.equal((await run('mischief', { how: 'nothing' })).state, 'success');
  assert.equal(daemon.view().pools.find((pool) => pool.name === 'cpu')!.threads, 1);
  assert.equal(daemon.view().threadRestarts.cpu, 1);
});

test('a module that cannot be imported fails its runs with file and cause, once', async (t) => {
  const dir = tempDir(t);
  cpSync(handlers, join(dir, 'handlers'), { recursive: true });
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
