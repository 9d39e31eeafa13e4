/** How a daemon ends: in the middle of its start, with much to say, with little grace. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, openSync, readFileSync, watch } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import { daemonInside } from '../support/daemon-inside.ts';
import { colibri, DaemonProcess, writeConfig } from '../support/daemon-process.ts';
import { RUN, withoutTypes } from '../support/program.ts';
import { unlessStalled } from '../support/stalls.ts';
import { tempDir } from '../support/temp-dir.ts';

const tasks = [{ name: 'quick', kind: 'io', handler: 'noop' }];

function start(dir: string, stdout: number | 'pipe' = 'pipe') {
  const [file, ...args] = RUN;
  const child = spawn(file, args, { cwd: dir, stdio: ['ignore', stdout, 'pipe'] });
  let stderr = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout?.resume();
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }));
  return { child, ended };
}

test('SIGTERM as soon as the state directory is taken: exit 0 without a word', async (t) => {
  const dir = tempDir(t);
  writeConfig(dir, { tasks });
  const state = join(dir, 'state');
  mkdirSync(state);
  const watcher = watch(state);
  t.after(() => watcher.close());
  const { child, ended } = start(dir);
  await once(watcher, 'change');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, { code: 0, signal: null, stderr: '' });
});

test('SIGTERM at any moment of the start: exit 0 without a word', async (t) => {
  const dir = tempDir(t);
  writeConfig(dir, { tasks });
  for (const delayMs of [0, 60, 120, 180, 240, 300, 400, 600]) {
    const { child, ended } = start(dir);
    await once(child, 'spawn');
    await passed(delayMs);
    child.kill('SIGTERM');
    const { code, signal, stderr } = await ended;
    // Before the program has begun nothing can answer for it.
    assert.ok(code === 0 || signal === 'SIGTERM', `${code} after ${delayMs} ms`);
    assert.equal(stderr, '', `after ${delayMs} ms`);
  }
});

test('a small grace leaves running work half of it', async (t) => {
  await unlessStalled(t, async () => {
    const { daemon, run, live } = await daemonInside(t, {
      shutdown: { grace_seconds: 2 },
      tasks: [{ name: 'nap', handler: 'sleep', with: { ms: 300 }, timeout_seconds: 60 }],
    });
    const ended = run('nap');
    while ((await live('nap'))[0]?.state !== 'running') await new Promise(setImmediate);
    const stopped = daemon.stop();
    assert.equal((await ended).state, 'success');
    await stopped;
  });
});

for (const kind of ['pipe', 'file'] as const) {
  test(`1 MB of log lines, then SIGTERM: the last line is in the ${kind}`, { timeout: 60_000 }, async (t) => {
    // What does not go out within a limit is lost.
    await unlessStalled(t, async () => {
      const dir = tempDir(t);
      const names = Array.from({ length: 10 }, (_, index) => `chatty-${index}`);
      writeConfig(dir, {
        shutdown: { grace_seconds: 20 },
        handlers: [withoutTypes(join(import.meta.dirname, 'handlers', '*.ts'))],
        log: kind === 'file' ? { file: './colibri.log' } : {},
        tasks: names.map((name) => ({ name, kind: 'io', handler: 'chatty', timeout_seconds: 20 })),
      });
      const fifo = join(dir, 'fifo');
      execFileSync('mkfifo', [fifo]);
      const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
      const writer = openSync(fifo, constants.O_WRONLY);
      const { child, ended } = start(dir, writer);
      t.after(() => child.kill('SIGKILL'));
      closeSync(writer);
      while ((await colibri(['status'], dir)).code !== 0) {
        assert.equal(child.exitCode, null, 'it lives until it is asked to stop');
        await passed(20);
      }
      const payload = JSON.stringify({ lines: 11, length: 7500 });
      for (const name of names) {
        assert.equal((await colibri(['trigger', name, '--wait', '--payload', payload], dir)).code, 0);
      }
      child.kill('SIGTERM');
      // Nothing has read the pipe until now: all but its 64 KiB stands in the daemon.
      const pipe = new Socket({ fd: reader, readable: true });
      let text = '';
      pipe.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      const closed = once(pipe, 'close');
      assert.deepEqual(await ended, { code: 0, signal: null, stderr: '' });
      await closed;
      if (kind === 'file') text = readFileSync(join(dir, 'colibri.log'), 'utf8');
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { msg: string });
      assert.equal(lines.at(-1)?.msg, 'stopped');
      assert.equal(lines.filter(({ msg }) => msg.startsWith('xxx')).length, 110);
    });
  });
}

for (const [kind, said] of [
  ['memory', 'runs lost'],
  ['sqlite', 'runs kept for the next start'],
] as const) {
  test(`runs that had not ended at a stop are told, with their number: ${kind}`, async (t) => {
    await unlessStalled(t, async () => {
      const daemon = await DaemonProcess.start(t, tempDir(t), {
        store: { kind },
        shutdown: { grace_seconds: 2 },
        tasks: [
          { name: 'waits', handler: 'command', with: { argv: ['false'] }, backoff: { base_seconds: 60 } },
        ],
      });
      await daemon.command('trigger', 'waits');
      await daemon.line((line) => line.result === 'retrying');
      await daemon.command('trigger', 'waits', '--in', '1h');
      daemon.child.kill('SIGTERM');
      assert.equal(await daemon.exited, 0);
      const { count, delayed } = await daemon.line((line) => line.msg === said);
      assert.deepEqual([count, delayed], [2, 1]);
    });
  });
}
