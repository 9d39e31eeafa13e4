/** A disk whose fsync takes half a second: everything durable waits for it, main for nothing. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DaemonProcess } from '../support/daemon-process.ts';
import { withoutTypes } from '../support/program.ts';
import { tempDir } from '../support/temp-dir.ts';

const COMMIT_MS = 500;
/** Beside other tests main may have to wait for a core; one that waits for the disk is as late as it in each round. */
const DELAY_BOUND_SECONDS = COMMIT_MS / 2 / 1000;

test('slow commits: main never waits, what is acknowledged is kept, runs begin when their beginning is', async (t) => {
  const preload = withoutTypes(join(import.meta.dirname, 'preload-slow-disk.cts'));
  const env = { NODE_OPTIONS: `--require ${preload}`, SLOW_COMMIT_MS: `${COMMIT_MS}` };
  const config = {
    store: { kind: 'sqlite', durability: 'power' },
    tasks: [
      { name: 'tick', handler: 'noop', every: '100ms', overlap: 'allow' },
      { name: 'asked', handler: 'noop', overlap: 'allow' },
    ],
  };
  const daemon = await DaemonProcess.start(t, tempDir(t), config, env);
  const listening = await daemon.line(({ msg }) => msg === 'metrics listening');
  const delays: number[] = [];
  const waits: number[] = [];
  for (let round = 0; round < 2 || (round < 12 && Math.min(...delays) >= DELAY_BOUND_SECONDS); round++) {
    const askedMono = performance.now();
    const answers = await Promise.all(Array.from({ length: 3 }, () => daemon.command('trigger', 'asked')));
    waits.push(performance.now() - askedMono);
    assert.deepEqual(
      answers.filter(({ code }) => code !== 0).map(({ stderr }) => stderr),
      [],
    );
    const page = await (await fetch(`http://127.0.0.1:${listening.port}/metrics`)).text();
    delays.push(
      Number(/colibri_event_loop_delay_seconds\{thread="main",quantile="0.99"\} (\S+)/.exec(page)?.[1]),
    );
  }
  assert.ok(Math.min(...waits) >= COMMIT_MS / 2, `answered after ${Math.min(...waits)} ms`);
  assert.ok(Math.min(...delays) < DELAY_BOUND_SECONDS, `p99 of main's delay: ${delays.join(', ')} s`);
});
