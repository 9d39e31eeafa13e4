/** The end of a process that a thread holds up, with a shell and without one. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { TAKE_STRIPPED } from '../support/program.ts';
import { tempDir } from '../support/temp-dir.ts';

const END = pathToFileURL(join(import.meta.dirname, '../../src/main/end-process.ts')).href;

test('a thread inside a native call holds up no end, also where there is no shell', (t) => {
  const pipe = join(tempDir(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Opening a pipe that nobody writes to does not return.
  const thread = `
    process.getBuiltinModule('node:worker_threads').parentPort.postMessage('now');
    process.getBuiltinModule('node:fs').openSync(${JSON.stringify(pipe)}, 'r');`;
  const end = (shell: string) => `
    import { Worker } from 'node:worker_threads';
    import { endProcessAtOnce } from ${JSON.stringify(END)};
    new Worker(${JSON.stringify(thread)}, { eval: true }).once('message', () => {
      setTimeout(() => endProcessAtOnce(3, ${JSON.stringify(shell)}), 50);
    });`;
  for (const [shell, code, signal] of [
    ['/bin/sh', 3, null],
    ['/nowhere/sh', null, 'SIGKILL'],
  ] as const) {
    const args = [...TAKE_STRIPPED, '--input-type=module', '-e', end(shell)];
    const ended = spawnSync(process.execPath, args, { timeout: 30_000, killSignal: 'SIGABRT' });
    assert.deepEqual([ended.status, ended.signal], [code, signal], shell);
  }
});
