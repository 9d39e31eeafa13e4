/** A daemon that has no descriptor left, as one whose modules leak them. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { DaemonProcess } from '../support/daemon-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const skip =
  spawnSync('prlimit', ['--version']).error !== undefined && 'expected prlimit (util-linux), found none';

test('without a free descriptor runs go on that need none, and afterwards all of them', {
  skip,
}, async (t) => {
  const daemon = await DaemonProcess.start(t, tempDir(t), {
    tasks: [
      { name: 'needs-none', kind: 'io', handler: 'noop', every: '1s' },
      { name: 'needs-some', handler: 'command', with: { argv: ['true'] }, every: '1s', max_retry: 0 },
    ],
  });
  const limit = (open: number) =>
    execFileSync('prlimit', ['--pid', String(daemon.child.pid), `--nofile=${open}:`]);
  const seen = (task: string, result: string) => {
    const from = daemon.lines.length;
    return daemon.line((line) => {
      return daemon.lines.indexOf(line) >= from && line.task === task && line.result === result;
    });
  };
  limit(5);
  // Memory is looked at, and beats are sent, between one second and the next.
  for (let second = 0; second < 3; second++) {
    await Promise.all([seen('needs-some', 'failed'), seen('needs-none', 'success')]);
  }
  limit(256);
  await seen('needs-some', 'success');
  assert.equal((await daemon.command('status')).code, 0);
  daemon.child.kill('SIGTERM');
  assert.equal(await daemon.exited, 0);
});
