/** A run that is to begin later, over the end of its daemon. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DaemonProcess } from '../support/daemon-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const WAIT_MS = 2000;

test('trigger --in: kept over kill -9, shown and cancelled by any daemon, begun when its time has come', async (t) => {
  const dir = tempDir(t);
  const config = { tasks: [{ name: 'a', kind: 'io', handler: 'noop' }] };
  const first = await DaemonProcess.start(t, dir, config);
  const trigger = async (...when: string[]) =>
    (await first.json('trigger', 'a', ...when)).value as { run: string; due_at: string };
  const never = await trigger('--in', '1d');
  // Last, so that nothing but the kill comes between it and its time.
  const soon = await trigger('--in', `${WAIT_MS}ms`);
  first.child.kill('SIGKILL');
  await first.exited;

  const second = await DaemonProcess.start(t, dir, config);
  const { value } = await second.json('runs', '--state', 'pending');
  const pending = (value as { runs: { run: string; due_at: string }[] }).runs;
  // On a slow machine the other one may have begun.
  assert.equal(pending.find(({ run }) => run === never.run)?.due_at, never.due_at);
  assert.equal((await second.command('cancel', never.run)).code, 0);
  // … and ended, by the daemon before: of that, this one has no line.
  if (pending.some(({ run }) => run === soon.run)) {
    await second.line(({ msg, run }) => msg === 'run succeeded' && run === soon.run);
  }
  const shown = (await second.json('show', soon.run)).value as { started_at: string };
  assert.ok(shown.started_at >= soon.due_at, `${shown.started_at} ≥ ${soon.due_at}`);
});
