/** A daemon that is stopped for a while and goes on: what it says of it, and what becomes of its schedule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DaemonProcess } from '../support/daemon-process.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A timer that was to fire within a second is late by more than one. */
const STOPPED_MS = 3500;

test('stopped and continued: told with its size, the missed runs as one, and counted', async (t) => {
  const daemon = await DaemonProcess.start(t, tempDir(t), {
    tasks: [{ name: 'often', handler: 'noop', every: '1s' }],
  });
  const { host, port } = await daemon.line(({ msg }) => msg === 'metrics listening');
  await daemon.line(({ msg }) => msg === 'run succeeded');
  daemon.child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, STOPPED_MS));
  daemon.child.kill('SIGCONT');
  // A busy machine may have made it stand still before, for less.
  const isLong = (seconds: unknown) => Number(seconds) > STOPPED_MS / 1000 - 1.1;
  await daemon.line(({ msg, seconds }) => msg === 'the process stood still' && isLong(seconds));
  const { missed } = await daemon.line(({ msg }) => msg === 'occurrences missed');
  assert.ok(Number(missed) >= 1);
  assert.ok(
    !daemon.lines.some(({ msg }) => `${msg}`.startsWith('the wall clock')),
    'the clocks were not set',
  );
  const page = await (await fetch(`http://${host}:${port}/metrics`)).text();
  assert.match(page, /^colibri_clock_jumps_total\{kind="stall"\} [1-9]/m);
  assert.match(page, /^colibri_clock_jumps_total\{kind="backward"\} 0$/m);
  assert.match(page, /^colibri_occurrences_missed_total\{task="often"\} [1-9]/m);
});
