/** The service thread is lost and comes again: what it held is named, and the daemon listens again. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { daemonInside } from '../support/daemon-inside.ts';
import { tempDir } from '../support/temp-dir.ts';

const LIMIT = { timeout: 30_000 };

/** The daemon has lost its service thread, and something stands where its socket was. */
async function loseService(t: TestContext, kind: 'memory' | 'sqlite') {
  const dir = tempDir(t);
  const workers: Worker[] = [];
  const onWorker = (worker: Worker): void => void workers.push(worker);
  process.on('worker', onWorker);
  t.after(() => void process.off('worker', onWorker));
  const inside = await daemonInside(
    t,
    {
      log: { level: 'warn', file: './colibri.log' },
      shutdown: { grace_seconds: 2 },
      store: { kind },
      tasks: [{ name: 'quick', kind: 'io', handler: 'noop', timeout_seconds: 1 }],
    },
    dir,
  );
  const socket = join(dir, 'state', 'control.sock');
  const service = workers.find((worker) => worker.threadName === 'service')!;
  service.once('exit', () => {
    rmSync(socket, { force: true });
    mkdirSync(socket);
  });
  void service.terminate();
  const messages = (): string[] =>
    readFileSync(join(dir, 'colibri.log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
  const said = (what: RegExp): boolean => messages().some((message) => what.test(message));
  await until(t, () => said(/could not listen again/));
  return { ...inside, socket, messages, said };
}

/** What another thread does to the file system is looked for. */
async function until(t: TestContext, holds: () => boolean): Promise<void> {
  while (!t.signal.aborted) {
    try {
      if (holds()) return;
    } catch {
      // Not there yet.
    }
    await passed(20);
  }
}

for (const kind of ['memory', 'sqlite'] as const) {
  test(
    `a lost service thread is named with what is lost; its listening is tried until it works: ${kind}`,
    LIMIT,
    async (t) => {
      const { run, socket, messages, said } = await loseService(t, kind);
      assert.ok(said(/thread started again/));
      const anew = messages().filter((message) => /store in memory began anew/.test(message));
      assert.equal(anew.length, kind === 'memory' ? 1 : 0);
      rmdirSync(socket);
      await until(t, () => statSync(socket).isSocket());
      assert.equal((await run('quick')).state, 'success');
    },
  );
}

test('a stop ends the trying', LIMIT, async (t) => {
  const { daemon } = await loseService(t, 'sqlite');
  await daemon.stop();
  assert.deepEqual(
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout'),
    [],
  );
});
